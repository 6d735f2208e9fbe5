"""Search for the cheapest design that keeps all wants. Each failed design suggests the next ones."""

from __future__ import annotations

import heapq
import textwrap
from collections.abc import Callable, Hashable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.promises import Want
from topospread.api.spread import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, TopologySpreadConstraint
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.api.yaml_text import yaml_text
from topospread.controllers.scale import the_workload
from topospread.drill.placed_pods import without_pods_of
from topospread.errors import UsageError
from topospread.simulation.options import PLAIN, SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.simulation.unscored import unscored
from topospread.text import one_line

from .amendments import amendments
from .asking import Asking
from .design_checks import DesignChecks, DesignFailure, FailedCheck
from .design_rules import DesignRules, SpreadRule, manifest_data, present, with_rules
from .fresh import LISTS, Designed, simulated_replicas, workload_of
from .kept import likeness_of
from .wants import Intent, beyond_counting, read_intent
from .workload_drills import Trials, WorkloadDrills

Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ReasonedLine:
    """A part of the design, with the reason why it is necessary.

    Attributes:
        line: ``topologySpreadConstraints: topology.kubernetes.io/zone, maxSkew 2``.
        reason: the failure that a check finds without it.
        is_wanted: whether this failure breaks a wanted promise; otherwise it is a side effect.
    """

    line: str
    reason: str
    is_wanted: bool = True


@dataclass(frozen=True)
class Design:
    """The result of a search for a design.

    Attributes:
        asked: the wants, each as a phrase.
        promises: whether the design keeps every want.
        lines: the added lines, each with the failure that it prevents.
        objects: the lines as objects for ``kubectl apply --server-side``.
        checked: the checks that the design passed, each as a phrase.
        unmet: wants that fail if ``promises`` is false; otherwise side effects that could not be avoided.
        tried: number of designs that were checked.
        is_impossible: whether it is proved that no placement can keep the wants.
        is_open: whether the search of orders ended early, so that the design is not proved.
        conflict: the smallest set of wants that no tried design keeps together, if all designs were tried.
        inventory: the input with the design.
        wants: the wants as declared promises, except those on other topology keys.
        rules: the design.
        extras: the checks of the unavoidable side effects.
    """

    kind: str
    namespace: str
    name: str
    replicas: int
    asked: tuple[str, ...]
    promises: bool
    lines: tuple[ReasonedLine, ...]
    objects: tuple[Mapping[str, Any], ...]
    checked: tuple[str, ...]
    unmet: tuple[str, ...]
    tried: int
    inventory: Inventory
    is_impossible: bool = False
    is_open: bool = False
    conflict: tuple[str, ...] = ()
    wants: tuple[Want, ...] = ()
    rules: DesignRules = field(default_factory=DesignRules)
    extras: tuple[FailedCheck, ...] = ()

    @property
    def manifest(self) -> str:
        """The objects as YAML for ``kubectl apply --server-side``, with comments; "" if nothing changes."""
        comments = [f"{comment}\n" for each in self.lines for comment in _comment(each)]
        return "".join(comments) + "---\n".join(map(yaml_text, self.objects)) if self.objects else ""


