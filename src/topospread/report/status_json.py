"""A status as plain data: documented in ``docs/reference/status.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

if TYPE_CHECKING:
    from topospread.spread_status import ConstraintStatus, DomainRisk, Loss, RefusedPod, SpreadStatus, WorkloadStatus

Json = dict[str, Any]


def status_json(status: SpreadStatus) -> Json:
    """The whole status, its keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Status",
        "nodes": status.nodes,
        "exceeded": len(status.exceeded),
        "workloads": [_workload(each) for each in status.workloads],
        "domains": [_domain(each) for each in status.domains],
        "warnings": list(status.warnings),
        "notes": list(status.notes),
    }


def _workload(each: WorkloadStatus) -> Json:
    return {
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "replicas": each.replicas,
        "existing": each.existing,
        "missing": each.missing,
        "spread": [_constraint(constraint) for constraint in each.constraints],
        "refused": [_refused(pod) for pod in each.refused],
        "losses": [_loss(loss) for loss in each.losses],
        "notes": list(each.notes),
    }


def _constraint(each: ConstraintStatus) -> Json:
    return {
        "topologyKey": each.topology_key,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "maxSkew": each.max_skew,
        "minDomains": each.min_domains,
        "origin": each.origin,
        "revision": each.revision or None,
        "selector": each.selector,
        "self": each.counts_itself,
        "skew": each.skew,
        "exceeded": bool(each.excess),
        "minimum": each.minimum,
        "domains": {domain.name: domain.matching for domain in each.domains},
        "nodes": {domain.name: domain.nodes for domain in each.domains},
        "counted": dict(each.counted),
        "empty": {"count": each.empty, "domains": list(each.empty_names)},
        "leftOut": [{"reason": left.reason, "count": left.count, "nodes": list(left.names)} for left in each.left_out],
    }


def _refused(each: RefusedPod) -> Json:
    return {"pod": each.name, "node": each.node, "plugin": each.plugin, "reasons": list(each.reasons)}


def _loss(each: Loss) -> Json:
    return {
        "topologyKey": each.topology_key,
        "domain": each.domain,
        "lost": each.lost,
        "of": each.of,
        "share": round(each.share, 4),
    }


def _domain(each: DomainRisk) -> Json:
    return {
        "topologyKey": each.topology_key,
        "name": each.name,
        "nodes": each.nodes,
        "pods": each.pods,
        "workloads": each.workloads,
        "losesAll": list(each.loses_all),
        "losesMost": [{"workload": name, "lost": loss.lost, "of": loss.of} for name, loss in each.loses_most],
        "single": each.single,
    }
