"""Compare the pods that losses leave of a workload, before and after a change of manifests. Scores are ignored.

If a workload's object, budgets, autoscalers and RuntimeClass, and its namespace's labels and LimitRanges are the same
on both sides, only its declared promises are compared. If an autoscaler's minimum differs, both sides are compared at
their smallest number of replicas. If a promise is declared for an event, a count that still satisfies it is not worse.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from typing import Any, Literal

from msgspec.structs import replace as with_fields

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.kinds import KINDS
from topospread.api.pod import Container, PodSpec
from topospread.api.policy import RuntimeClass
from topospread.api.promises import Want, has_quorum
from topospread.api.spread import DO_NOT_SCHEDULE
from topospread.api.well_known_labels import HOSTNAME, NAMESPACE_NAME, ZONE
from topospread.base import Bounds, Word
from topospread.config.args import DefaultConstraint
from topospread.config.load import default_configuration
from topospread.controllers.autoscaling import AutoscaleChoice, target_of
from topospread.controllers.planned import Workload
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import Fail, NodeChoice
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

from .counted import CountedWorkloads
from .fresh import LISTS, Designed, only_workload, workload_of
from .grouped_pods import ORDERS
from .kept import Fewest, WorkloadPromises, budgets_over
from .orders import SearchBudget

Event = Literal[
    "zone-loss", "zone-rolled", "zone-after", "node-loss", "node-rolled", "node-after", "drains", "rollout",
    "rolled-out", "skew", "never-waits",
]  # fmt: skip
"""Counts of a workload. ``*-loss``: pods that any loss leaves in every order. ``*-rolled``: the same after any rollout.
``*-after``: pods that are ready after the replacement of lost pods. "drains": pods that budgets keep ready. "rollout":
pods that a rollout keeps ready. "rolled-out": pods that a simulated rollout replaces. "skew" and "never-waits" have no
count and are compared only if declared."""
Ground = Literal["none", "played", "proved", "alone"]
"""How a count is known. "alone": proved for the cluster without the pods of other workloads."""
_KEYS: Mapping[str, str] = {"zone": ZONE, "node": HOSTNAME}
_MOST_SEARCHES, _SHORTER = 6, 20
"""Time limit for all searches on one side, as a multiple of the time limit of one search. Each later search gets 1/20
of its normal time limit."""
_MOST_DRILLS = 5
"""Number of domains of each key whose failure is simulated, those with most of the workload's pods first."""
_COVERS: Mapping[str, tuple[Event, ...]] = {
    "zone-loss": ("zone-loss", "zone-rolled", "node-loss", "node-rolled"),
    "node-loss": ("node-loss", "node-rolled"),
    "quorum": ("zone-loss", "zone-rolled", "node-loss", "node-rolled"),
    "drain": ("drains",),
    "rollout": ("rollout",),
    "skew": ("skew",),
    "never-waits": ("never-waits",),
}
"""Promise → events whose verdict it decides. A promise on zones covers nodes: a node's loss leaves no fewer pods."""
WantsOf = Callable[[Workload, Inventory], Sequence[Want]]
_UNCOUNTED: tuple[Event, ...] = ("skew", "never-waits")
_WORST_FIRST: tuple[Word, ...] = ("no", "unknown", "yes")
_NONE = Bounds.exactly(0)
_OF_SPREAD = ("topology_spread_constraints", "affinity")