def design(  # noqa: PLR0913 - keyword arguments
    inventory: Inventory,
    of: str,
    options: SimulationOptions = PLAIN,
    *,
    survive: Sequence[str] = (),
    left: Sequence[int] = (),
    others: Sequence[Want] = (),
    replicas: int | None = None,
    unnoticed: bool = False,
    namespace: str | None = None,
    tries: int = 60,
    states: int = 5_000,
    progress: Progress | None = None,
    known: MutableMapping[Hashable, Design] | None = None,
) -> Design:
    """Search for the fewest constraints that keep the wants on a cluster. Drills check every design.

    Args:
        inventory: the input, which is not changed.
        of: a Deployment or a StatefulSet, ``[NAMESPACE/]KIND/NAME``.
        options: the control plane, and how pods are placed.
        survive: topology keys, or ``zone`` or ``node``: any one domain of each key may fail.
        left: pods that must be left after the failure, one number for each key.
        others: promises on drains, rollouts, skew and pending pods.
        replicas: number of replicas; by default the workload's own.
        unnoticed: whether a node's loss may take one pod at most, which becomes ready elsewhere, and every node can be
            drained.
        namespace: namespace of a workload that names none.
        tries: maximum number of designs to check.
        states: maximum number of cluster states to search for each guarantee.
        progress: receives the number of checked designs.
        known: cache of designs on the same cluster; the new design is added. The design of an equal workload is checked
            first. If it keeps the wants, or the equal workload has no design, the search ends.

    Raises:
        InputError: if the API server would refuse an object.
        UsageError: if the workload does not exist, or the wants contradict each other.
    """
    there = [(kind, each.namespace, each.name) for kind, name in LISTS.items() for each in getattr(inventory, name)]
    key = the_workload(of, there, namespace)
    if not inventory.nodes:
        raise UsageError("no nodes found; give a cluster with --on")
    item = workload_of(inventory, key)
    number = simulated_replicas(inventory, key) if replicas is None else replicas
    intent = read_intent(survive, left, number, unnoticed=unnoticed, others=others)
    _check_keys(intent, inventory)
    # A cluster autoscaler may add nodes in new domains, so the current domains prove nothing.
    counted_out = () if options.pools else tuple(beyond_counting(intent, [each.labels for each in inventory.nodes]))
    likeness = intent, likeness_of(inventory, item)
    like = None if known is None else known.get(likeness)
    if like is not None and not like.promises:
        unmet = like.unmet if counted_out else tuple(f"{each} {_found_for(like)}" for each in like.unmet)
        here = bool(counted_out)
        return replace(
            like, namespace=key[1], name=key[2], unmet=unmet, tried=0, is_impossible=here, inventory=inventory
        )
    begin = WorkloadDrills(_with_others_placed(inventory, key, options), options, key)
    search = _Search(begin, inventory, unscored(options), intent, states, tries, progress)
    rules, failures = search.taken(like) or search.best()
    wanted = any(each.is_wanted for each in failures.values())
    against = [each.text for each in failures.values()]
    if wanted:
        if not counted_out and any(each.check == "placed" for each in failures.values()):
            counted_out = tuple(_without_room(begin, item, intent.replicas))
        against = [*counted_out, *_by_failure(failures)]
    lines = () if wanted else tuple(search.reasons(rules, like))
    objects = () if wanted else tuple(manifest_data(inventory, item, rules, intent.replicas))
    found = Design(
        *key,
        intent.replicas,
        intent.phrases,
        not wanted,
        lines,
        objects,
        search.checks(rules).phrases,
        tuple(dict.fromkeys([*against, *search.undecided[rules]])),
        search.tried,
        is_impossible=wanted and bool(counted_out),
        is_open=any(search.undecided[rules].values()),
        conflict=tuple(search.conflict()) if wanted and not counted_out and search.tried < tries else (),
        wants=(*(each.promise for each in intent.of_domains if each.key in (ZONE, HOSTNAME)), *intent.others),
        inventory=inventory if wanted else with_rules(inventory, key, rules, intent.replicas),
        rules=rules,
        extras=() if wanted else tuple(each.check for each in failures.values()),
    )
    if known is not None:
        known.setdefault(likeness, found)
    return found


def _found_for(like: Design) -> str:
    return f"(found for {like.namespace}/{like.name}, which is equal)"


def _by_failure(failures: Mapping[DesignRules, DesignFailure]) -> Iterator[str]:
    """Yield each failure with the designs that have it, as text."""
    found: dict[str, list[str]] = {}
    for rules, each in failures.items():
        found.setdefault(each.text, []).append(rules.title)
    for text, titles in found.items():
        others = f" (and with {len(titles) - 1} other designs)" if len(titles) > 1 else ""
        yield f"{text}, with {titles[0]}{others}"


