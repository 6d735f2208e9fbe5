"""The differences between two simulations of the same objects.

Replicas are interchangeable: two pods of a Deployment that swap their nodes are no difference. Pods of a StatefulSet
and bare pods are compared by name.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

import msgspec

from topospread.api.meta import KubeObject
from topospread.api.pod import Pod
from topospread.api.workload import CronJob, DaemonSet, Deployment, HorizontalPodAutoscaler, Job, ReplicaSet
from topospread.cluster.scheduling_fields import same_to_scheduling
from topospread.config.show import SettingSides
from topospread.controllers.planned import Plan
from topospread.errors import UsageError
from topospread.text import not_in_namespace

from .result import EvictedPod, Placement, Simulation, WorkloadResult, WorkloadSpread
from .run import prepare


def in_namespace(simulation: Simulation, namespace: str) -> Simulation:
    """Return the placements, workloads, pending pods, evictions and removals of one namespace.

    An eviction belongs to the namespaces of the evicted pod and of the preemptor. Results without a namespace are
    returned unchanged: skipped kinds, pods of other schedulers, warnings and notes.

    Raises:
        UsageError: if the namespace has no workloads.
    """
    known = {each.namespace for each in simulation.workloads} | {each.namespace for each in simulation.placements}
    if namespace not in known:
        raise UsageError(f"-n {namespace}: {not_in_namespace(namespace, known)}")

    def inside(key: str) -> bool:
        return key.partition("/")[0] == namespace

    return replace(
        simulation,
        placements=tuple(each for each in simulation.placements if each.namespace == namespace),
        workloads=tuple(each for each in simulation.workloads if each.namespace == namespace),
        pending=tuple(each for each in simulation.pending if each.namespace == namespace),
        evictions=tuple(each for each in simulation.evictions if namespace == each.namespace or inside(each.preemptor)),
        removed={pod: node for pod, node in simulation.removed.items() if inside(pod)},
        unjudged=tuple(
            msgspec.structs.replace(each, pods=pods)
            for each in simulation.unjudged
            if (pods := tuple(filter(inside, each.pods)))
        ),
        open_pods=tuple(filter(inside, simulation.open_pods)),
        bounds={workload: each for workload, each in simulation.bounds.items() if inside(workload)},
    )


Item = TypeVar("Item")

_BY_NAME = ("Pod/", "StatefulSet/")
"""Workloads whose pods are not interchangeable."""


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """A pod whose node or score differs. A side is ``None`` if that simulation does not place the pod."""

    before: Placement | None
    after: Placement | None

    @property
    def pod(self) -> Placement:
        """The pod on the side that has it, ``before`` first."""
        pod = self.before or self.after
        assert pod is not None, "one side has the pod"
        return pod

    @property
    def key(self) -> str:
        """``namespace/name`` of the pod."""
        return f"{self.pod.namespace}/{self.pod.name}"

    @property
    def nodes(self) -> tuple[str | None, str | None]:
        """The pod's node before and after; ``None`` if it is pending or missing there."""
        return self.before.node if self.before else None, self.after.node if self.after else None

    @property
    def moved(self) -> bool:
        """True if the node differs, or only one simulation has the pod."""
        return self.before is None or self.after is None or self.before.node != self.after.node


