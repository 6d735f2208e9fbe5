"""Simulate a change: place the whole queue again, and compare the result with that of the unchanged queue.

`suggest` chooses the changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace as with_fields

from topospread.answer import ExceededSkew
from topospread.api.node_selection import Taint
from topospread.api.pod import Pod
from topospread.api.rollout import Strategy
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain
from topospread.plugins.spread_constraints import Constraint
from topospread.simulation.run import Run, spread_of, spreads

from .changes import TAINTS_OF_HEALTH, Change, strategy_change
from .cluster_changes import cluster_changes, short_nodes, surplus_pods
from .domains import constraint_tables
from .own_constraints import in_force
from .rejections_per_node import TAINTS, RejectionsPerNode, Shortage
from .repeated_simulation import RepeatedSimulation, tried_pods
from .replacement import replaced, with_missing_replicas
from .result import ConstraintTable, Further, Suggestion
from .rolling_update import RollingUpdate
from .typo_suggestions import Meant, keeps_away, meant_by

EFFORT = 20_000
"""Total number of pods that simulations of changes may place: a few seconds' work."""
_OVERHEAD = 20
"""Fixed cost of a simulation, in pods. For a pod with more constraints, the cost is their number."""
_TAINT_SETS = 4
_SPREADS = 10
"""Number of workloads whose constraints are counted in the time of one pod's placement."""


class OutOfEffortError(Exception):
    """A required simulation would exceed `EFFORT`."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The result of the unchanged queue.

    Attributes:
        placed: number of the workload's pods that have a node.
        wanted: desired number of the workload's pods.
        nodes: keys of all queued pods that have a node.
        skews: skew and number of domains of each workload's hard constraints by position, by the workload's ``id``;
            empty if unknown.
    """

    placed: int
    wanted: int
    nodes: frozenset[str]
    skews: Mapping[int, Mapping[int, tuple[int, int]]] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        """Number of the workload's pods without a node."""
        return self.wanted - self.placed


class Baselines:
    """The result of a run for every workload, counted in one pass."""

    def __init__(self, run: Run) -> None:
        """Count the pods of a run, whose state must still exist."""
        outcomes = [(queued, run.outcome(queued)) for queued in tried_pods(run)]
        tried = [(queued, outcome) for queued, outcome in outcomes if outcome is not None and not outcome.evicted]
        placed = [queued for queued, outcome in tried if not outcome.pending]
        self._wanted = Counter(id(queued.workload) for queued, _ in tried)
        self._placed = Counter(id(queued.workload) for queued in placed)
        self._nodes = frozenset(pod_key(queued.namespace, queued.name) for queued in placed)

    def of(self, workload: Workload) -> Baseline:
        """Return the result of one workload."""
        there = len(workload.existing)
        return Baseline(there + self._placed[id(workload)], there + self._wanted[id(workload)], self._nodes)


