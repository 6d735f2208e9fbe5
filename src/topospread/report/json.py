"""A simulation as plain data: documented in ``docs/reference/simulation.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION, Bounds

from .namespace import in_namespace
from .pools import pool_json
from .sums import plain_sum

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain
    from topospread.scheduling.verdict import Verdict
    from topospread.simulation import (
        DomainOutcome,
        Eviction,
        PendingGroup,
        PodPlacement,
        Simulation,
        WorkloadResult,
        WorkloadSpread,
    )
    from topospread.workloads.autoscaling import Autoscaling
    from topospread.workloads.dropped_fields import UnusedField

Json = dict[str, Any]


def simulation_json(simulation: Simulation, namespace: str | None = None) -> Json:
    """The whole result, its keys always in the same order; ``namespace`` restricts what is shown.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = simulation if namespace is None else in_namespace(simulation, namespace)
    return {
        "apiVersion": API_VERSION,
        "kind": "Simulation",
        "verdict": simulation.verdict,
        "unjudged": [each.to_dict() for each in shown.unjudged],
        "openPods": list(shown.open_pods),
        "nodes": shown.nodes,
        "placements": [_placement(each) for each in shown.placements],
        "workloads": [_workload(each, shown) for each in shown.workloads],
        "pending": [pending_json(each) for each in shown.pending],
        "evictions": [eviction_json(each) for each in shown.evictions],
        "removed": [{"pod": pod, "node": node or None} for pod, node in shown.removed.items()],
        "pools": [pool_json(each) for each in shown.pools],
        "foreign": dict(sorted(shown.foreign.items())),
        "skipped": dict(sorted(shown.skipped.items())),
        "droppedFields": [_unused(each) for each in shown.unused if each.outcome == "dropped"],
        "ignoredFields": [_unused(each) for each in shown.unused if each.outcome == "ignored"],
        "warnings": list(shown.warnings),
        "notes": list(shown.notes),
    }


def names(simulation: Simulation, namespace: str | None = None) -> str:
    """``pod/NAME NODE``, a line a placement in queue order; ``<none>`` for a pod that stays pending.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = simulation if namespace is None else in_namespace(simulation, namespace)
    return "".join(f"pod/{each.name} {each.node or '<none>'}\n" for each in shown.placements)


def _unused(each: UnusedField) -> Json:
    return {
        "kind": each.kind,
        "namespace": each.namespace or None,
        "name": each.name,
        "path": each.path,
        "featureGate": each.gate or None,
    }


def _placement(each: PodPlacement) -> Json:
    return {
        "namespace": each.namespace,
        "name": each.name,
        "workload": each.workload,
        "node": each.node,
        "message": each.message,
        "score": each.score,
        "nominatedNode": each.nominated_node or None,
    }


def _workload(each: WorkloadResult, simulation: Simulation) -> Json:
    bounds = simulation.bounds.get(f"{each.namespace}/{each.kind}/{each.name}", Bounds.exactly(each.placed))
    return {
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "replicas": each.replicas,
        "autoscaler": _autoscaler(each.autoscaling) if each.autoscaling is not None else None,
        "existing": each.existing,
        "placed": each.placed,
        "placedBounds": bounds.to_dict(),
        "pending": each.pending,
        "spread": [spread_json(spread) for spread in each.spread],
        "notes": list(each.notes),
    }


def _autoscaler(each: Autoscaling) -> Json:
    return {"name": each.name, "minReplicas": each.least, "maxReplicas": each.most, "givenReplicas": each.given}


def spread_json(each: WorkloadSpread) -> Json:
    """A constraint of a workload, before and after."""
    names = each.domains.names
    return {
        "topologyKey": each.topology_key,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "maxSkew": each.max_skew,
        "minDomains": each.arithmetic.min_domains,
        "origin": each.origin,
        "skew": each.skew,
        "minimum": each.arithmetic.minimum,
        "domains": dict(zip(names, each.domains.after.tolist(), strict=True)),
        "before": dict(zip(names, each.domains.before.tolist(), strict=True)),
        "nodes": {domain.name: domain.nodes for domain in each.arithmetic.domains},
        "rejected": {name: dict(reasons) for name, reasons in each.domains.rejected.items()},
        "counted": dict(each.counted),
        "exceeded": each.exceeded or None,
        "leftOut": left_out_json(each.arithmetic),
    }


def pending_json(each: PendingGroup) -> Json:
    """Pods that stay pending with one message."""
    return {
        "namespace": each.namespace,
        "workload": each.workload,
        "pods": list(each.pods),
        "message": each.message,
        "preemption": each.preemption,
        "rejections": rejections_json(each.verdict) if each.verdict is not None else [],
        "constraints": [_constraint(arithmetic, outcomes) for arithmetic, outcomes in each.outcomes],
    }


def rejections_json(verdict: Verdict) -> list[Json]:
    """How many nodes were rejected for what, most first."""
    return [
        {"plugin": each.plugin, "code": each.code, "reasons": list(each.reasons), "nodes": nodes}
        for each, nodes in Counter(verdict.rejected.values()).most_common()
    ]


def _constraint(arithmetic: ConstraintArithmetic, outcomes: tuple[DomainOutcome, ...]) -> Json:
    """What a hard constraint counts, domain by domain."""
    return {
        **constraint_json(arithmetic),
        "domains": [_domain(arithmetic, each.domain, each.rejected) for each in outcomes],
        "leftOut": left_out_json(arithmetic),
    }


def constraint_json(arithmetic: ConstraintArithmetic) -> Json:
    """A constraint as it is in force, and its minimum."""
    return {
        "topologyKey": arithmetic.topology_key,
        "whenUnsatisfiable": arithmetic.when_unsatisfiable,
        "maxSkew": arithmetic.max_skew,
        "minDomains": arithmetic.min_domains,
        "origin": arithmetic.origin,
        "selector": arithmetic.selector,
        "self": arithmetic.counts_itself,
        "minimum": arithmetic.minimum,
        "minimumDomains": list(arithmetic.minimum_domains),
    }


def _domain(arithmetic: ConstraintArithmetic, domain: Domain, rejected: Mapping[str, int]) -> Json:
    return {
        "name": domain.name,
        "matching": domain.matching,
        "nodes": domain.nodes,
        "skew": domain.skew,
        "allowed": domain.allowed,
        "arithmetic": plain_sum(arithmetic, domain),
        "rejected": dict(rejected),
    }


def left_out_json(arithmetic: ConstraintArithmetic) -> list[Json]:
    """Nodes that take no part in a constraint, by reason."""
    return [{"reason": each.reason, "nodes": list(each.nodes)} for each in arithmetic.left_out]


def eviction_json(each: Eviction) -> Json:
    """An evicted pod, and for whom."""
    return {
        "namespace": each.namespace,
        "name": each.name,
        "node": each.node,
        "workload": each.workload,
        "preemptor": each.preemptor,
        "createdAnew": each.created_anew or None,
    }