@dataclass(frozen=True, slots=True)
class SpreadChange:
    """A workload's constraint that differs, or whose result does. A side is ``None`` if it lacks the constraint."""

    workload: WorkloadResult
    before: WorkloadSpread | None
    after: WorkloadSpread | None

    @property
    def spread(self) -> WorkloadSpread:
        """The constraint on the side that has it, ``after`` first."""
        spread = self.after or self.before
        assert spread is not None, "one side has the constraint"
        return spread


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """A workload with a different result.

    Attributes:
        workload: the workload in the first simulation, or in the second if the first lacks it.
        pods: number of its placed pods, before and after.
        placements: its pods with another node or score.
    """

    workload: WorkloadResult
    pods: tuple[int, int]
    placements: tuple[PlacementChange, ...]
    spreads: tuple[SpreadChange, ...]

    @property
    def moved(self) -> tuple[PlacementChange, ...]:
        """Pods on another node, or placed in only one simulation."""
        return tuple(each for each in self.placements if each.moved)


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason why a pod moved; `causes` finds it.

    Attributes:
        kind: ``filter`` if a filter rejects one of the nodes in one simulation only, ``score`` if a score gained most
            for the new node, ``tie`` if the totals are equal, ``unjudged`` if only one simulation judges the pod.
        plugin: plugin of the filter or score; "" for ``tie`` and ``unjudged``.
        sentence: explanation with nodes and numbers.
        points: the plugin's score of the new node minus its score of the old node, before and after; only for
            ``score``.
    """

    kind: Literal["filter", "score", "tie", "unjudged"]
    plugin: str
    sentence: str
    points: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences between two simulations.

    Attributes:
        names: names of the two simulations.
        before, after: the two simulations.
        workloads: workloads with different results, in input order.
        evictions: evictions that occur in only one simulation.
        warnings: warnings that occur in only one simulation.
        settings: differences between their configurations.
        counts_new: whether pending pods that only the second simulation has count as newly pending, as for changed
            manifests.
        why: ``namespace/name`` of some moved pods → the filter or score that moved them.
    """

    names: tuple[str, str]
    before: Simulation
    after: Simulation
    workloads: tuple[WorkloadChange, ...]
    evictions: tuple[tuple[EvictedPod, ...], tuple[EvictedPod, ...]]
    warnings: tuple[tuple[str, ...], tuple[str, ...]]
    settings: tuple[SettingSides, ...] = ()
    why: Mapping[str, Cause] = field(default_factory=dict)
    counts_new: bool = False

    @property
    def placements(self) -> tuple[PlacementChange, ...]:
        """Pods with another node or score, by workload."""
        return tuple(each for workload in self.workloads for each in workload.placements)

    @property
    def spreads(self) -> tuple[SpreadChange, ...]:
        """Constraints with different results, by workload."""
        return tuple(each for workload in self.workloads for each in workload.spreads)

    @property
    def moved(self) -> tuple[PlacementChange, ...]:
        """Pods on another node, or pending in only one simulation."""
        return tuple(each for each in self.placements if each.moved)

    @property
    def newly_pending(self) -> tuple[PlacementChange, ...]:
        """Pods that are pending in the second simulation and were not in the first.

        Pods that replace evicted pods are included.
        """
        replacements = {(each.namespace, each.created_anew) for each in self.evictions[1] if each.created_anew}
        return tuple(
            each
            for each in self.moved
            if each.after is not None
            and each.after.node is None
            and (self.counts_new or each.before is not None or (each.after.namespace, each.after.name) in replacements)
        )

    @property
    def newly_placed(self) -> tuple[PlacementChange, ...]:
        """Pods that are pending in the first simulation and placed in the second."""
        return tuple(
            each for each in self.moved if each.before is not None and each.before.node is None and each.nodes[1]
        )

    @property
    def newly_gone(self) -> tuple[EvictedPod, ...]:
        """Pods that only the second simulation evicts and that no controller recreates."""
        return tuple(each for each in self.evictions[1] if not each.created_anew)


def compare(
    before: Simulation, after: Simulation, names: tuple[str, str], settings: Iterable[SettingSides] = ()
) -> Comparison:
    """Compare two simulations of the same inventory. ``settings``: differences between their configurations."""
    return Comparison(
        names,
        before,
        after,
        tuple(_workload_changes(before, after)),
        (_only(before.evictions, after.evictions), _only(after.evictions, before.evictions)),
        (_missing(before.warnings, after.warnings), _missing(after.warnings, before.warnings)),
        tuple(settings),
    )


def restricted(comparison: Comparison, namespace: str) -> Comparison:
    """Return the differences in one namespace.

    Raises:
        UsageError: if the namespace has no objects.
    """
    one, other = comparison.evictions
    return replace(
        comparison,
        before=in_namespace(comparison.before, namespace),
        after=in_namespace(comparison.after, namespace),
        workloads=tuple(each for each in comparison.workloads if each.workload.namespace == namespace),
        evictions=(
            tuple(each for each in one if each.namespace == namespace),
            tuple(each for each in other if each.namespace == namespace),
        ),
    )


def have_same_start(before: Simulation, after: Simulation) -> bool:
    """Return whether kube-scheduler starts with equal pods, nodes and other objects in both simulations.

    If so, every pod has the same outcome in both, even a pod that topospread cannot judge. Templates of workloads are
    compared only if preemption may delete a pod, which its controller then recreates.
    """
    if not before.begun or not after.begun:
        return False
    old, new = (prepare(*each.begun, with_spreads=False).plan for each in (before, after))
    ours, theirs = _read_objects(old), _read_objects(new)
    if ours.keys() != theirs.keys() or not all(same_to_scheduling(ours[key], theirs[key]) for key in ours):
        return False
    starts = [
        ([*each.bound, *each.removed], [(one.name, one.priority, one.pod) for one in each.queue], each.assumed_claims)
        for each in (old, new)
    ]
    if starts[0] != starts[1]:
        return False
    lowest = min((each.spec.priority or 0 for each in old.bound), default=0)
    if all(each.priority <= lowest for each in old.queue):
        return True
    return [each.template for each in old.workloads] == [each.template for each in new.workloads]


def _read_objects(plan: Plan) -> dict[tuple[type[KubeObject], str | None, str | None], KubeObject]:
    """Return the objects that kube-scheduler reads, without pods. It reads a ReplicaSet only for its own pods."""
    owners = {(each.namespace, owner.name) for each in plan.queue if (owner := each.pod.metadata.controller)}
    unread = (Pod, Deployment, DaemonSet, Job, CronJob, HorizontalPodAutoscaler)
    return {
        (type(each), each.metadata.namespace, each.metadata.name): each
        for each in plan.inventory.objects()
        if not isinstance(each, unread)
        and not (isinstance(each, ReplicaSet) and (each.metadata.namespace, each.metadata.name) not in owners)
    }