def _with_others_placed(inventory: Inventory, key: ObjectKey, options: SimulationOptions) -> Inventory:
    """Return the inventory with all pods of other workloads placed, so that no drill places them again."""
    after = simulate(inventory, options.answered_by, keep_after=True).after
    assert after is not None, "the simulation was to keep it"
    return without_pods_of(after, key)


def _without_room(begin: WorkloadDrills, item: Designed, replicas: int) -> Iterator[str]:
    """Yield a reason if the nodes lack room for all pods even without constraints and inter-pod affinity.

    Then no design can help, because constraints only exclude nodes.
    """
    pod = item.spec.template.spec
    affinity = pod.affinity and with_fields(pod.affinity, pod_affinity=None, pod_anti_affinity=None)
    soft = TopologySpreadConstraint(max_skew=1, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY)
    bare = with_fields(pod, topology_spread_constraints=[soft], affinity=affinity)  # prevents default constraints
    spec = with_fields(item.spec, replicas=replicas, template=with_fields(item.spec.template, spec=bare))
    name = LISTS[begin.key[0]]
    listed = [
        with_fields(each, spec=spec) if (each.namespace, each.name) == begin.key[1:] else each
        for each in getattr(begin.inventory, name)
    ]
    inventory = replace(begin.inventory)
    setattr(inventory, name, listed)
    placed = WorkloadDrills(inventory, begin.options, begin.key).play().begun
    if placed < replicas:
        yield f"{replicas - placed} of {replicas} pods find no node even without constraints"


def _check_keys(intent: Intent, inventory: Inventory) -> None:
    for each in intent.survivals:
        if not any(each.key in node.labels for node in inventory.nodes):
            raise UsageError(f'--survive {each.word}: no node has the label "{each.key}"')


