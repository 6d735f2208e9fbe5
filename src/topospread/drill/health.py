"""Count the ready pods of each workload and PodDisruptionBudget during a drill, and record the minimum counts.

A pod is ready while its node is Ready, unless its condition in the input says otherwise. `simulation.budgets` computes
how many healthy pods a budget requires.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from topospread.api.inventory import ObjectKey, key_of
from topospread.api.labels import Selector
from topospread.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from topospread.cluster import Cluster
from topospread.controllers.draining import why_not
from topospread.controllers.planned import Workload
from topospread.scheduling.disruption_budgets import budget_selector
from topospread.simulation.budgets import desired_healthy, goes_by_scale, replicas_of, room_of

from .pods import FollowedPod
from .result import BrokenBudget


class FollowedBudget(msgspec.Struct, eq=False):
    """A PodDisruptionBudget and its pods.

    Attributes:
        needed: required number of healthy pods.
        healthy: number of ready pods.
    """

    budget: PodDisruptionBudget
    selector: Selector
    needed: int = 0
    healthy: int = 0

    @property
    def name(self) -> str:
        """``namespace/name`` of the budget."""
        return f"{self.budget.namespace}/{self.budget.name}"


class Health:
    """Counts ready pods and keeps the budgets' statuses up to date.

    Args:
        cluster: cluster with the budgets.
        pods: all pods, including pending ones.
        now: function that returns the drill time in seconds.
        before: the counts before controllers planned again.
    """

    def __init__(
        self, cluster: Cluster, pods: Iterable[FollowedPod], now: Callable[[], float], before: Health | None = None
    ) -> None:
        self._more: dict[str, tuple[PodDisruptionBudgetSpec, int]] = before._more if before else {}
        self._cluster = cluster
        self._now = now
        self._budgets: dict[str, list[FollowedBudget]] = {}
        self._selecting: dict[tuple[str, frozenset[tuple[str, str]]], list[FollowedBudget]] = {}
        self.ready: Counter[ObjectKey] = Counter()
        self.fewest: dict[ObjectKey, int] = before.fewest if before else {}
        self.breaches: dict[tuple[str, bool], BrokenBudget] = before.breaches if before else {}
        for budget in cluster.objects.pod_disruption_budgets.values():
            selector = budget_selector(budget)
            if selector is not None:
                self._budgets.setdefault(budget.namespace, []).append(FollowedBudget(budget, selector))
        self._ask(pods)

    def _ask(self, pods: Iterable[FollowedPod]) -> None:
        """Compute each budget's required number of healthy pods from its pods' workloads."""
        workloads: dict[int, dict[int, Workload]] = {}
        for pod in pods:
            for budget in self.budgets_of(pod):
                if pod.workload is not None:
                    workloads.setdefault(id(budget), {})[id(pod.workload)] = pod.workload
        for each in (budget for budgets in self._budgets.values() for budget in budgets):
            expected = replicas_of(workloads.get(id(each), {}).values()) if goes_by_scale(each.budget) else 0
            spec, more = self._more.get(each.name, (None, 0))
            each.needed = desired_healthy(each.budget, expected) + (more if spec == each.budget.spec else 0)

    def heed(self, given: Iterable[PodDisruptionBudget]) -> None:
        """Raise a budget's required pods if its status in the input allows fewer evictions than this class counts.

        The Eviction API reads the status. A status is ignored if its desiredHealthy shows that the spec has changed.
        """
        of_name = {f"{each.namespace}/{each.name}": each for each in given}
        for each in (budget for budgets in self._budgets.values() for budget in budgets):
            own = of_name[each.name]
            status = own.status
            if status is None or status.disruptions_allowed is None or status.desired_healthy is None:
                continue
            more = each.healthy - each.needed - room_of(own)
            if more > 0 and status.desired_healthy == desired_healthy(own, status.expected_pods or 0):
                self._more[each.name] = own.spec, more
                each.needed += more

    def gained(self, pod: FollowedPod) -> None:
        """Record that a pod became ready."""
        if pod.workload is not None:
            self.ready[key_of(pod.workload)] += 1
        for budget in self.budgets_of(pod):
            budget.healthy += 1

    def lost(self, pod: FollowedPod, *, rolls: bool = False) -> None:
        """Record that a pod is no longer ready. ``rolls``: whether a rollout deletes it, which no budget limits."""
        if pod.workload is not None:
            key = key_of(pod.workload)
            self.ready[key] -= 1
            self.fewest[key] = min(self.fewest.get(key, self.ready[key]), self.ready[key])
        for budget in self.budgets_of(pod):
            budget.healthy -= 1
            self._note(budget, rolls=rolls)

    def _note(self, budget: FollowedBudget, *, rolls: bool = False) -> None:
        worst = self.breaches.get((budget.name, rolls))
        if budget.healthy < budget.needed and (worst is None or budget.healthy < worst.healthy):
            broken = BrokenBudget(budget.name, self._now(), budget.healthy, budget.needed, rolls)
            self.breaches[budget.name, rolls] = broken

    def note_breaches(self) -> None:
        """Record the budgets that have fewer healthy pods than they require, also if no pod was lost."""
        for budgets in self._budgets.values():
            for each in budgets:
                self._note(each)

    def begin_step(self) -> None:
        """Restart the minimums at the current counts."""
        self.fewest = {}
        self.breaches = {}

    def budgets_of(self, pod: FollowedPod) -> list[FollowedBudget]:
        """Return the budgets that select a pod."""
        if pod.namespace not in self._budgets:
            return []
        key = (pod.namespace, frozenset(pod.labels.items()))
        found = self._selecting.get(key)
        if found is None:
            budgets = self._budgets[pod.namespace]
            found = self._selecting[key] = [each for each in budgets if each.selector.matches(pod.labels)]
        return found

    def why_not_evicted(self, pod: FollowedPod, *, healthy: bool) -> str:
        """Return why the Eviction API denies evicting a pod now; "" if it allows it."""
        if pod.is_unready and pod.pod.phase == "Pending":  # the Eviction API checks no budget for a Pending pod
            return ""
        rows = [
            (each.name, each.healthy, each.needed, each.budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow")
            for each in self.budgets_of(pod)
        ]
        return why_not(rows, healthy=healthy)

    def recount(self) -> None:
        """Update disruptionsAllowed in every budget's status."""
        for budgets in self._budgets.values():
            for each in budgets:
                status = replace(
                    each.budget.status or PodDisruptionBudgetStatus(),
                    disruptions_allowed=max(0, each.healthy - each.needed),
                    current_healthy=each.healthy,
                )
                self._cluster.objects.put(replace(each.budget, status=status))