def _only(ours: Iterable[EvictedPod], theirs: Iterable[EvictedPod]) -> tuple[EvictedPod, ...]:
    there = {(each.namespace, each.name) for each in theirs}
    return tuple(each for each in ours if (each.namespace, each.name) not in there)


def _missing(ours: Iterable[str], theirs: Iterable[str]) -> tuple[str, ...]:
    there = set(theirs)
    return tuple(each for each in ours if each not in there)


def _workload_changes(before: Simulation, after: Simulation) -> list[WorkloadChange]:
    earlier, later = (_by_workload(each.workloads) for each in (before, after))
    ours, theirs = (_pods(each.placements) for each in (before, after))
    changes = []
    for key in {**earlier, **later}:
        was, now = earlier.get(key), later.get(key)
        placements = _placement_changes(ours.get(key, ()), theirs.get(key, ()), by_name=key[1].startswith(_BY_NAME))
        workload = was or now
        assert workload is not None, "a key is of one of the two"
        spreads = _spread_changes(workload, was.spread if was else (), now.spread if now else ())
        if placements or spreads:
            pods = (was.placed if was else 0, now.placed if now else 0)
            changes.append(WorkloadChange(workload, pods, tuple(placements), tuple(spreads)))
    return changes


Key = tuple[str, str]
"""Namespace and ``Kind/name`` of a workload."""


def _by_workload(workloads: Iterable[WorkloadResult]) -> dict[Key, WorkloadResult]:
    return {(each.namespace, f"{each.kind}/{each.name}"): each for each in workloads}


def _pods(placements: Iterable[Placement]) -> dict[Key, list[Placement]]:
    pods: dict[Key, list[Placement]] = {}
    for each in placements:
        pods.setdefault((each.namespace, each.workload), []).append(each)
    return pods


def _placement_changes(
    before: Sequence[Placement], after: Sequence[Placement], *, by_name: bool
) -> list[PlacementChange]:
    """Return pairs of pods whose node or score differs. ``by_name``: whether to pair pods by name.

    Interchangeable pods on the same node are paired first, then other placed pods with placed pods. A placed pod is
    paired with a pending pod only if the numbers of pending pods differ.
    """
    identities: tuple[Callable[[Placement], object], ...] = (
        (lambda pod: pod.name,)
        if by_name
        else (lambda pod: (pod.node, pod.score), lambda pod: pod.node, lambda pod: pod.node is None, lambda pod: None)
    )
    changes: list[PlacementChange] = []
    for identity in identities:
        pairs, before, after = _paired(before, after, identity)
        changes += (PlacementChange(was, now) for was, now in pairs if (was.node, was.score) != (now.node, now.score))
    changes += (PlacementChange(each, None) for each in before)
    changes += (PlacementChange(None, each) for each in after)
    return changes


def _paired(
    ours: Sequence[Item], theirs: Sequence[Item], identity: Callable[[Item], object]
) -> tuple[list[tuple[Item, Item]], list[Item], list[Item]]:
    """Return pairs of items with equal identity, in order, and each side's unpaired items."""
    waiting: dict[object, deque[int]] = {}
    for position, each in enumerate(theirs):
        waiting.setdefault(identity(each), deque()).append(position)
    pairs, left = [], []
    taken = set()
    for each in ours:
        found = waiting.get(identity(each))
        if found:
            position = found.popleft()
            taken.add(position)
            pairs.append((each, theirs[position]))
        else:
            left.append(each)
    return pairs, left, [each for position, each in enumerate(theirs) if position not in taken]


def _spread_changes(
    workload: WorkloadResult, before: Sequence[WorkloadSpread], after: Sequence[WorkloadSpread]
) -> list[SpreadChange]:
    """Return pairs of constraints with the same topology key whose fields or results differ."""
    identities: tuple[Callable[[WorkloadSpread], object], ...] = (
        lambda each: (each.topology_key, each.when_unsatisfiable, each.max_skew),
        lambda each: (each.topology_key, each.when_unsatisfiable),
        lambda each: each.topology_key,
    )
    changes: list[SpreadChange] = []
    for identity in identities:
        pairs, before, after = _paired(before, after, identity)
        changes += (SpreadChange(workload, was, now) for was, now in pairs if _outcome(was) != _outcome(now))
    changes += (SpreadChange(workload, each, None) for each in before)
    changes += (SpreadChange(workload, None, each) for each in after)
    return changes


def _outcome(spread: WorkloadSpread) -> tuple[object, ...]:
    """Return the fields and results of a constraint that a comparison shows."""
    rules = spread.when_unsatisfiable, spread.max_skew, spread.arithmetic.min_domains, spread.origin
    return *rules, spread.skew, [(each.name, each.before, each.after) for each in spread.domains]
