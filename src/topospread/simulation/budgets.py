"""PodDisruptionBudgets: their status as the disruption controller computes it.

kube-scheduler reads only ``status.disruptionsAllowed``, which the controller updates. A simulation updates it before
each preemption, and counts pods as healthy as soon as they have a node.
Source: pkg/controller/disruption/disruption.go (``getExpectedPodCount``, ``countHealthyPods``, ``updatePdbStatus``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Protocol

import msgspec
from msgspec.structs import replace

from topospread.api.label_index import LabelIndex
from topospread.api.pod import Pod
from topospread.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from topospread.cluster import Cluster
from topospread.cluster.selections import Selection
from topospread.controllers.planned import Plan, Workload
from topospread.scheduling.disruption_budgets import budget_selector
from topospread.text import listed
from topospread.whole_number import scaled

_WITHOUT_SCALE = frozenset({"DaemonSet", "Job"})
"""Kinds without a scale subresource. For their pods, maxUnavailable or a percentage allows no eviction."""

_NAMED = 5
"""Maximum number of budgets that a note names."""


def complete_budgets(plan: Plan, cluster: Cluster) -> None:
    """Set a status for every budget without one. Add a note on such budgets that select pods."""
    pods = _PodsThere(plan)
    completed = []
    for budget in list(cluster.objects.pod_disruption_budgets.values()):
        if budget.status is None or budget.status.disruptions_allowed is None:
            selected = pods.selected(budget)
            healthy = sum(pod.is_ready for pod in selected)
            expected = pods.expected(selected) if goes_by_scale(budget) else len(selected)
            desired = desired_healthy(budget, expected)
            allowed = max(0, healthy - desired) if expected else 0
            status = PodDisruptionBudgetStatus(
                disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=desired, expected_pods=expected
            )
            cluster.objects.put(replace(budget, status=status))
            if selected:
                completed.append((f"{budget.namespace}/{budget.name}", status))
    if completed:
        plan.notes.append(_note(completed))


def _note(completed: Sequence[tuple[str, PodDisruptionBudgetStatus]]) -> str:
    """Return a note: for one budget its allowed evictions, for several budgets the names of those that allow none."""
    if len(completed) == 1:
        ((name, status),) = completed
        allowed = "1 eviction" if status.disruptions_allowed == 1 else f"{status.disruptions_allowed} evictions"
        return (
            f"PodDisruptionBudget {name} has no status: computed from its spec and {status.current_healthy} healthy of "
            f"{status.expected_pods} pods, it allows {allowed}"
        )
    begin = f"{len(completed)} PodDisruptionBudgets have no status: computed from their specs and healthy pods,"
    closed = [name for name, status in completed if not status.disruptions_allowed]
    if not closed:
        return f"{begin} each allows at least 1 eviction"
    allow = "1 allows none" if len(closed) == 1 else f"{len(closed)} allow none"
    allow = "all allow none" if len(closed) == len(completed) else allow
    return f"{begin} {allow}: {listed(closed, _NAMED)}"


class _PodsThere:
    """The pods on nodes by labels, and their workloads; indexed on first use."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    @cached_property
    def _by_labels(self) -> LabelIndex[Pod]:
        index: LabelIndex[Pod] = LabelIndex()
        for pod in self._plan.bound:
            if not pod.terminating:
                index.add(pod.namespace, pod.labels, pod)
        return index

    @cached_property
    def _workloads(self) -> dict[int, list[Workload]]:
        """``id`` of a pod → its workloads."""
        found: dict[int, list[Workload]] = {}
        for each in self._plan.workloads:
            for pod in each.existing:
                found.setdefault(id(pod), []).append(each)
        return found

    def selected(self, budget: PodDisruptionBudget) -> list[Pod]:
        selector = budget_selector(budget)
        return [] if selector is None else self._by_labels.selected(budget.namespace, selector)

    def expected(self, pods: Iterable[Pod]) -> int:
        """Return the summed replicas of the pods' workloads; 0 if one has no scale. Bare pods do not count."""
        workloads = {id(each): each for pod in pods for each in self._workloads.get(id(pod), ())}
        return replicas_of(workloads.values())


def replicas_of(workloads: Collection[Workload]) -> int:
    """Return the sum of the workloads' replicas; 0 if one of them has no scale."""
    if any(each.kind in _WITHOUT_SCALE for each in workloads):
        return 0
    return sum(each.replicas for each in workloads)


def goes_by_scale(budget: PodDisruptionBudget) -> bool:
    """Return whether a budget's limit depends on its workloads' replicas (``getExpectedPodCount``)."""
    return budget.spec.max_unavailable is not None or isinstance(budget.spec.min_available, str)


def desired_healthy(budget: PodDisruptionBudget, expected: int) -> int:
    """Return the number of healthy pods that a budget requires, given the expected number of pods."""
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(0, expected - _scaled(spec.max_unavailable, expected))
    return _scaled(0 if spec.min_available is None else spec.min_available, expected)


def _scaled(value: int | str, total: int) -> int:
    """Return an int unchanged, a percentage of ``total`` rounded up, and 0 for other text."""
    return scaled(value, total) or 0


class _Standing(msgspec.Struct):
    """A budget at the start of a run: healthy pods above the required number, and number of its pods on nodes."""

    budget: PodDisruptionBudget
    selection: Selection | None
    room: int
    pods: int = 0

    def on_nodes(self) -> int:
        if self.selection is None:
            return 0
        return sum(self.selection.on_node.values())


class KeepsBudgets(Protocol):
    """An object that updates the status of all budgets like the disruption controller."""

    def recount(self) -> None:
        """Update the status of every budget."""


class Budgets:
    """The budgets of a run in progress."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._stamp = -1
        given = cluster.objects.pod_disruption_budgets.values()
        self._standing = [_Standing(budget, _selection(budget, cluster), room_of(budget)) for budget in given]
        for each in self._standing:
            each.pods = each.on_nodes()

    def recount(self) -> None:
        """Update the status of every budget: each of its pods on a node now counts as healthy."""
        if self._stamp == self._cluster.journal.stamp:
            return
        for each in self._standing:
            room = each.room + each.on_nodes() - each.pods
            status = each.budget.status
            if status is not None:
                allowed = replace(status, disruptions_allowed=max(0, room))
                self._cluster.objects.put(replace(each.budget, status=allowed))
        self._stamp = self._cluster.journal.stamp

    def restore(self) -> None:
        """Restore every budget's status at the start of the run."""
        for each in self._standing:
            self._cluster.objects.put(each.budget)


def _selection(budget: PodDisruptionBudget, cluster: Cluster) -> Selection | None:
    selector = budget_selector(budget)
    return None if selector is None else cluster.selections.of(budget.namespace, selector).counting()


def room_of(budget: PodDisruptionBudget) -> int:
    """Return the number of healthy pods minus the required number, by the budget's status."""
    status = budget.status
    if status is None:
        return 0
    allowed = status.disruptions_allowed or 0
    if status.current_healthy is None or status.desired_healthy is None:
        return allowed
    room = status.current_healthy - status.desired_healthy
    return room if max(0, room) == allowed else allowed
