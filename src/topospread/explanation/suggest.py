"""What would let a pending pod in: changes are tried on the whole queue, and only those that work are suggested.

Nothing here decides whether a pod fits: `rehearsal` carries the simulation out with the change, from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from topospread.api.inventory import Inventory
from topospread.api.node_selection import Taint
from topospread.plugins.spread_constraints import Constraint
from topospread.scheduling.view import View
from topospread.simulation.run import Run
from topospread.workloads.planned import QueuedPod, Workload

from .changes import Change, Owned, constraint_changes, max_skew_change, owned, toleration_change
from .cluster_changes import cluster_changes, surplus_pods
from .domains import constraint_tables
from .obstacles import TAINTS, Obstacles
from .own_constraints import in_force
from .rehearsal import Rehearsal
from .replacement import replaced
from .result import ConstraintTable, Suggestion

EFFORT = 20_000
"""So many pods are placed at most to try changes: some seconds' work."""
_OVERHEAD = 20
"""What a trial costs besides its pods, in pods."""
_TAINT_SETS = 4
_OF_A_KIND = 2
"""How many suggestions of one kind of change to the cluster are enough."""
_OTHERS_TAINTS = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/")
"""Taints of nodes that are not well or not ready: no pod is told to tolerate them."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What comes of the queue as it is.

    Attributes:
        placed: pods of the workload that have a node.
        wanted: pods of the workload there are to be.
        nodes: keys of all queued pods that have a node.
    """

    placed: int
    wanted: int
    nodes: frozenset[str]


@dataclass
class Search:
    """The search for changes that help one workload's pending pods.

    Attributes:
        untried: changes that were left out to keep the effort in bounds.
    """

    rehearsal: Rehearsal
    workload: Workload
    baseline: Baseline
    untried: int = 0
    _tried: dict[tuple[str, str], Suggestion | None] = field(default_factory=dict)

    def attempt(self, change: Change) -> Suggestion | None:
        """Carry the run out with the change; ``None`` where it lets no pod in, or was not tried."""
        known = (change.title, str(change.patch))
        if known not in self._tried:
            if self.rehearsal.placed + len(self.rehearsal.queue) > EFFORT:
                self.untried += 1
                return None
            self._tried[known] = self._carried_out(change)
        return self._tried[known]

    def _carried_out(self, change: Change) -> Suggestion | None:
        rehearsal = self.rehearsal
        rehearsal.placed += _OVERHEAD
        there = len(self.workload.existing)
        queue, kept, wanted = rehearsal.queue, there, self.baseline.wanted
        try:
            for node in change.nodes:
                rehearsal.with_node(node)
            rehearsal.without(change.deleted)
            kept -= len(change.deleted)
            if change.of_pod is not None:
                new = replaced(queue, rehearsal.run.plan.workloads, self.workload, change.of_pod, change.means)
                rehearsal.without(new.gone)
                rehearsal.withdraw([each for each in queue if each.workload is self.workload])
                queue, kept = new.queue, new.kept
                wanted = kept + len(new.made)
            run = rehearsal.carry_out(queue)
            evicted = there - len(self.workload.existing)
            return self._outcome(change, run, kept - evicted, wanted)
        finally:
            rehearsal.restore()

    def _outcome(self, change: Change, run: Run, kept: int, wanted: int) -> Suggestion | None:
        placed = kept
        there = set()
        for queued in run.queue:
            outcome = run.outcome(queued)
            if outcome is not None and not outcome.pending and not outcome.evicted:
                there.add(f"{queued.namespace}/{queued.name}")
                placed += queued.workload is self.workload
        own = {f"{each.namespace}/{each.name}" for each in self.rehearsal.queue if each.workload is self.workload}
        lets_in = placed + len(change.deleted) - self.baseline.placed
        if lets_in <= 0:
            return None
        return Suggestion(
            kind=change.kind,
            title=change.title,
            object=change.object,
            patch=change.patch,
            means=change.means,
            placed=placed,
            wanted=wanted - len(change.deleted),
            lets_in=lets_in,
            newly_pending=tuple(sorted(self.baseline.nodes - there - own)),
            evicted=len(run.evictions),
        )


