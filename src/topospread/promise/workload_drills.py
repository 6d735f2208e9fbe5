"""Drills of one workload from the same start, and their results for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from topospread.answer import Unjudged
from topospread.api.inventory import Inventory, ObjectKey, key_of
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.drill.drill import BegunDrill, play_runs
from topospread.drill.result import Drill
from topospread.drill.steps import Drain, Fail, NodeChoice, Step
from topospread.simulation.options import SimulationOptions
from topospread.simulation.unknown import merged, unjudged_parts


@dataclass(frozen=True, slots=True)
class Trial:
    """A drill's result for one workload; of several runs with different random choices, the worst of each value.

    Attributes:
        steps: the given steps.
        begun: pods that were ready before the first step.
        fewest: fewest ready pods at any moment after it.
        ready, pending: ready and pending pods at the end.
        why: kube-scheduler's message for a pending pod; "" if no pod is pending.
        skews: topology key and whether the constraint is DoNotSchedule → its greatest skew at the end.
        broken: violated budgets over any pods.
        left: pods that a drain could not evict.
        own_left: those of them that are the workload's.
        stuck: whether a rollout was unfinished at the end.
        runs: number of drills.
        on: node → pods that the (first) drill placed and that are on it at the end.
        unjudged: parts that topospread does not model and that alone keep pods of the workload pending at the end.
    """

    steps: tuple[Step, ...]
    begun: int
    fewest: int
    ready: int
    pending: int
    why: str
    skews: dict[tuple[str, bool], int]
    broken: tuple[str, ...]
    left: int
    own_left: int
    stuck: bool
    runs: int
    on: Counter[str]
    unjudged: tuple[Unjudged, ...] = ()


Trials = dict[tuple[tuple[Step, ...], int], tuple[Trial, ...]]
"""Steps and number of runs → the trial of each run."""


@dataclass(frozen=True, slots=True)
class WorkloadDrills:
    """The start of a workload's drills.

    Attributes:
        key: kind, namespace and name of the workload.
        says_how_spread: whether trials have skews.
        known: trials that were run before, without drains.
        seconds: time after which steps are not run again with other random choices.
    """

    inventory: Inventory
    options: SimulationOptions
    key: ObjectKey
    says_how_spread: bool = True
    known: Trials = field(default_factory=dict)
    seconds: float = math.inf

    def play(self, *steps: Step, runs: int = 1) -> Trial:
        """Run steps, each until the cluster is stable, and return the workload's result."""
        return _worst(self._played(steps, runs))

    def _played(self, steps: tuple[Step, ...], runs: int) -> Sequence[Trial]:
        if (known := self.known.get((steps, runs))) is not None:
            return known
        how = self.options
        options = replace(how.answered_by, seed=how.seed, preemption=how.preemption, pools=how.pools)
        begun = BegunDrill(self.inventory, steps, {}, options, says_how_spread=self.says_how_spread)
        found = play_runs(begun, runs, seconds=self.seconds)
        trials = tuple(_of_one(each, self.key, steps) for each in (found, *found.others))
        if not any(isinstance(each, Drain) for each in steps):
            self.known[steps, runs] = trials
        return trials

    def lose(self, key: str, domain: str) -> Trial:
        """Run the failure of a domain."""
        return self.play(Fail(self.choice(key, domain)))

    def losses(self, key: str, *steps: Step, runs: int = 1) -> Iterator[tuple[str, int, int]]:
        """Yield (domain, fewest ready pods in the steps and the domain's failure, ready pods before) for each domain.

        No failure is simulated if every pod has a node and no pod can be preempted: then the failure removes exactly
        the pods on the domain's nodes.
        """
        trials = () if self.may_preempt else self._played(steps, runs)
        is_whole = all(not (each.stuck or each.pending) and each.on.total() == each.ready for each in trials)
        for domain, nodes in self.domains(key).items():
            if trials and is_whole:
                fewest = min(min(each.fewest, each.ready - sum(each.on[name] for name in nodes)) for each in trials)
                yield domain, fewest, trials[0].begun
            else:
                found = self.play(*steps, Fail(self.choice(key, domain)), runs=runs)
                yield domain, found.fewest, found.begun

    def held(self, key: str) -> Iterator[str]:
        """Yield each domain of a topology key whose loss may take pods of the workload."""
        is_fixed = not (self.may_preempt or self.options.pools)
        on = self.play().on if is_fixed else None
        yield from (domain for domain, nodes in self.domains(key).items() if on is None or any(map(on.get, nodes)))

    def domains(self, key: str) -> dict[str, list[str]]:
        """Return each domain of a topology key, with the names of its nodes."""
        found: dict[str, list[str]] = {}
        for node in self.inventory.nodes:
            if (domain := node.labels.get(key)) is not None:
                found.setdefault(domain, []).append(node.name)
        return found

    @property
    def may_preempt(self) -> bool:
        """True if pods may have different priorities. Then budgets may decide which pods are preempted."""
        given = self.inventory
        templates = [each.spec.template.spec for each in given.deployments]
        templates += [each.spec.template.spec for each in given.stateful_sets]
        specs = [*templates, *(each.spec for each in given.pods)]
        return bool(given.priority_classes) or any(each.priority or each.priority_class_name for each in specs)

    def choice(self, key: str, domain: str) -> NodeChoice:
        """Return the shortest choice that selects the nodes of a domain."""
        if key == ZONE:
            return NodeChoice("zone", domain)
        named = [each for each in self.inventory.nodes if each.labels.get(key) == domain]
        if key == HOSTNAME and [each.name for each in named] == [domain]:
            return NodeChoice("node", domain)
        return NodeChoice(key, domain)