@dataclass
class _Search:
    """The search for one workload's design. It tries cheap designs first.

    Attributes:
        begin: the start of the drills.
        whole: the input, whose pods may come in any order.
        unscored: options with which pods may go to any feasible node.
        trials: design without its budget → (drills with scores, drills on any feasible node, prepared searches).
    """

    begin: WorkloadDrills
    whole: Inventory
    unscored: SimulationOptions
    intent: Intent
    states: int
    tries: int
    progress: Progress | None = None
    undecided: dict[DesignRules, dict[str, bool]] = field(default_factory=dict)
    found: dict[DesignRules, DesignFailure | None] = field(default_factory=dict)
    trials: dict[DesignRules, tuple[Trials, Trials, dict[str | None, Asking]]] = field(default_factory=dict)

    @property
    def tried(self) -> int:
        """Number of designs checked."""
        return len(self.found)

    def checks(self, rules: DesignRules) -> DesignChecks:
        """Return the checks of a design."""
        key: ObjectKey = self.begin.key
        undecided = self.undecided.setdefault(rules, {})
        begin, whole = (
            with_rules(each, key, rules, self.intent.replicas) for each in (self.begin.inventory, self.whole)
        )
        # Only preemption and drains depend on budgets.
        shared = self.trials.setdefault(replace(rules, available=0), ({}, {}, {}))
        scored, free, askings = ({}, {}, {}) if self.begin.may_preempt else shared
        drills = WorkloadDrills(begin, self.begin.options, key, says_how_spread=False, known=scored)
        unscored = replace(drills, options=self.unscored, known=free)
        return DesignChecks(drills, unscored, whole, self.intent, self.states, undecided, askings)

    def first_failure(self, rules: DesignRules) -> DesignFailure | None:
        """Return the first want that fails; ``None`` if all hold."""
        if rules not in self.found:
            self.found[rules] = next(self.checks(rules).failures(), None)
            if self.progress is not None:
                self.progress(self.tried, self.tries)
        return self.found[rules]

    def best(self) -> tuple[DesignRules, dict[DesignRules, DesignFailure]]:
        """Return the cheapest design that keeps every want; else one that fails only on extras; else any.

        Also return design → its failure; empty if the design keeps every want.
        """
        queue: list[tuple[tuple[int, int], int, DesignRules]] = [((0, 0), 0, DesignRules())]
        seen = {DesignRules()}
        fallback: tuple[DesignRules, DesignFailure] | None = None
        constraints = workload_of(self.begin.inventory, self.begin.key).spec.template.spec.topology_spread_constraints
        own = [
            SpreadRule(each.topology_key or "", each.max_skew or 1, each.min_domains or 0)
            for each in constraints or ()
            if each.when_unsatisfiable == DO_NOT_SCHEDULE
        ]
        while queue and self.tried < self.tries:
            rules = heapq.heappop(queue)[2]
            failure = self.first_failure(rules)
            if failure is None:
                return self._least(rules), {}
            if fallback is None or (not failure.is_wanted and fallback[1].is_wanted):
                fallback = rules, failure
            for each in amendments(rules, failure, self.intent, self.begin.key[0], own):
                if each not in seen:
                    seen.add(each)
                    heapq.heappush(queue, (each.cost, len(seen), each))
        assert fallback is not None, "the first design was tried"
        rules, failure = fallback
        if not failure.is_wanted:
            rules = self._least(rules)
            failure = self.found[rules] or failure
            return rules, {rules: failure}
        return rules, {tried: each for tried, each in self.found.items() if each is not None}

    def taken(self, like: Design | None) -> tuple[DesignRules, dict[DesignRules, DesignFailure]] | None:
        """Return the design of an equal workload if it also keeps the wants here or fails only on the same extras."""
        if like is None:
            return None
        failure = self.first_failure(like.rules)
        if failure is None:
            return like.rules, {}
        return None if failure.is_wanted or failure.check not in like.extras else (like.rules, {like.rules: failure})

    def conflict(self) -> Iterator[str]:
        """Yield the smallest set of wants that no design keeps; all wants if no smaller set is found."""
        every = self.intent
        wants = [*every.survivals, *every.others, *(["unnoticed"] if every.unnoticed else [])]
        for size in range(1, len(wants)):
            for chosen in combinations(wants, size):
                survivals = tuple(each for each in every.survivals if each in chosen)
                others = tuple(each for each in every.others if each in chosen)
                intent = replace(every, survivals=survivals, others=others, unnoticed="unnoticed" in chosen)
                search = _Search(self.begin, self.whole, self.unscored, intent, self.states, self.tries)
                failures = search.best()[1]
                if any(each.is_wanted for each in failures.values()) and search.tried < self.tries:
                    yield from intent.phrases
                    return
        yield from every.phrases

    def _least(self, rules: DesignRules) -> DesignRules:
        """Return the design without its unnecessary parts."""
        good = self.found[rules]
        for _, without in rules.parts():
            lacks = self.first_failure(without)
            if lacks is None or (good is not None and not lacks.is_wanted):
                return self._least(without)
        self.first_failure(rules)
        return rules

    def reasons(self, rules: DesignRules, like: Design | None) -> Iterator[ReasonedLine]:
        """Yield each part with the failure that it prevents, reused from an equal workload with the same design."""
        if like is not None and like.rules == rules:
            yield from (replace(each, reason=f"{each.reason} {_found_for(like)}") for each in like.lines)
            return
        there = present(workload_of(self.whole, self.begin.key), rules)
        for line, without in rules.parts():
            if next(there, False):
                continue
            lacks = self.first_failure(without)
            # A promise on drains is kept if a budget blocks the drain.
            is_wanted = lacks is None or (lacks.is_wanted and (lacks.check != "blocked" or self.intent.unnoticed))
            yield ReasonedLine(line, f"without it {lacks.text}" if lacks else "", is_wanted)


def _comment(each: ReasonedLine) -> list[str]:
    return textwrap.wrap(
        one_line(f"{each.line} - {each.reason}"),
        100,
        initial_indent="# ",
        subsequent_indent="#   ",
        break_long_words=False,
        break_on_hyphens=False,
    )