@dataclass(frozen=True, slots=True)
class PromiseChange:
    """One count of a workload on both sides of a change.

    Attributes:
        key: kind, namespace and name of the workload.
        replicas: before and after.
        scaled: the count for the old spread with the new replicas, if more replicas are wanted.
        declared: the declared promise on the event; empty if the workload declares none.
        kept: verdicts on the declared promise before and after.
        unjudged: parts of the pods that topospread does not model.
        is_outweighed: whether a lower count is not worse: the loss itself leaves more pods than before, or another
            order of pods may explain the count.
        parts: fields of the workload, or budgets, that make the count worse.
        blocks: whether budgets newly let no pod be evicted, so a drain does not end.
        unblocks: whether budgets let a pod be evicted, and let none before.
    """

    key: ObjectKey
    event: Event
    before: Bounds
    after: Bounds
    replicas: tuple[int, int]
    ground: Ground = "proved"
    scaled: Bounds | None = None
    declared: str = ""
    kept: tuple[Word, Word] | None = None
    unjudged: tuple[Unjudged, ...] = ()
    is_outweighed: bool = False
    parts: tuple[str, ...] = ()
    blocks: bool = False
    unblocks: bool = False

    @property
    def verdict(self) -> Word:
        """Verdict: yes if the declared promise is kept or the count is not worse; no if it is worse in every case."""
        if self.blocks:
            return "no"
        if self.kept is not None and (self.kept[1] == "yes" or self.event in _UNCOUNTED or self.kept[0] == "yes"):
            return "yes" if self.kept[0] == "no" else self.kept[1]
        if self.is_outweighed:
            return "yes"
        return min(map(self._compared, filter(None, (self.before, self.scaled))), key=_WORST_FIRST.index)

    def _compared(self, before: Bounds) -> Word:
        if self.event == "drains":  # a drain that ends evicts at least one pod
            before = Bounds.exactly(min(before.least, self.replicas[0] - 1))
        # With fewer replicas, a drain or rollout may keep the same share; a loss must leave as many pods as before.
        is_loss = self.event.endswith(("loss", "rolled"))
        was, now = self.replicas if self.replicas[1] < self.replicas[0] and not is_loss else (1, 1)
        if self.after.most * was < before.least * now:
            return "no"
        return "yes" if self.after.least * was >= before.most * now or before == self.after else "unknown"

    @property
    def lost_quorum(self) -> int:
        """Quorum of a StatefulSet if fewer pods are left only after the change; else 0."""
        if not self.replicas[1] or not any(has_quorum(self.key[0], each) for each in self.replicas):
            return 0
        was, now = (each // 2 + 1 for each in self.replicas)
        return now if self.after.most < now and self.before.least >= was and self.event != "rolled-out" else 0

    @property
    def is_better(self) -> bool:
        """True if the count is better after the change in every case."""
        return self.after.least > self.before.most and not self.blocks


@dataclass
class _Side:
    """The state before or after the change, with a cache of drills of its zones and nodes for all workloads."""

    inventory: Inventory
    options: SimulationOptions
    budget: SearchBudget
    until: float = field(init=False)
    _drills: dict[tuple[str, str], Drill] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.until = time.monotonic() + _MOST_SEARCHES * self.budget.seconds

    def judge(self, key: ObjectKey, inventory: Inventory | None = None) -> WorkloadPromises:
        """Return the checks of a workload's promises. Their time limit is shorter once the side's time is used up."""
        budget = self.budget
        if time.monotonic() > self.until:
            budget = SearchBudget(budget.states, budget.seconds / _SHORTER)
        return WorkloadPromises(inventory or self.inventory, self.options, key, budget, {})

    def ready_after(self, key: ObjectKey, label: str, *, of_own: bool) -> int:
        """Return the fewest ready pods of a workload at the end of a drill that fails one domain.

        Args:
            label: topology key of the domains.
            of_own: whether the domains with most of its simulated pods fail; else the largest ones, which are the same
                for all workloads and cost less.
        """
        domains = {each.name: each.labels[label] for each in self.inventory.nodes if label in each.labels}
        sizes, own = Counter(domains.values()), Counter[str]()
        for node, number in self._placed.get(key, Counter()).items() if of_own else ():
            if node in domains:
                own[domains[node]] += number
        names = sorted(sizes, key=lambda name: (-own[name], -sizes[name], name))[:_MOST_DRILLS]
        return min(each.ready for name in names for each in self._failed(label, name).workloads if key_of(each) == key)

    @cached_property
    def _placed(self) -> dict[ObjectKey, Counter[str | None]]:
        """Workload → node → pods, in one simulation."""
        found: dict[ObjectKey, Counter[str | None]] = {}
        for each in simulate(self.inventory, self.options).on_nodes():
            found.setdefault(each.workload_key, Counter())[each.node] += 1
        return found

    def _failed(self, label: str, name: str) -> Drill:
        found = self._drills.get((label, name))
        if found is None:
            step = Fail(NodeChoice("zone" if label == ZONE else label, name))
            found = self._drills[label, name] = drill(self.inventory, [step], self.options.answered_by)
        return found


def promise_changes(  # noqa: PLR0913 - keyword arguments
    before: Inventory,
    after: Inventory,
    options: SimulationOptions,
    budget: SearchBudget,
    wants_of: WantsOf = lambda *_: (),
    *,
    declares: Callable[[Inventory, ObjectKey, Designed], bool] = lambda *_: False,
    left_out: list[ObjectKey] | None = None,
) -> Iterator[PromiseChange]:
    """Yield counts before and after, for workloads in both states whose object, budgets or autoscalers differ.

    For other workloads, yield only the declared promises that changes of other objects in the namespace break. For
    example, new pods may have the workload's labels. A paused Deployment is compared as if it went on.

    Args:
        before: the objects of the old state and the cluster.
        after: the objects of the new state and the cluster.
        options: the control plane.
        budget: the limits of each search.
        wants_of: gives the declared promises of a workload.
        declares: whether a workload declares a promise; faster than `wants_of`.
        left_out: receives the workloads that are not compared, because the time for all workloads is used up.
    """
    ends = time.monotonic() + budget.seconds_of_all
    before, after = _unpaused(before), _unpaused(after)

    def sides(autoscale: AutoscaleChoice) -> tuple[_Side, _Side]:
        by = replace(options, preemption=False, autoscale=autoscale)
        return _Side(before, by, budget), _Side(after, by, budget)

    given, smallest = sides(options.autoscale), sides("min")
    least = _least_replicas(before), _least_replicas(after)
    spaces = _differing_namespaces(before, after)
    for kind, attribute in LISTS.items():
        old = {(each.namespace, each.name): each for each in getattr(before, attribute)}
        for new in getattr(after, attribute):
            was = old.get((new.namespace, new.name))
            if was is None:
                continue
            key = (kind, new.namespace or "default", new.name)
            is_rescaled = least[0].get(key) != least[1].get(key)
            terms = [
                (_budgets(state, item), _runtime_class(state, item), _terms(item), _rules_of(state, key[1]))
                for state, item in ((before, was), (after, new))
            ]
            is_changed = is_rescaled or terms[0] != terms[1]
            if not is_changed and (spaces.isdisjoint(("", key[1])) or not declares(before, key, was)):
                continue
            if left_out is not None and time.monotonic() > ends:
                left_out.append(key)
            elif is_changed:
                yield from _Comparison(*(smallest if is_rescaled else given), key, wants_of).changes()
            else:
                yield from _Comparison(*given, key, wants_of).broken()


def uncompared(before: Inventory, after: Inventory) -> Iterator[str]:
    """Yield the names of changed workloads, such as an Argo Rollout, that `promise_changes` does not compare."""
    for attribute in ("replica_sets", "replication_controllers"):
        old = {(each.namespace, each.name): each for each in getattr(before, attribute) if not each.metadata.controller}
        for new in getattr(after, attribute):
            was = old.get((new.namespace, new.name))
            if was is not None and _terms(was) != _terms(new):
                yield f"{new.namespace or 'default'}/{new.name}"


def _unpaused(inventory: Inventory) -> Inventory:
    """Return an inventory with the rollouts of all Deployments going on."""
    if not any(each.spec.paused for each in inventory.deployments):
        return inventory
    found = [with_fields(each, spec=with_fields(each.spec, paused=False)) for each in inventory.deployments]
    return replace(inventory, deployments=found)


def lost_promises(
    before: Inventory,
    gone: Collection[ObjectKey],
    options: SimulationOptions,
    budget: SearchBudget,
    wants_of: WantsOf,
) -> Iterator[PromiseChange]:
    """Yield the declared promises of workloads that have no pods after the change.

    Args:
        before: the objects of the old state and the cluster.
        gone: workloads without pods after the change.
        options: the control plane.
        budget: the limits of each search.
        wants_of: gives the declared promises of a workload.
    """
    side = _Side(before, replace(options, preemption=False), budget)
    for key in gone:
        judge = side.judge(key)
        yield from _broken_without_pods(judge, wants_of(judge.workload, before), ("spec.replicas", "spec.paused"))


def _broken_without_pods(
    judge: WorkloadPromises, wants: Sequence[Want], parts: tuple[str, ...]
) -> Iterator[PromiseChange]:
    """Yield the promises of a workload that loses all its pods."""
    for want in wants:
        event = _COVERS[want.about][0]
        was = _bounds(judge, event)
        replicas = judge.workload.replicas, 0
        kept: tuple[Word, Word] = "yes", "no"
        yield PromiseChange(judge.key, event, was, _NONE, replicas, declared=str(want), kept=kept, parts=parts)


def _bounds(judge: WorkloadPromises, event: Event) -> Bounds:
    """Return bounds on the workload's count for an event; 0 for events without a count."""
    if event in ("zone-loss", "node-loss"):
        return judge.fewest(event.partition("-")[0]).orders
    if event in ("drains", "rollout"):
        return Bounds.exactly(judge.budget_least if event == "drains" else judge.rolling_least())
    return _NONE


def default_changes(
    inventory: Inventory,
    options: tuple[SimulationOptions, SimulationOptions],
    wants_of: WantsOf = lambda *_: (),
) -> Iterator[PromiseChange]:
    """Yield the counts after losses for workloads without their own constraints, if the hard default constraints of
    two control planes differ.

    Args:
        inventory: the objects.
        options: the control planes before and after.
        wants_of: gives the declared promises of a workload.
    """
    if _hard_defaults(options[0]) == _hard_defaults(options[1]):
        return
    sides = [CountedWorkloads(inventory, each) for each in options]
    losses = [loss for loss, label in _KEYS.items() if any(label in each.labels for each in inventory.nodes)]
    items = [(kind, each) for kind, attribute in LISTS.items() for each in getattr(inventory, attribute)]
    for kind, item in items if all(each.is_enough for each in sides) else ():
        if item.spec.template.spec.topology_spread_constraints or item.spec.replicas == 0:
            continue
        key = (kind, item.namespace or "default", item.name)
        with sides[0].judge(key) as before, sides[1].judge(key) as after:
            wants = wants_of(after.workload, inventory)
            of = after.workload.replicas
            for change in (each for loss in losses for each in _lost((before, after), loss, (of, of))):
                want = next((each for each in wants if change.event in _COVERS[each.about]), None)
                kept = [next(iter(each.kept([want]))).verdict for each in (before, after)] if want else []
                yield replace(change, declared=str(want or ""), kept=(kept[0], kept[1]) if kept else None)


def _hard_defaults(options: SimulationOptions) -> dict[str, list[DefaultConstraint]]:
    configuration = options.config or default_configuration(options.kube_version, options.gates)
    return {
        profile.scheduler_name: [
            each
            for each in profile.args.pod_topology_spread.constraints_in_force
            if each.when_unsatisfiable == DO_NOT_SCHEDULE
        ]
        for profile in configuration.profiles
    }


@dataclass
class _Comparison:
    before: _Side
    after: _Side
    key: ObjectKey
    wants_of: WantsOf
    _verdicts: dict[Want, tuple[Word, Word]] = field(default_factory=dict)

    @cached_property
    def _judges(self) -> tuple[WorkloadPromises, WorkloadPromises]:
        return self.before.judge(self.key), self.after.judge(self.key)

    def changes(self) -> Iterator[PromiseChange]:
        judges, replicas = self._judges, (self._judges[0].workload.replicas, self._judges[1].workload.replicas)
        if not replicas[0]:
            return
        # Promises of NEW do not count: a change could lower the promise by which it is judged.
        wants = self.wants_of(judges[0].workload, self.before.inventory)
        if not replicas[1]:
            yield from _broken_without_pods(judges[0], wants, self._differ)
            return
        counted = [*self._counted(replicas)]
        rolled = {each.event.replace("rolled", "loss") for each in counted if each.event.endswith("rolled")}
        for change in counted:
            deciding = (each for each in wants if change.event in _COVERS[each.about])
            want = max(deciding, key=partial(_strictness, change), default=None)
            kept = None if want is None else self._kept(want)
            if kept is not None and kept[1] == "no" and change.event in rolled:
                want = kept = None  # the event "*-rolled" reports this broken promise
            elif want is not None and kept is not None and kept[1] != "yes" and change.event.startswith("node"):
                if change.after.least >= want.least(replicas[1]):
                    kept = "yes", "yes"  # a zone's loss breaks the promise, a node's loss does not
                elif want.about == "zone-loss":
                    want = kept = None
            if change.blocks and want is not None and want.least(replicas[1]) >= replicas[1]:
                change = replace(change, blocks=False)  # noqa: PLW2901 - the promise asks for it
            declared = "" if want is None else str(want)
            parts = self._unjudged
            differs = change.event in ("drains", "rollout") and change.before != change.after
            if differs and change.verdict == "yes" and self._hangs_on(parts):
                before, after = (Bounds(least=0, most=each.most) for each in (change.before, change.after))
                change = replace(change, before=before, after=after, ground="none")  # noqa: PLW2901 - now bounds
            made = replace(change, declared=declared, kept=kept, unjudged=parts)
            yield replace(made, parts=self._parts(made)) if made.verdict == "no" else made
        for want in wants:
            if want.about in ("skew", "never-waits"):
                kept = self._kept(want)
                found = PromiseChange(self.key, want.about, _NONE, _NONE, replicas, declared=str(want), kept=kept)
                yield replace(found, parts=self._differ) if found.verdict == "no" else found

    def broken(self) -> Iterator[PromiseChange]:
        """Yield the declared promises that are kept before the change, but not certainly after it."""
        judges = self._judges
        for want in self.wants_of(judges[0].workload, self.before.inventory):
            kept = self._kept(want)
            if kept[0] == "yes" != kept[1]:
                event = _COVERS[want.about][0]
                was, now = (_bounds(judge, event) for judge in judges)
                replicas = judges[0].workload.replicas, judges[1].workload.replicas
                yield PromiseChange(
                    self.key, event, was, now, replicas, declared=str(want), kept=kept, unjudged=self._unjudged
                )

    @cached_property
    def _unjudged(self) -> tuple[Unjudged, ...]:
        """Unmodelled parts of the pods of both sides, one for each unmodelled feature."""
        return tuple({each.what: each for judge in self._judges for each in judge.unjudged}.values())

    def _hangs_on(self, parts: Sequence[Unjudged]) -> bool:
        """Return whether the comparison depends on unmodelled parts of the workload's own pods. It does not if only the
        strategy or budgets change."""
        own = "/".join(self.key[1:]) + "-"
        fixed = ("spec.strategy", "spec.updateStrategy", BUDGETS)
        return any(pod.startswith(own) for each in parts if each.what != ORDERS for pod in each.pods) and any(
            not each.startswith(fixed) for each in self._differ
        )

    def _kept(self, want: Want) -> tuple[Word, Word]:
        """Return the verdicts on a promise before and after the change."""
        if want not in self._verdicts:
            before, after = (next(iter(judge.kept([want]))).verdict for judge in self._judges)
            self._verdicts[want] = before, after
        return self._verdicts[want]

    def _counted(self, replicas: tuple[int, int]) -> Iterator[PromiseChange]:
        there = {label for each in self.after.inventory.nodes for label in each.labels}
        is_scaled = replicas[1] > replicas[0] and len(self._differ) > 1
        scaled = self._with_old("spec.replicas", others=True) if is_scaled else None
        for loss, label in _KEYS.items():
            if label in there:
                losses = [*_lost(self._judges, loss, replicas, scaled)]
                if any(each.verdict == "unknown" for each in losses):
                    losses = [*self._lost_alone(losses, loss, replicas)]
                yield from losses
                follows: Event = "zone-after" if loss == "zone" else "node-after"
                sides = (self.before, self.after)
                of_own = time.monotonic() < min(each.until for each in sides)
                was, now = (Bounds.exactly(each.ready_after(self.key, label, of_own=of_own)) for each in sides)
                outweighed = any(each.is_better for each in losses)
                yield PromiseChange(self.key, follows, was, now, replicas, "played", is_outweighed=outweighed)
        floors = [_bounds(judge, "drains") for judge in self._judges]
        blocks = floors[0].least < replicas[0] and floors[1].least >= replicas[1]
        unblocks = floors[0].least >= replicas[0] and floors[1].least < replicas[1]
        yield PromiseChange(self.key, "drains", floors[0], floors[1], replicas, blocks=blocks, unblocks=unblocks)
        rolled = [_bounds(judge, "rollout") for judge in self._judges]
        yield PromiseChange(self.key, "rollout", rolled[0], rolled[1], replicas)

    def _lost_alone(
        self, undecided: Sequence[PromiseChange], loss: str, replicas: tuple[int, int]
    ) -> Iterator[PromiseChange]:
        """Yield undecided counts after a loss, or the counts without other workloads if those are worse."""
        before, after = (
            side.judge(self.key, only_workload(side.inventory, self.key)) for side in (self.before, self.after)
        )
        alone = {each.event: replace(each, ground="alone") for each in _lost((before, after), loss, replicas)}
        for each in undecided:
            other = alone.get(each.event)
            yield other if each.verdict == "unknown" and other is not None and other.verdict == "no" else each

    @cached_property
    def _items(self) -> tuple[Designed, Designed]:
        return workload_of(self.before.inventory, self.key), workload_of(self.after.inventory, self.key)

    @cached_property
    def _differ(self) -> tuple[str, ...]:
        """Names of the fields, budgets and autoscalers that differ."""
        old, new = self._items
        found = [*changed_fields(old, new)]
        budgets = _budgets(self.before.inventory, old), _budgets(self.after.inventory, new)
        least = (_least_replicas(side.inventory).get(self.key, {}) for side in (self.before, self.after))
        for kind, (was, now) in ((BUDGETS, budgets), (AUTOSCALERS, least)):
            found += [f"{kind}{each}" for each in sorted({*was, *now}) if was.get(each) != now.get(each)]
        return tuple(found)

    def _parts(self, change: PromiseChange) -> tuple[str, ...]:
        """Return each changed field whose old value makes the count no worse; all fields if no single field does."""
        if change.event == "drains":
            return tuple(each for each in self._differ if each.startswith((BUDGETS, *_NUMBERS)))
        if change.event == "rollout":
            found = tuple(each for each in self._differ if "trategy" in each or each.startswith(_NUMBERS))
            return found or self._differ
        groups = tuple(each for each in self._differ if not each.startswith(BUDGETS))
        if len(groups) < 2:
            return groups
        return tuple(each for each in groups if not self._still_worse(change, each)) or groups

    def _still_worse(self, change: PromiseChange, group: str) -> bool:
        """Return whether the count is worse although one field has its old value."""
        if change.event.endswith("after"):
            return False
        judge = self._with_old(group, alone=change.ground == "alone")
        after = _left(judge.fewest(change.event.partition("-")[0]), change.event)
        return replace(change, after=after, kept=None, scaled=None).verdict == "no"

    def _with_old(self, group: str, *, others: bool = False, alone: bool = False) -> WorkloadPromises:
        """Return the checks of the new state with the old value of one field.

        Args:
            group: the field, budget or autoscaler.
            others: whether all other fields have their old values instead.
            alone: whether there are no other workloads.
        """
        old, new = self._items
        made = new
        for path in (path for each in self._differ if (each == group) != others for path in _FIELDS.get(each, ())):
            made = _taken(made, path, old)
        attribute = LISTS[self.key[0]]
        inventory = replace(self.after.inventory)
        listed = [made if each is new else each for each in getattr(inventory, attribute)]
        setattr(inventory, attribute, listed)
        if group.startswith(AUTOSCALERS) != others:
            inventory.horizontal_pod_autoscalers = self.before.inventory.horizontal_pod_autoscalers
        return self.after.judge(self.key, only_workload(inventory, self.key) if alone else inventory)


def _strictness(change: PromiseChange, want: Want) -> tuple[bool, int]:
    """Return a sort key: the strictest promise is the maximum. On a node's loss, promises on zones sort first."""
    return want.about != "zone-loss" or not change.event.startswith("node"), want.least(change.replicas[1])


BUDGETS, AUTOSCALERS = "PodDisruptionBudget/", "HorizontalPodAutoscaler/"
_NUMBERS = ("spec.replicas", AUTOSCALERS)
"""Fields and objects that decide the number of replicas."""
_POD = ("spec", "template", "spec")
_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "spec.replicas": (("spec", "replicas"),),
    "spec.template.spec.topologySpreadConstraints": ((*_POD, "topology_spread_constraints"),),
    "spec.template.spec.affinity": ((*_POD, "affinity"),),
    "spec.template.metadata.labels": (("spec", "template", "metadata", "labels"), ("spec", "selector")),
    "spec.strategy": (("spec", "strategy"),),
    "spec.updateStrategy": (("spec", "update_strategy"),),
    "spec.template.spec": tuple((*_POD, each) for each in PodSpec.__struct_fields__ if each not in _OF_SPREAD),
}
"""Field of a manifest → paths of the object's attributes on which counts depend."""


