"""Disruption budgets as the disruption controller keeps them: completed where a file has no status, and up to date.

kube-scheduler reads ``status.disruptionsAllowed`` alone; the controller recounts it when pods come and go. A simulation
does that between two preemptions, taking pods as healthy as soon as they are on a node.
Source: pkg/controller/disruption/disruption.go (``getExpectedPodCount``, ``countHealthyPods``, ``updatePdbStatus``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil

from msgspec.structs import replace

from topospread.api.labels import Selector
from topospread.api.pod import Pod
from topospread.api.policy import PodDisruptionBudget, PodDisruptionBudgetStatus
from topospread.cluster import Cluster, PodClass
from topospread.scheduling.preemption import budget_selector
from topospread.workloads.planned import Plan

_WITHOUT_SCALE = frozenset({"DaemonSet", "Job"})
"""Kinds for which the disruption controller gives up on maxUnavailable and percentages: nothing may be evicted."""


def complete_budgets(plan: Plan, cluster: Cluster) -> None:
    """Give every budget of the cluster a status, and note those that had none."""
    budgets = cluster.objects.pod_disruption_budgets
    for i, budget in enumerate(budgets):
        if budget.status is None or budget.status.disruptions_allowed is None:
            budgets[i] = made = replace(budget, status=_status(budget, plan))
            assert made.status is not None
            allowed = made.status.disruptions_allowed
            evictions = "1 eviction" if allowed == 1 else f"{allowed} evictions"
            plan.notes.append(
                f"PodDisruptionBudget {budget.namespace}/{budget.name} has no status: by its spec and the "
                f"{made.status.current_healthy} healthy of {made.status.expected_pods} pods it allows {evictions}"
            )


def _status(budget: PodDisruptionBudget, plan: Plan) -> PodDisruptionBudgetStatus:
    selector = budget_selector(budget)
    pods = [pod for pod in plan.bound if selector is not None and _selects(budget, selector, pod)]
    healthy = sum(_is_healthy(pod) for pod in pods)
    spec = budget.spec
    expected = len(pods)
    if spec.max_unavailable is not None or isinstance(spec.min_available, str):
        expected = _expected(plan, {id(pod) for pod in pods})
    if spec.max_unavailable is not None:
        desired = max(0, expected - _scaled(spec.max_unavailable, expected))
    else:
        desired = _scaled(0 if spec.min_available is None else spec.min_available, expected)
    allowed = max(0, healthy - desired) if expected else 0
    return PodDisruptionBudgetStatus(
        disruptions_allowed=allowed, current_healthy=healthy, desired_healthy=desired, expected_pods=expected
    )


def _selects(budget: PodDisruptionBudget, selector: Selector, pod: Pod) -> bool:
    return pod.namespace == budget.namespace and selector.matches(pod.labels) and not pod.terminating


def _is_healthy(pod: Pod) -> bool:
    """Ready; a pod that says nothing of it is taken as ready."""
    conditions = pod.status.conditions if pod.status else None
    return not any(each.type == "Ready" and each.status != "True" for each in conditions or ())


def _expected(plan: Plan, selected: set[int]) -> int:
    """Replicas of the workloads that the pods are of; 0 where one has no scale, and pods of nobody count nothing."""
    workloads = [each for each in plan.workloads if any(id(pod) in selected for pod in each.existing)]
    if any(each.kind in _WITHOUT_SCALE for each in workloads):
        return 0
    return sum(each.replicas for each in workloads)


def _scaled(value: int | str, total: int) -> int:
    """A number, or a percentage of the total, rounded up; what is neither counts as 0."""
    if isinstance(value, int):
        return value
    number = value.removesuffix("%")
    return ceil(int(number) * total / 100) if value.endswith("%") and number.isdecimal() else 0


@dataclass(slots=True)
class _Standing:
    """One budget at the beginning of a run: what it allows, and how many of its pods are on nodes.

    ``classes``: its pods' classes among the first ``looked_at`` of the cluster's.
    """

    budget: PodDisruptionBudget
    selector: Selector | None
    room: int
    pods: int = 0
    classes: list[PodClass] = field(default_factory=list)
    looked_at: int = 0

    def on_nodes(self, cluster: Cluster) -> int:
        """How many of its pods are on nodes now."""
        selector, namespace = self.selector, self.budget.namespace
        if selector is None:
            return 0
        self.classes += (
            each
            for each in cluster.classes[self.looked_at :]
            if each.counted and each.namespace == namespace and selector.matches(each.labels)
        )
        self.looked_at = len(cluster.classes)
        return sum(sum(each.occupancy.values()) for each in self.classes)


class Budgets:
    """The budgets of a run under way."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        given = cluster.objects.pod_disruption_budgets
        self._standing = [_Standing(budget, budget_selector(budget), _room(budget)) for budget in given]
        for each in self._standing:
            each.pods = each.on_nodes(cluster)

    def recount(self) -> None:
        """Let every budget allow what its pods that are on nodes now leave room for."""
        budgets = self._cluster.objects.pod_disruption_budgets
        for i, each in enumerate(self._standing):
            room = each.room + each.on_nodes(self._cluster) - each.pods
            status = each.budget.status
            if status is not None and (budgets[i].status or status).disruptions_allowed != max(0, room):
                budgets[i] = replace(each.budget, status=replace(status, disruptions_allowed=max(0, room)))

    def restore(self) -> None:
        """Put the budgets back to the beginning."""
        self._cluster.objects.pod_disruption_budgets[:] = [each.budget for each in self._standing]


def _room(budget: PodDisruptionBudget) -> int:
    """Healthy pods beyond those that are wanted, below 0 where some are missing."""
    status = budget.status
    if status is None:
        return 0
    allowed = status.disruptions_allowed or 0
    if status.current_healthy is None or status.desired_healthy is None:
        return allowed
    room = status.current_healthy - status.desired_healthy
    return room if max(0, room) == allowed else allowed