@dataclass
class WhatIf:
    """The search for changes that help one workload's pending pods.

    Attributes:
        pod: a pod of the workload without changes.
        allowed: position of a hard constraint of this pod → its maxSkew.
        counted: position and topology key of a hard constraint → the domains that it counts without changes.
        untried: number of changes that were skipped to limit the effort.
        rolled_out: number of the workload's pods with a node if all are recreated unchanged; 0 if that does not help.
    """

    simulation: RepeatedSimulation
    workload: Workload
    baseline: Baseline
    pod: Pod
    allowed: Mapping[int, int]
    counted: Mapping[tuple[int, str], Sequence[Domain]] = field(default_factory=dict)
    untried: int = 0
    rolled_out: int = 0
    _tried: dict[tuple[str, str], Suggestion | None] = field(default_factory=dict)

    def try_out(self, change: Change, *, must: bool = False) -> Suggestion | None:
        """Simulate a change. Return a suggestion if it places more pods than before, else ``None``.

        Return ``None`` without a simulation if `EFFORT` is spent.

        Raises:
            OutOfEffortError: if `EFFORT` is spent and ``must`` is True.
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

    def _rolled_out(self, change: Change, suggestion: Suggestion) -> Suggestion | None:
        """Return the suggestion if its rolling update completes, else with a strategy that lets it complete.

        Pods with default constraints are not simulated: their selector depends on a ReplicaSet that does not exist
        yet.
        """
        template = self.workload.template
        if change.strategy is None or change.of_pod is None or template is None:
            return suggestion
        made = change.of_pod(template)
        refused = keeps_away(template.spec) or keeps_away(made.spec)  # anti-affinity between old and new pods
        begins = bool(self.workload.existing and suggestion.complete and self.simulation.placed <= EFFORT)
        quotas = self.simulation.run.plan.quotas
        limited = quotas is not None and quotas.concerning(made)
        if not begins or not (made.spec.topology_spread_constraints or refused or limited):
            return suggestion

        ends: dict[tuple[str, int], ExceededSkew] = {}

        def completes(strategy: Strategy, last: frozenset[str] = frozenset()) -> bool:
            update = RollingUpdate(self.simulation, self.workload, strategy, made, last=last)
            try:
                self._with_cluster_changes(change)
                is_complete = update.play() is None
                run = self.simulation.run
                after = spread_of(run.scheduler, run.cluster.shared_class(update.template)) if is_complete else ()
                for each in exceeded((self.allowed.get(one.position), one) for one in after):
                    key = each.topology_key, each.max_skew
                    ends[key] = max(each, ends.get(key, each), key=lambda one: one.skew)
                return is_complete
            finally:
                self.simulation.restore()

        def completed(strategy: Strategy) -> Suggestion | None:
            """Return the suggestion with the skews that its rollout may leave; ``None`` if the rollout gets stuck."""
            if not completes(strategy):
                return None
            for last in self._fullest_domains():
                completes(strategy, last)
            known = {(each.topology_key, each.skew) for each in suggestion.exceeds}
            more = (each for each in ends.values() if (each.topology_key, each.skew) not in known)
            return with_fields(suggestion, may_exceed=tuple(more))

        if (found := completed(change.strategy)) is not None:
            return found
        waiting = self.simulation.queued[id(self.workload)]
        goes_on = change.kind == "restart" and surplus_pods(self.workload, waiting)
        slow = completed(Strategy(max_surge=0, max_unavailable=1)) if change.patch or goes_on else None
        if slow is None:
            return None
        other = strategy_change(dict(change.object), ", with which its rollout completes")
        if goes_on:
            return with_fields(slow, kind=other.kind, title=other.title, patch=other.patch, means=other.means)
        title = f"{suggestion.title}, with {strategy_change({}).title}"
        return with_fields(slow, title=title, patch=(*suggestion.patch, *other.patch))

    def _fullest_domains(self) -> Iterator[frozenset[str]]:
        """Yield, for each hard constraint, the nodes of the domain with most pods.

        If their pods are deleted last, new pods go elsewhere as long as possible, which leaves the most skew.
        """
        nodes = {each.name: each for each in self.simulation.run.plan.inventory.nodes}
        placed = [nodes[each.spec.node_name] for each in self.workload.existing if each.spec.node_name in nodes]
        for key in dict.fromkeys(key for position, key in self.counted if position in self.allowed):
            pods = Counter(each.labels[key] for each in placed if key in each.labels)
            if pods:
                domain = pods.most_common(1)[0][0]
                yield frozenset(each.name for each in placed if each.labels.get(key) == domain)

    def _carried_out(self, change: Change) -> Suggestion | None:
        simulation = self.simulation
        simulation.placed += max(_OVERHEAD, len(self.pod.spec.topology_spread_constraints or ()))
        there, template = len(self.workload.existing), self.workload.template
        queue, kept, wanted = simulation.queue, there, self.baseline.wanted
        later: tuple[QueuedPod, ...] = ()
        try:
            gone = deleted = self._with_cluster_changes(change)
            kept, wanted = kept - deleted, wanted - deleted
            if deleted and (missing := self.workload.replicas - wanted) > 0:
                queue = (*with_missing_replicas(queue, simulation.run.plan.workloads, self.workload, missing),)
                wanted += missing
            if change.of_pod is not None:
                new = replaced(queue, simulation.run.plan.workloads, self.workload, change.of_pod, change.means)
                simulation.without(new.gone)
                gone += len(new.gone)
                simulation.withdraw([each for each in queue if each.workload is self.workload])
                queue, later, kept = new.queue, new.later, new.kept
                wanted = kept + len(new.made)
                if template is not None:  # a controller replaces an evicted pod with a pod from the changed template
                    self.workload.template = change.of_pod(template)
            run = simulation.carry_out(queue, later=later)
            evicted = there - len(self.workload.existing)
            found = self._outcome(change, run, kept - evicted, wanted)
            return found and with_fields(found, replaces=gone + found.evicted)
        finally:
            self.workload.template = template
            simulation.restore()

    def _with_cluster_changes(self, change: Change) -> int:
        """Apply the changes of the cluster until it is restored. Return the number of pods that they delete."""
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
        pod = change.of_pod(self.pod) if change.of_pod is not None else self.pod
        after = spread_of(run.scheduler, run.cluster.shared_class(pod))
        own_skews = exceeded((self.allowed.get(each.position), each) for each in after)
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
            exceeds=(*own_skews, *self._of_others(change, run)),
            uncounted=tuple(self._uncounted(after)),
            file=change.file,
            further=tuple(Further(each.kind, each.title, each.object, each.patch) for each in change.parts[1:]),
        )

    def _of_others(self, change: Change, run: Run) -> Iterator[ExceededSkew]:
        """Yield constraints of other workloads whose skew grows beyond their maxSkew."""
        of_nodes = run.evictions or any(each.of_node or each.nodes or each.deleted for each in change.each)
        known, own = self.baseline.skews, self.workload
        rows = [
            each
            for each in run.plan.workloads
            if id(each) in known and each is not own and (of_nodes or each.namespace == own.namespace)
        ]
        self.simulation.placed += len(rows) // _SPREADS
        found = spreads(run, rows)
        for row in rows:
            before = known[id(row)]
            for one in (each for each in found.get(id(row), ()) if each.hard and each.position in before):
                skew, domains = before[one.position]
                for each in exceeded([(max(one.max_skew, skew), one)]):
                    counted = newly_counted(domains, one)
                    yield with_fields(
                        each, max_skew=one.max_skew, workload=f"{row.namespace}/{row.name}", counted=counted
                    )

    def _uncounted(self, after: Iterable[ConstraintArithmetic]) -> Iterator[str]:
        """Yield domains without pods of a hard constraint that it counts only without the change."""
        for each in after:
            counted = {one.name for one in each.domains}
            before = self.counted.get((each.position, each.topology_key), ())
            yield from (one.name for one in before if one.name not in counted)


def newly_counted(before: int, after: ConstraintArithmetic) -> dict[str, int]:
    """Return the domains with the fewest pods, and that number, if there are more domains than before."""
    return dict.fromkeys(after.minimum_domains, after.fewest) if len(after.domains) > before else {}


def exceeded(constraints: Iterable[tuple[int | None, ConstraintArithmetic]]) -> Iterator[ExceededSkew]:
    """Yield the constraints whose skew exceeds the given maxSkew; ``None`` stands for no limit."""
    for most, each in constraints:
        if most is not None and each.skew > most:
            yield ExceededSkew(topology_key=each.topology_key, max_skew=most, skew=each.skew)


@dataclass(frozen=True, slots=True)
class PendingPodFacts:
    """The facts about a pending pod at the end of the run.

    Attributes:
        constraints: constraints of pods of the newest template, by index. ``tables`` are their counts.
        taints: sets of taints that reject these pods.
        short: distinct sets of resources that nodes lack for these pods, as `short_nodes` sorts them.
        older: whether the pod is of an older revision than the template.
        meant: names in the pod that do not exist, and similar names that do.
        cluster_changes: changes of the cluster to simulate.
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
    baseline: Baseline, obstacles: RejectionsPerNode, newest: RejectionsPerNode, surplus: list[Pod], *, older: bool
) -> PendingPodFacts:
    """Return the facts about a pending pod in the final state.

    Args:
        obstacles: rejections of the pod.
        newest: rejections of a pod of the newest template; the same object if the pod has that template.
        surplus: pods that a rollout deletes anyway.
        older: whether the pod is of an older revision than the template.
    """
    short: dict[tuple[tuple[str, int], ...], list[Shortage]] = {}
    for _, lacks, _ in short_nodes(newest):
        short.setdefault(tuple((each.resource, each.missing) for each in lacks), lacks)
    tables = constraint_tables(obstacles)
    return PendingPodFacts(
        baseline,
        tuple(in_force(newest.view)),
        tables if newest is obstacles else constraint_tables(newest),
        tuple(_taint_sets(newest)),
        tuple(short.values()),
        older,
        meant_by(newest),
        tuple(cluster_changes(obstacles, tables, surplus)),
    )


def _taint_sets(obstacles: RejectionsPerNode) -> Iterator[list[Taint]]:
    """Yield sets of untolerated taints, fewest taints first, then most frequent; none has taints of unhealthy nodes."""
    nodes = obstacles.cluster.nodes
    rows = obstacles.rows[obstacles.rejected_by(TAINTS)]
    counts: dict[tuple[Taint, ...], int] = {}
    for row in rows.tolist():
        # Uncordoning a node also removes its taint.
        left = tuple(
            each for each in obstacles.untolerated(int(nodes.taints[row])) if each.key != UNSCHEDULABLE_TAINT.key
        )
        counts[left] = counts.get(left, 0) + 1
    order = sorted(counts, key=lambda each: (len(each), -counts[each], str(each)))
    fit = [each for each in order if each and not any(one.key.startswith(TAINTS_OF_HEALTH) for one in each)]
    yield from (list(each) for each in fit[:_TAINT_SETS])