def suggestions(
    rehearsal: Rehearsal, inventory: Inventory, subject: QueuedPod, found: Found
) -> tuple[tuple[Suggestion, ...], int]:
    """What lets pods of the subject's workload in, smallest first, and how many changes were not tried.

    The state must be at the rehearsal's beginning; it is left there. Changes of the spec that place every pod make
    those that place only some superfluous.
    """
    workload = subject.workload
    search = Search(rehearsal, workload, found.baseline)
    owner = owned(inventory, workload, found.constraints)
    kept: list[tuple[tuple[float, ...], Suggestion]] = []
    if owner is not None and _has_pods_made(workload):
        kept += ((change.size, tried) for change, tried in _of_spec(search, owner, found))
    if any(each.complete for _, each in kept):
        kept = [each for each in kept if each[1].complete]
    by_kind: dict[str, int] = {}
    for change in found.cluster_changes:
        if by_kind.get(change.kind, 0) < _OF_A_KIND and (tried := search.attempt(change)) is not None:
            by_kind[change.kind] = by_kind.get(change.kind, 0) + 1
            kept.append((change.size, tried))
    kept.sort(key=lambda each: (each[0], each[1].title))
    return tuple(each for _, each in kept), search.untried


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of the pending pod at the end of the run.

    Attributes:
        constraints: in force, by their place in their list.
        taints: sets of taints that nodes reject it for.
        cluster_changes: changes of the cluster to try.
    """

    baseline: Baseline
    constraints: tuple[Constraint, ...]
    tables: tuple[ConstraintTable, ...]
    taints: tuple[list[Taint], ...]
    cluster_changes: tuple[Change, ...]


def looked_at(baseline: Baseline, view: View, obstacles: Obstacles, workload: Workload, waiting: int) -> Found:
    """What there is to try, while the state is that of the end; ``waiting``: queued pods of the workload."""
    tables = constraint_tables(obstacles)
    return Found(
        baseline,
        tuple(in_force(view)),
        tables,
        tuple(_taint_sets(obstacles)),
        tuple(cluster_changes(obstacles, tables, surplus_pods(workload, waiting))),
    )


def _has_pods_made(workload: Workload) -> bool:
    return workload.kind == "Pod" or workload.template is not None


def _of_spec(search: Search, owner: Owned, found: Found) -> Iterator[tuple[Change, Suggestion]]:
    """Changes of the spec that work, each with what comes of it."""
    domains = {each.arithmetic.position: len(each.domains) for each in found.tables if each.arithmetic.hard}
    for constraint in found.constraints:
        if constraint.position not in domains or constraint.when_unsatisfiable != "DoNotSchedule":
            continue
        for change in constraint_changes(owner, constraint, domains[constraint.position]):
            tried = search.attempt(change)
            if tried is not None:
                yield change, tried
        smallest = _smallest_max_skew(search, owner, constraint, found)
        if smallest is not None:
            yield smallest
    for taints in found.taints:
        change = toleration_change(owner, taints)
        tried = search.attempt(change)
        if tried is not None:
            yield change, tried


def _smallest_max_skew(
    search: Search, owner: Owned, constraint: Constraint, found: Found
) -> tuple[Change, Suggestion] | None:
    """The smallest maxSkew that lets in as many pods as the largest does; one less was tried and lets in fewer."""
    table = next(each for each in found.tables if each.arithmetic.position == constraint.position)
    most = max((each.matching for each in table.domains), default=0) + found.baseline.wanted + 1

    def tried(value: int) -> tuple[Change, Suggestion | None]:
        change = max_skew_change(owner, constraint, value)
        return change, search.attempt(change)

    untried = search.untried
    _, largest = tried(max(most, constraint.max_skew + 1))
    if largest is None:
        return None
    low, step = constraint.max_skew, 1
    high = low + step
    while not _as_good(tried(high)[1], largest):
        low, step = high, 2 * step
        high = min(low + step, max(most, constraint.max_skew + 1))
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _as_good(tried(middle)[1], largest) else (middle, high)
    change, smallest = tried(high)
    return (change, smallest) if smallest is not None and search.untried == untried else None


def _as_good(one: Suggestion | None, largest: Suggestion) -> bool:
    return one is not None and one.placed >= largest.placed


def _taint_sets(obstacles: Obstacles) -> Iterator[list[Taint]]:
    """What is not tolerated of nodes' taints, the commonest first, where a person would tolerate it."""
    nodes = obstacles.cluster.nodes
    rows = obstacles.rows[obstacles.rejected_by(TAINTS)]
    counts: dict[tuple[Taint, ...], int] = {}
    for row in rows.tolist():
        left = tuple(obstacles.untolerated(int(nodes.taints[row])))
        counts[left] = counts.get(left, 0) + 1
    order = sorted(counts, key=lambda each: (len(each), -counts[each], str(each)))
    fit = [each for each in order if each and not any(one.key.startswith(_OTHERS_TAINTS) for one in each)]
    yield from (list(each) for each in fit[:_TAINT_SETS])