def _of_one(found: Drill, key: ObjectKey, steps: tuple[Step, ...]) -> Trial:
    end = next(each for each in found.workloads if key_of(each) == key)
    told = [state for step in found.steps[1:] for state in step.changed if key_of(state) == key]
    waiting = [each for each in found.pending if (each.namespace, each.workload) == (key[1], f"{key[0]}/{key[2]}")]
    skews: dict[tuple[str, bool], int] = {}
    for each in end.spread:
        if each.origin != "system":
            skews[each.topology_key, each.hard] = max(each.skew, skews.get((each.topology_key, each.hard), 0))
    return Trial(
        steps=steps,
        begun=told[0].ready_before if told else end.ready,
        fewest=min((each.fewest for each in told), default=end.ready),
        ready=end.ready,
        pending=end.pending,
        why=waiting[0].message if waiting else "",
        skews=skews,
        broken=tuple(each.budget for each in found.breaches),
        left=sum(len(each.not_evicted) for each in found.steps),
        own_left=sum(
            (each.namespace, each.workload) == (key[1], f"{key[0]}/{key[2]}")
            for step in found.steps
            for each in step.not_evicted
        ),
        stuck=bool(found.stuck),
        runs=1,
        on=_nodes(found, key),
        unjudged=unjudged_parts(waiting),
    )


def _nodes(found: Drill, key: ObjectKey) -> Counter[str]:
    there: dict[str, str] = {}
    for pod, kind in ((pod, event.kind) for step in found.steps for event in step.events for pod in event.pods):
        if (pod.namespace, pod.workload) == (key[1], f"{key[0]}/{key[2]}"):
            there.pop(pod.name, None)
            if kind == "placed":
                there[pod.name] = pod.node
    return Counter(there.values())


def _worst(trials: Sequence[Trial]) -> Trial:
    """Return a trial that has the worst value of each field."""
    keys = dict.fromkeys(key for each in trials for key in each.skews)
    return Trial(
        steps=trials[0].steps,
        begun=trials[0].begun,
        fewest=min(each.fewest for each in trials),
        ready=min(each.ready for each in trials),
        pending=max(each.pending for each in trials),
        why=next((each.why for each in trials if each.why), ""),
        skews={key: max(each.skews.get(key, 0) for each in trials) for key in keys},
        broken=tuple(dict.fromkeys(name for each in trials for name in each.broken)),
        left=max(each.left for each in trials),
        own_left=max(each.own_left for each in trials),
        stuck=any(each.stuck for each in trials),
        runs=len(trials),
        on=trials[0].on,
        unjudged=merged(*(each.unjudged for each in trials)),
    )
