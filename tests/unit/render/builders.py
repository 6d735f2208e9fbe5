"""Simulations built by hand, for tests of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain, LeftOut
from topospread.scheduling.verdict import Rejection, Verdict
from topospread.simulation.result import (
    DomainOutcome,
    DomainSpreads,
    PendingGroup,
    Placement,
    Simulation,
    WorkloadResult,
    WorkloadSpread,
)

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
CPU = "Insufficient cpu"
MEMORY = "Insufficient memory"
CORDONED = "node(s) were unschedulable"
TAINTED = "node(s) had untolerated taint(s)"
SPREAD = "node(s) didn't match pod topology spread constraints"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"

Rejected = Mapping[str, Mapping[str, int]]


def arithmetic(
    counts: Mapping[str, int],
    *,
    key: str = ZONE,
    max_skew: int = 1,
    hard: bool = True,
    origin: str = "pod",
    counts_itself: int = 1,
    min_domains: int = 1,
    nodes: int = 3,
    left_out: Sequence[tuple[str, Sequence[str]]] = (),
) -> ConstraintArithmetic:
    """A constraint's arithmetic from domain → matching pods; every domain has as many nodes."""
    minimum = 0 if len(counts) < min_domains else min(counts.values(), default=0)
    skews = {name: count + counts_itself - minimum for name, count in counts.items()}
    return ConstraintArithmetic(
        topology_key=key,
        when_unsatisfiable="DoNotSchedule" if hard else "ScheduleAnyway",
        max_skew=max_skew,
        position=0,
        origin=origin,  # type: ignore[arg-type]
        selector="app=web",
        counts_itself=counts_itself,
        min_domains=min_domains,
        domains=tuple(
            Domain(name, count, nodes, skews[name], not hard or skews[name] <= max_skew)
            for name, count in sorted(counts.items())
        ),
        minimum=minimum,
        left_out=tuple(LeftOut(reason, tuple(names)) for reason, names in left_out),
    )


def spread(
    after: ConstraintArithmetic, before: Mapping[str, int] | None = None, rejected: Rejected | None = None
) -> WorkloadSpread:
    """How a constraint came out; without ``before`` nothing was there."""
    earlier, reasons = before or {}, rejected or {}
    return WorkloadSpread(
        topology_key=after.topology_key,
        when_unsatisfiable=after.when_unsatisfiable,
        max_skew=after.max_skew,
        origin=after.origin,
        skew=after.skew,
        domains=DomainSpreads(
            [Domain(name, count, 0, 0, True) for name, count in earlier.items()], after.domains, reasons
        ),
        arithmetic=after,
    )


def workload(
    name: str = "web",
    *spreads: WorkloadSpread,
    kind: str = "Deployment",
    namespace: str = "shop",
    existing: int = 0,
    placed: int = 0,
    pending: int = 0,
    notes: Sequence[str] = (),
) -> WorkloadResult:
    """A workload; its replicas are what is placed and pending."""
    return WorkloadResult(kind, namespace, name, placed + pending, existing, placed, pending, spreads, tuple(notes))


def waiting(
    pods: int,
    message: str,
    *constraints: tuple[ConstraintArithmetic, Rejected],
    name: str = "web",
    kind: str = "Deployment",
    preemption: str = "",
    verdict: Verdict | None = None,
) -> PendingGroup:
    """Pods of a workload that wait; a constraint comes with domain → reason → nodes."""
    outcomes = tuple(
        (each, tuple(DomainOutcome(domain, dict(rejected.get(domain.name, {}))) for domain in each.domains))
        for each, rejected in constraints
    )
    names = tuple(f"{name}-{i}" for i in range(pods))
    return PendingGroup(f"{kind}/{name}", "shop", names, message, preemption, verdict, outcomes)


def verdict(rejected: Mapping[str, tuple[str, str]]) -> Verdict:
    """A verdict that rejects every node, from node → (plugin, reason)."""
    kinds = list(dict.fromkeys(rejected.values()))
    return Verdict(
        pod="shop/web-0",
        nodes=tuple(rejected),
        blame=np.array([kinds.index(each) for each in rejected.values()], dtype=np.int64),
        rejections=tuple(Rejection("Unschedulable", plugin, (reason,)) for plugin, reason in kinds),
    )


def placements(nodes: Mapping[str, str | None], workload: str = "Deployment/web") -> tuple[Placement, ...]:
    """Placements from pod → node."""
    return tuple(
        Placement(
            "shop", name, workload, node, None, "" if node else "0/9 nodes are available.", 600 if node else None, None
        )
        for name, node in nodes.items()
    )


def simulation(
    workloads: Sequence[WorkloadResult], pending: Sequence[PendingGroup] = (), nodes: int = 9, **more: object
) -> Simulation:
    """A simulation with these workloads and pending pods."""
    placed = more.pop("placements", ())
    return Simulation(placed, tuple(workloads), tuple(pending), nodes, **more)  # type: ignore[arg-type]
