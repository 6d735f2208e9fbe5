"""Pending pods, and why each domain of their constraints rejects them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from topospread.api.pod import PodSpec
from topospread.cluster import Cluster
from topospread.controllers.planned import Workload
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.scheduling.verdict import Verdict

from .result import DomainOutcome, PendingGroup
from .run import PodOutcome


def pending_group(workload: Workload, pods: tuple[str, ...], outcome: PodOutcome, cluster: Cluster) -> PendingGroup:
    """Return pending pods, with the state of each domain of their hard constraints."""
    verdict = outcome.verdict
    outcomes: tuple[tuple[ConstraintArithmetic, tuple[DomainOutcome, ...]], ...] = ()
    if verdict is not None and not verdict.error:
        outcomes = tuple((each, domain_outcomes(each, verdict, cluster)) for each in verdict.arithmetic if each.hard)
    return PendingGroup(
        workload=f"{workload.kind}/{workload.name}",
        namespace=workload.namespace,
        pods=pods,
        message=outcome.message_of(f"{workload.namespace}/{pods[0]}"),
        preemption=outcome.preemption.sentence if outcome.preemption else "",
        verdict=verdict,
        outcomes=outcomes,
        unmatched=()
        if verdict is None or verdict.error or workload.template is None
        else tuple(unmatched_labels(workload.template.spec, cluster)),
    )


def unmatched_labels(spec: PodSpec, cluster: Cluster) -> Iterator[str]:
    """Yield the labels of a ``nodeSelector`` that no node has: ``disk=ssd``."""
    for key, value in (spec.node_selector or {}).items():
        if not any(node is not None and node.labels.get(key) == value for node in cluster.nodes.nodes):
            yield f"{key}={value}"


def domain_outcomes(arithmetic: ConstraintArithmetic, verdict: Verdict, cluster: Cluster) -> tuple[DomainOutcome, ...]:
    """Return each domain of a constraint, with the reasons why its nodes reject the pod."""
    reasons = reasons_by_domain(arithmetic, verdict, cluster)
    return tuple(DomainOutcome(domain, reasons.get(domain.name, {})) for domain in arithmetic.domains)


def reasons_by_domain(
    arithmetic: ConstraintArithmetic, verdict: Verdict, cluster: Cluster
) -> dict[str, dict[str, int]]:
    """Return domain of a constraint → reason → number of nodes that reject the pod for this reason."""
    return reasons_by_domain_of(arithmetic.topology_key, verdict, cluster)


def reasons_by_domain_of(topology_key: str, verdict: Verdict, cluster: Cluster) -> dict[str, dict[str, int]]:
    """Return domain of a topology key → reason → number of nodes that reject the pod for this reason."""
    column = cluster.nodes.labels(topology_key)
    rows, names = cluster.nodes.there
    if verdict.nodes is not names:
        row_of = cluster.nodes.row_of
        rows = np.fromiter((row_of[node] for node in verdict.nodes), np.int64, len(verdict.nodes))
    codes = column.codes[rows]
    kinds = len(verdict.rejections)  # 0 if the pod could not be judged
    rejected = np.flatnonzero((verdict.blame >= 0) & (codes >= 0)) if kinds else np.zeros(0, np.int64)
    pairs, counts = np.unique(codes[rejected] * kinds + verdict.blame[rejected], return_counts=True)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        for reason in verdict.rejections[pair % kinds].reasons:
            reasons[column.values[pair // kinds]][reason] += count
    return {domain: dict(found) for domain, found in reasons.items()}