def _value(item: Designed, field_path: str) -> object:
    return [_plain(reduce(_attribute, path, item)) for path in _FIELDS[field_path]]


def _attribute(item: Any, name: str) -> Any:
    return getattr(item, name, None)


def changed_fields(old: Designed, new: Designed) -> Iterator[str]:
    """Yield the fields on which counts depend and that differ between two states of a workload."""
    return (each for each in _FIELDS if _value(old, each) != _value(new, each))


def _plain(value: Any) -> Any:
    """Return a value without fields that filters ignore, such as container names and images. `None` becomes []."""
    if isinstance(value, list):
        return [with_fields(each, image=None, name="") if isinstance(each, Container) else each for each in value]
    return value or []


def _taken(item: Any, path: Sequence[str], old: Any) -> Any:
    """Return an object with the old object's value at a path."""
    name, *rest = path
    if not hasattr(item, name):
        return item
    value = getattr(old, name) if not rest else _taken(getattr(item, name), rest, getattr(old, name))
    return with_fields(item, **{name: value})


def _terms(item: Designed) -> tuple[object, ...]:
    """Return the parts of a workload's own object on which its counts depend."""
    annotations = item.metadata.annotations
    declared = None if annotations is None else (annotations.promise, annotations.quorum)
    return (*(_value(item, each) for each in _FIELDS), declared)


