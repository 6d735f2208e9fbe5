"""Victims of preemption where pods belong to pod groups: a group with the disruption mode ``all`` is one victim.

Source: pkg/scheduler/framework/preemption/{types,util}.go, plugins/defaultpreemption/default_preemption.go of
Kubernetes 1.37.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import msgspec

from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey
from topospread.cluster.objects import Key
from topospread.plugins.interface import UNRESOLVABLE
from topospread.plugins.pod_group_members import group_key, pod_priority

from .dry_run import DryRun
from .go_sort import go_sorted
from .nominated_pods import nominated_for_others
from .preemption import NO_VICTIMS, Candidate, NodeResult, PreemptionSearch, Victim, rejection_of, start_order
from .verdict import Rejection

Placed = tuple[PodKey, PodClass, int]
"""(pod, its class, row of its node)."""


class Unit(msgspec.Struct, frozen=True):
    """Pods that are evicted together.

    Attributes:
        of_group: whether the pods belong to a PodGroup.
        started: sort key of the earliest start time of the pods.
    """

    pods: tuple[Placed, ...]
    priority: int
    of_group: bool
    started: tuple[int, float]

    @property
    def importance(self) -> tuple[int, bool, int, tuple[int, float]]:
        """Sort key, more important units first (``MoreImportantVictim``)."""
        return -self.priority, not self.of_group, -len(self.pods), self.started


def possible_victims(cluster: Cluster, priority: int) -> list[Unit]:
    """Return the units with a lower priority, in the order of nodes and their pods."""
    found: dict[object, list[Placed]] = {}
    for key, pod_class, row in cluster.pods():
        if pod_priority(cluster, pod_class) < priority:
            found.setdefault(whole_group(cluster, pod_class) or key, []).append((key, pod_class, row))
    return [unit_of(cluster, pods) for pods in found.values()]


def whole_group(cluster: Cluster, pod_class: PodClass) -> Key | None:
    """Return the group that is evicted together with the pod; ``None`` for a pod that is evicted alone."""
    key = group_key(pod_class.pod)
    group = None if key is None else cluster.objects.pod_groups.get(key)
    mode = group.spec.disruption_mode if group is not None else None
    return key if mode is not None and mode.all is not None else None


def unit_of(cluster: Cluster, pods: Sequence[Placed]) -> Unit:
    """Return the pods as one unit."""
    first = pods[0][1]
    times = [cluster.started.get(key) for key, _, _ in pods]
    started = min(start_order(time, 0.0) for time in times)
    return Unit(tuple(pods), pod_priority(cluster, first), group_key(first.pod) is not None, started)


def has_grouped_pods(cluster: Cluster) -> bool:
    """Return whether any pod with a node belongs to a group."""
    return any(each.occupancy and group_key(each.pod) is not None for each in cluster.classes.values())


class UnitSearch(PreemptionSearch):
    """The search for victims for one pending pod in a cluster with pods of groups."""

    @cached_property
    def _groups(self) -> dict[Key, list[Placed]]:
        """Group that is evicted as a whole → its pods."""
        found: dict[Key, list[Placed]] = {}
        for key, pod_class, row in self._cluster.pods():
            group = whole_group(self._cluster, pod_class)
            if group is not None:
                found.setdefault(group, []).append((key, pod_class, row))
        return found

    def search_rows(self) -> Collection[int]:
        """Return all rows, because the priority of a group counts for its pods."""
        return self._cluster.nodes.row_of.values()

    def _on(self, row: int) -> Iterator[Unit]:
        """Yield the units with a lower priority that have a pod on a node."""
        pods, whole = self._cluster.on_node[row], set[Key]()
        for key in self._cluster.order.on(row):
            pod_class = pods[key]
            if pod_priority(self._cluster, pod_class) >= self._view.pod_class.priority:
                continue
            group = whole_group(self._cluster, pod_class)
            if group is None:
                yield unit_of(self._cluster, [(key, pod_class, row)])
            elif group not in whole:
                whole.add(group)
                yield unit_of(self._cluster, self._groups[group])

    def _tried(self, node: str, row: int) -> NodeResult:
        units = go_sorted(self._on(row), key=lambda unit: unit.importance)
        if not units:
            return NodeResult(Rejection(UNRESOLVABLE, "", (NO_VICTIMS,)))
        breaks = iter(self._budgets.violating([(key, each) for unit in units for key, each, _ in unit.pods]))
        violations = [sum(next(breaks) for _ in unit.pods) for unit in units]
        others = nominated_for_others(self._pod, self._view.pod_class, self._cluster, row)
        evicted: list[int] = []
        with DryRun(self._view, row) as dry_run:
            for unit in units:
                _count(dry_run, unit, row, -1)
            rejection = rejection_of(dry_run, others)
            if rejection is not None:
                return NodeResult(rejection)
            for place in sorted(range(len(units)), key=lambda place: not violations[place]):
                _count(dry_run, units[place], row, 1)
                if rejection_of(dry_run, others) is not None:
                    _count(dry_run, units[place], row, -1)
                    evicted.append(place)
        if not evicted:
            return NodeResult(Rejection("Error", "", (f'expected at least one victim pod on node "{node}"',)))
        victims = [units[place] for place in evicted]
        if any(violations) and not all(violations):
            victims = go_sorted(victims, key=lambda unit: unit.importance)
        started = self._cluster.started
        pods = tuple(
            Victim(key, each, start_order(started.get(key), 0.0)) for unit in victims for key, each, _ in unit.pods
        )
        return NodeResult(Candidate(node, pods, sum(violations[place] for place in evicted)))


def _count(dry_run: DryRun, unit: Unit, row: int, delta: int) -> None:
    """Remove a unit's pods (−1) or add them back (+1). For pods on other nodes, change only cluster-wide counts."""
    for key, pod_class, at in unit.pods:
        if at != row:
            dry_run.count_elsewhere(pod_class, at, delta)
        elif delta < 0:
            dry_run.remove(key)
        else:
            dry_run.add(key, pod_class)
