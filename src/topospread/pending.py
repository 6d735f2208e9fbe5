"""Pods that stay pending: what each domain is for them, and which later placements are worth another try."""

from __future__ import annotations

from collections import Counter

from topospread.api.pod import Pod
from topospread.cluster import NODE_CHANGED, Cluster
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.verdict import Verdict
from topospread.simulation import DomainOutcome, PendingGroup
from topospread.workloads.planned import Workload

_HELPED_BY_PODS = frozenset({"PodTopologySpread", "InterPodAffinity"})
"""Plugins whose rejection a pod placed elsewhere can lift; kube-scheduler's queueing hints say the same."""


class MatchingBinds:
    """Whether something was placed that can help a pending pod (``isSchedulableAfterAssignedPodChange``)."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._cluster = scheduler.cluster

    def may_help(self, pod: Pod, verdict: Verdict | None, position: int) -> bool:
        """Whether since a journal position a pod came that a plugin which rejected this pod counts.

        PodTopologySpread counts pods of the same namespace; InterPodAffinity those of any.
        """
        if verdict is None:
            return False
        plugins = {each.plugin for each in verdict.rejections} & _HELPED_BY_PODS
        if not plugins:
            return False
        changes = self._cluster.journal.since(position)
        if changes is None:
            return True
        classes = self._cluster.classes
        return any(
            delta > 0 and ("InterPodAffinity" in plugins or classes[index].namespace == pod.namespace)
            for _, index, delta in changes
            if index != NODE_CHANGED
        )


def pending_group(
    workload: Workload, pods: tuple[str, ...], message: str, verdict: Verdict | None, cluster: Cluster
) -> PendingGroup:
    """Pending pods with what each domain of each hard constraint is for them."""
    outcomes: tuple[tuple[ConstraintArithmetic, tuple[DomainOutcome, ...]], ...] = ()
    if verdict is not None and not verdict.error:
        outcomes = tuple((each, domain_outcomes(each, verdict, cluster)) for each in verdict.arithmetic if each.hard)
    return PendingGroup(
        workload=f"{workload.kind}/{workload.name}",
        namespace=workload.namespace,
        pods=pods,
        message=message,
        verdict=verdict,
        outcomes=outcomes,
    )


def domain_outcomes(arithmetic: ConstraintArithmetic, verdict: Verdict, cluster: Cluster) -> tuple[DomainOutcome, ...]:
    """For each domain of a constraint, why its nodes reject the pod."""
    column = cluster.nodes.labels(arithmetic.topology_key)
    reasons: dict[str, Counter[str]] = {domain.name: Counter() for domain in arithmetic.domains}
    for node, rejection in verdict.rejected.items():
        row = cluster.nodes.row_of.get(node)
        code = int(column.codes[row]) if row is not None else -1
        if code >= 0 and column.values[code] in reasons:
            reasons[column.values[code]].update(rejection.reasons)
    return tuple(DomainOutcome(domain, dict(reasons[domain.name])) for domain in arithmetic.domains)