def _budgets(inventory: Inventory, item: Designed) -> dict[str, object]:
    namespace, labels = item.metadata.namespace or "default", item.spec.template.metadata.labels or {}
    return {each.metadata.name or "": each.spec for each, _ in budgets_over(inventory, namespace, labels)}


def _differing_namespaces(before: Inventory, after: Inventory) -> set[str]:
    """Return the namespaces of objects that differ, except for nodes.

    A cluster-scoped object has the namespace "".
    """
    found: set[str] = set()
    for kind, how in KINDS.items():
        old, new = (getattr(each, how.attribute) for each in (before, after))
        if kind == "Node" or old == new:
            continue
        known = {(each.namespace, each.name): each for each in old}
        for each in new:
            if known.pop((each.namespace, each.name), None) != each:
                found.add(each.namespace if how.namespaced else "")
        found.update(namespace if how.namespaced else "" for namespace, _ in known)
    return found


def _rules_of(inventory: Inventory, namespace: str) -> tuple[object, ...]:
    """Return what a namespace adds to its pods' filters: labels that affinity may select, and LimitRanges."""
    labels = [each.metadata.labels or {} for each in inventory.namespaces if each.name == namespace]
    limits = [each.spec for each in inventory.limit_ranges if each.namespace == namespace]
    return {k: v for each in labels for k, v in each.items() if k != NAMESPACE_NAME}, limits


