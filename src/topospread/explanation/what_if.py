"""Trying a change: the whole queue is placed anew with it, and what comes of that is set against what is without it.

Which changes are worth a try is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace as with_fields

from topospread.api.node_selection import Taint
from topospread.api.pod import Pod
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.plugins.spread_constraints import Constraint
from topospread.simulation.run import Run
from topospread.workloads.planned import QueuedPod, Workload

from .changes import Change
from .cluster_changes import cluster_changes, short_nodes
from .domains import constraint_tables
from .own_constraints import in_force
from .rejections_per_node import TAINTS, Obstacles, Shortage
from .repeated_simulation import RepeatedSimulation, tried_pods
from .replacement import replaced
from .result import ConstraintTable, Further, Suggestion
from .rolling_update import RollingUpdate
from .typo_suggestions import Meant, keeps_away, meant_by

EFFORT = 20_000
"""So many pods are placed at most to try changes: some seconds' work."""
_OVERHEAD = 20
"""What a trial costs besides its pods, in pods."""
_TAINT_SETS = 4
_REQUESTS = 3
"""How many smaller requests are tried."""
_OTHERS_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints of nodes that are not well or not ready: no pod is told to tolerate them."""


class OutOfEffortError(Exception):
    """A trial that is needed would take too long."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The result of the queue as it is.

    Attributes:
        placed: pods of the workload that have a node.
        wanted: pods of the workload there are to be.
        nodes: keys of all queued pods that have a node.
    """

    placed: int
    wanted: int
    nodes: frozenset[str]

    @property
    def pending(self) -> int:
        """Pods of the workload that have no node."""
        return self.wanted - self.placed


@dataclass
class WhatIf:
    """The search for changes that help one workload's pending pods.

    Attributes:
        untried: changes that were left out to keep the effort in bounds.
        rolled_out: pods of the workload that have a node if all are made anew without a change; 0 if that helps none.
    """

    simulation: RepeatedSimulation
    workload: Workload
    baseline: Baseline
    untried: int = 0
    rolled_out: int = 0
    _tried: dict[tuple[str, str], Suggestion | None] = field(default_factory=dict)

    def try_out(self, change: Change, *, must: bool = False) -> Suggestion | None:
        """Carry the run out with the change; ``None`` where it lets no pod in, or was not tried.

        Raises:
            OutOfEffortError: if it was not tried, but ``must`` be.
        """
        known = (change.title, str([each.patch for each in change.each]))
        if known not in self._tried:
            if self.simulation.placed + len(self.simulation.queue) > EFFORT:
                self.untried += 1
                if must:
                    raise OutOfEffortError
                return None
            worked = self._carried_out(change)
            if worked is not None and change.patch and change.means == "rollout" and worked.placed <= self.rolled_out:
                worked = None
            self._tried[known] = worked and self._rolled_out(change, worked)
        return self._tried[known]

    def _rolled_out(self, change: Change, suggestion: Suggestion) -> Suggestion:
        """The suggestion with what its rolling update comes to, where all pods would find a place after it.

        Pods under default constraints are left out: which revision those count hangs on a ReplicaSet yet to be made.
        """
        template = self.workload.template
        if change.strategy is None or change.of_pod is None or template is None or not suggestion.complete:
            return suggestion
        made = change.of_pod(template)
        refused = keeps_away(template.spec) or keeps_away(made.spec)  # old pods refuse new ones, or are refused
        if not (made.spec.topology_spread_constraints or refused) or self.simulation.placed > EFFORT:
            return suggestion
        try:
            self._with_cluster_changes(change)
            stuck_at = RollingUpdate(self.simulation, self.workload, change.strategy, made).play()
        finally:
            self.simulation.restore()
        return with_fields(suggestion, stuck_at=stuck_at)

    def _carried_out(self, change: Change) -> Suggestion | None:
        simulation = self.simulation
        simulation.placed += _OVERHEAD
        there, template = len(self.workload.existing), self.workload.template
        queue, kept, wanted = simulation.queue, there, self.baseline.wanted
        later: tuple[QueuedPod, ...] = ()
        try:
            deleted = self._with_cluster_changes(change)
            kept, wanted = kept - deleted, wanted - deleted
            if change.of_pod is not None:
                new = replaced(queue, simulation.run.plan.workloads, self.workload, change.of_pod, change.means)
                simulation.without(new.gone)
                simulation.withdraw([each for each in queue if each.workload is self.workload])
                queue, later, kept = new.queue, new.later, new.kept
                wanted = kept + len(new.made)
                if template is not None:  # a controller replaces an evicted pod by one of the changed template
                    self.workload.template = change.of_pod(template)
            run = simulation.carry_out(queue, later=later)
            evicted = there - len(self.workload.existing)
            return self._outcome(change, run, kept - evicted, wanted)
        finally:
            self.workload.template = template
            simulation.restore()

    def _with_cluster_changes(self, change: Change) -> int:
        """Make the changes of the cluster, until it is restored; the number of pods that they delete."""
        simulation = self.simulation
        for each in change.each:
            if each.of_node is not None:
                simulation.with_node(each.of_node(simulation.node(each.object["name"])))
            for node in each.nodes:
                simulation.with_node(node)
            simulation.with_objects(each.objects)
            simulation.without(each.deleted)
        return sum(len(each.deleted) for each in change.each)

    def _outcome(self, change: Change, run: Run, kept: int, wanted: int) -> Suggestion | None:
        placed = kept
        there = set()
        for queued in tried_pods(run):
            outcome = run.outcome(queued)
            if outcome is not None and not outcome.pending and not outcome.evicted:
                there.add(f"{queued.namespace}/{queued.name}")
                placed += queued.workload is self.workload
        own = {f"{each.namespace}/{each.name}" for each in self.simulation.queue if each.workload is self.workload}
        lets_in = self.baseline.pending - (wanted - placed)
        if lets_in <= 0:
            return None
        return Suggestion(
            kind=change.kind,
            title=change.title,
            object=change.object,
            patch=change.patch,
            means=change.means,
            placed=placed,
            wanted=wanted,
            lets_in=lets_in,
            newly_pending=tuple(sorted(self.baseline.nodes - there - own)),
            evicted=len(run.evictions),
            file=change.file,
            further=tuple(Further(each.kind, each.title, each.object, each.patch) for each in change.parts[1:]),
        )


@dataclass(frozen=True, slots=True)
class PendingPodFacts:
    """The facts about a pending pod at the end of the run.

    Attributes:
        constraints: in force, by their place in their list, for pods of the newest template; so are ``tables``,
            ``taints``: sets of taints that nodes reject them for, and ``short``: what nodes lack for them.
        older: whether the pod is of an older revision than the template.
        meant: what the pod asks for that is not there, and what is there instead.
        cluster_changes: changes of the cluster to try.
    """

    baseline: Baseline
    constraints: tuple[Constraint, ...]
    tables: tuple[ConstraintTable, ...]
    taints: tuple[list[Taint], ...]
    short: tuple[list[Shortage], ...]
    older: bool
    meant: Meant
    cluster_changes: tuple[Change, ...]


def looked_at(
    baseline: Baseline, obstacles: Obstacles, newest: Obstacles, surplus: list[Pod], *, older: bool
) -> PendingPodFacts:
    """Return the changes to try, in the state at the end.

    Args:
        obstacles: of the pod.
        newest: of a pod of the newest template, the same where the pod is one.
        surplus: pods that a rollout has to delete anyway.
        older: whether the pod is of an older revision than the template.
    """
    short = {tuple(map(_lack, short)): short for _, short, _ in reversed(list(short_nodes(newest)))}
    return PendingPodFacts(
        baseline,
        tuple(in_force(newest.view)),
        constraint_tables(newest),
        tuple(_taint_sets(newest)),
        tuple(reversed(short.values()))[:_REQUESTS],
        older,
        meant_by(newest),
        tuple(cluster_changes(obstacles, constraint_tables(obstacles), surplus)),
    )


def _lack(short: Shortage) -> tuple[str, int]:
    return short.resource, short.missing


def _taint_sets(obstacles: Obstacles) -> Iterator[list[Taint]]:
    """Yield sets of taints that the pod does not tolerate, the most frequent first, if a person would tolerate them."""
    nodes = obstacles.cluster.nodes
    rows = obstacles.rows[obstacles.rejected_by(TAINTS)]
    counts: dict[tuple[Taint, ...], int] = {}
    for row in rows.tolist():
        # The taint of a cordon goes with the cordon.
        left = tuple(
            each for each in obstacles.untolerated(int(nodes.taints[row])) if each.key != UNSCHEDULABLE_TAINT.key
        )
        counts[left] = counts.get(left, 0) + 1
    order = sorted(counts, key=lambda each: (len(each), -counts[each], str(each)))
    fit = [each for each in order if each and not any(one.key.startswith(_OTHERS_TAINTS) for one in each)]
    yield from (list(each) for each in fit[:_TAINT_SETS])
