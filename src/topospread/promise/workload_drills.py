"""Drills of one workload from the same start, and their results for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import Fail, NodeChoice, Step
from topospread.simulation.options import SimulationOptions


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of drills for the workload: the worst of several that differ in random choices.

    Attributes:
        steps: the given steps.
        begun: pods that were ready before the first step.
        fewest: fewest ready pods at any moment after it.
        ready, pending: ready and pending pods at the end.
        why: kube-scheduler's message for a pending pod; "" if no pod is pending.
        skews: topology key and whether the constraint is DoNotSchedule → its greatest skew at the end.
        broken: violated budgets over any pods.
        left: pods that a drain could not evict.
        stuck: whether a rollout was unfinished at the end.
        runs: number of drills.
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
    stuck: bool
    runs: int


@dataclass(frozen=True, slots=True)
class WorkloadDrills:
    """The start of a workload's drills.

    Attributes:
        key: kind, namespace and name of the workload.
    """

    inventory: Inventory
    options: SimulationOptions
    key: ObjectKey

    def play(self, *steps: Step, runs: int = 1) -> Trial:
        """Play steps, each until nothing happens any more, and return the workload's result."""
        how = self.options
        options = replace(how.answered_by, seed=how.seed, preemption=how.preemption, pools=how.pools)
        found = drill(self.inventory, steps, options, runs=runs)
        return _worst([_of_one(each, self.key, steps) for each in (found, *found.others)])

    def lose(self, key: str, domain: str) -> Trial:
        """Play the failure of a domain."""
        return self.play(Fail(self.choice(key, domain)))

    def choice(self, key: str, domain: str) -> NodeChoice:
        """Return the shortest choice that selects the nodes of a domain."""
        if key == ZONE:
            return NodeChoice("zone", domain)
        named = [each for each in self.inventory.nodes if each.labels.get(key) == domain]
        if key == HOSTNAME and [each.name for each in named] == [domain]:
            return NodeChoice("node", domain)
        return NodeChoice(key, domain)


def _of_one(found: Drill, key: ObjectKey, steps: tuple[Step, ...]) -> Trial:
    end = next(each for each in found.workloads if (each.kind, each.namespace, each.name) == key)
    told = [
        state for step in found.steps[1:] for state in step.changed if (state.kind, state.namespace, state.name) == key
    ]
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
        stuck=bool(found.stuck),
        runs=1,
    )


def _worst(trials: Sequence[Trial]) -> Trial:
    """Return one trial with the worst value of each figure."""
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
        stuck=any(each.stuck for each in trials),
        runs=len(trials),
    )