def _runtime_class(inventory: Inventory, item: Designed) -> RuntimeClass | None:
    name = item.spec.template.spec.runtime_class_name
    return next((each for each in inventory.runtime_classes if each.name == name), None) if name else None


def _least_replicas(inventory: Inventory) -> dict[ObjectKey, dict[str, int]]:
    """Return workload → name of its autoscaler → the smallest number of replicas that it allows."""
    found: dict[ObjectKey, dict[str, int]] = {}
    for each in inventory.horizontal_pod_autoscalers:
        key = target_of(each)
        if key is not None:
            found.setdefault(key, {})[each.metadata.name or ""] = each.spec.least
    return found


def _lost(
    judges: tuple[WorkloadPromises, WorkloadPromises],
    loss: str,
    replicas: tuple[int, int],
    scaled: WorkloadPromises | None = None,
) -> Iterator[PromiseChange]:
    """Yield how the pods that a loss surely leaves change: in every order, and after any rollout if that differs.

    Args:
        judges: before and after.
        loss: zone or node.
        replicas: before and after.
        scaled: the judge of the old spread with the new number of replicas, if that is compared.
    """
    before, after = (judge.fewest(loss) for judge in judges)
    grown = scaled.fewest(loss) if scaled is not None else None
    events: tuple[Event, Event] = ("zone-loss", "zone-rolled") if loss == "zone" else ("node-loss", "node-rolled")
    is_one = all(each.bounds == each.orders for each in (before, after))
    for event in events[: 1 if is_one else 2]:
        was, now = _left(before, event), _left(after, event)
        ground: Ground = "proved" if was.known and now.known else "none"
        more = None if grown is None else _left(grown, event)
        yield PromiseChange(judges[0].key, event, was, now, replicas, ground, more)


def _left(found: Fewest, event: Event) -> Bounds:
    return found.bounds if event.endswith("rolled") else found.orders
