"""Pods that stay pending: what each domain is for them, and which later placements are worth another try."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np

from topospread.cluster import Cluster
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict
from topospread.workloads.planned import Workload

from .result import DomainOutcome, PendingGroup
from .run import Outcome


class LatestBinds:
    """When a pod last came to the cluster, by namespace, so that pending pods it can help are tried again.

    What came before it was made is not looked at: no pod was tried then.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read = cluster.journal.position
        self._latest: dict[str, int] = {}

    def catch_up(self) -> bool:
        """Read what happened since the last time."""
        journal = self._cluster.journal
        changes = journal.since(self._read, self)
        start = self._read if changes is not None else journal.position - len(journal.kept)
        for position, (_, pod_class, delta) in enumerate(journal.kept if changes is None else changes, start):
            if pod_class is not None and delta > 0:
                self._latest[pod_class.namespace] = position
        self._read = journal.position
        return True

    def rewind(self, position: int) -> None:
        """The newest changes were taken back; the run that they belong to is over."""
        self._read = max(position, 0)

    def may_help(self, namespace: str, verdict: Verdict | None, position: int) -> bool:
        """Whether since a journal position a pod came that a plugin which rejected this pod may count.

        PodTopologySpread counts pods of the same namespace; InterPodAffinity those of any
        (``isSchedulableAfterAssignedPodChange``).
        """
        plugins = {each.plugin for each in verdict.rejections} if verdict is not None else set()
        if "InterPodAffinity" in plugins:
            return max(self._latest.values(), default=-1) >= position
        return "PodTopologySpread" in plugins and self._latest.get(namespace, -1) >= position


def pending_group(workload: Workload, pods: tuple[str, ...], outcome: Outcome, cluster: Cluster) -> PendingGroup:
    """Pending pods with what each domain of each hard constraint is for them."""
    verdict = outcome.verdict
    outcomes: tuple[tuple[ConstraintArithmetic, tuple[DomainOutcome, ...]], ...] = ()
    if verdict is not None and not verdict.error:
        outcomes = tuple((each, domain_outcomes(each, verdict, cluster)) for each in verdict.arithmetic if each.hard)
    return PendingGroup(
        workload=f"{workload.kind}/{workload.name}",
        namespace=workload.namespace,
        pods=pods,
        message=outcome.placement.message,
        preemption=outcome.preemption.sentence if outcome.preemption else "",
        verdict=verdict,
        outcomes=outcomes,
    )


def domain_outcomes(arithmetic: ConstraintArithmetic, verdict: Verdict, cluster: Cluster) -> tuple[DomainOutcome, ...]:
    """Each domain of a constraint, with why its nodes reject the pod."""
    reasons = reasons_by_domain(arithmetic, verdict, cluster)
    return tuple(DomainOutcome(domain, reasons.get(domain.name, {})) for domain in arithmetic.domains)


def reasons_by_domain(
    arithmetic: ConstraintArithmetic, verdict: Verdict, cluster: Cluster
) -> dict[str, dict[str, int]]:
    """Domain → reason → nodes that reject the pod for it."""
    column = cluster.nodes.labels(arithmetic.topology_key)
    row_of = cluster.nodes.row_of
    codes = column.codes[np.fromiter((row_of[node] for node in verdict.nodes), np.int64, len(verdict.nodes))]
    kinds = len(verdict.rejections)  # none where the pod cannot be judged
    rejected = np.flatnonzero((verdict.blame >= 0) & (codes >= 0)) if kinds else np.zeros(0, np.int64)
    pairs, counts = np.unique(codes[rejected] * kinds + verdict.blame[rejected], return_counts=True)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        for reason in verdict.rejections[pair % kinds].reasons:
            reasons[column.values[pair // kinds]][reason] += count
    return {domain: dict(found) for domain, found in reasons.items()}
