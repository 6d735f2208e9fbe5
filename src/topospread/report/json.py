"""A simulation as plain data: documented in ``docs/reference/simulation.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import Any

from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation import PendingGroup, PodPlacement, Simulation, WorkloadResult, WorkloadSpread

API_VERSION = "topospread.dev/v1"
Json = dict[str, Any]


def simulation_json(simulation: Simulation, namespace: str | None = None) -> Json:
    """The whole result; ``namespace`` restricts what is shown, not what was simulated."""

    def shown(of: str) -> bool:
        return namespace in (None, of)

    return {
        "apiVersion": API_VERSION,
        "kind": "Simulation",
        "nodes": simulation.nodes,
        "placements": [_placement(each) for each in simulation.placements if shown(each.namespace)],
        "workloads": [_workload(each) for each in simulation.workloads if shown(each.namespace)],
        "pending": [_pending(each) for each in simulation.pending if shown(each.namespace)],
        "evictions": [
            {
                "namespace": each.namespace,
                "name": each.name,
                "node": each.node,
                "workload": each.workload,
                "preemptor": each.preemptor,
                "createdAnew": each.created_anew or None,
            }
            for each in simulation.evictions
        ],
        "removed": [{"pod": pod, "node": node or None} for pod, node in simulation.removed.items()],
        "foreign": dict(sorted(simulation.foreign.items())),
        "skipped": dict(sorted(simulation.skipped.items())),
        "warnings": list(simulation.warnings),
        "notes": list(simulation.notes),
    }


def _placement(each: PodPlacement) -> Json:
    return {
        "namespace": each.namespace,
        "name": each.name,
        "workload": each.workload,
        "node": each.node,
        "message": each.message,
        "score": each.score,
    }


def _workload(each: WorkloadResult) -> Json:
    return {
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "replicas": each.replicas,
        "existing": each.existing,
        "placed": each.placed,
        "pending": each.pending,
        "spread": [_spread(spread) for spread in each.spread],
        "notes": list(each.notes),
    }


def _spread(each: WorkloadSpread) -> Json:
    return {
        "topologyKey": each.topology_key,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "maxSkew": each.max_skew,
        "minDomains": each.arithmetic.min_domains,
        "origin": each.origin,
        "skew": each.skew,
        "domains": {domain.name: domain.after for domain in each.domains},
        "before": {domain.name: domain.before for domain in each.domains},
        "nodes": {domain.name: domain.nodes for domain in each.domains},
    }


def _pending(each: PendingGroup) -> Json:
    return {
        "namespace": each.namespace,
        "workload": each.workload,
        "pods": list(each.pods),
        "message": each.message,
        "preemption": each.preemption,
        "constraints": [
            arithmetic_json(arithmetic, {outcome.domain.name: outcome.rejected for outcome in outcomes})
            for arithmetic, outcomes in each.outcomes
        ],
    }


def arithmetic_json(arithmetic: ConstraintArithmetic, rejected: dict[str, dict[str, int]] | None = None) -> Json:
    """What a constraint counts, domain by domain; ``rejected``: domain → reason → nodes."""
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
        "domains": [
            {
                "name": domain.name,
                "matching": domain.matching,
                "nodes": domain.nodes,
                "skew": domain.skew,
                "allowed": domain.allowed,
                "rejected": (rejected or {}).get(domain.name, {}),
            }
            for domain in arithmetic.domains
        ],
        "leftOut": [{"reason": each.reason, "nodes": list(each.nodes)} for each in arithmetic.left_out],
    }
