"""A rebalancing as plain data: documented in ``docs/reference/rebalance.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

if TYPE_CHECKING:
    from topospread.rebalancing import ConstraintChange, PodMove, Rebalance, UnmetConstraint
    from topospread.rebalancing.result import Applied

Json = dict[str, Any]


def rebalance_json(found: Rebalance) -> Json:
    """The whole answer, its keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Rebalance",
        "nodes": found.nodes,
        "met": found.is_met,
        "evictions": [_move(each) for each in found.moves],
        "bound": {
            "evictions": found.bound,
            "by": found.bound_by,
            "proved": found.is_proved,
            "impossible": found.impossible,
        },
        "constraints": [_constraint(each) for each in found.constraints],
        "unmet": [_unmet(each) for each in found.unmet],
        "softLeft": found.soft,
        "pending": found.pending,
        "warnings": list(found.warnings),
        "notes": list(found.notes),
        "partial": found.partial,
    }


def _move(each: PodMove) -> Json:
    return {
        "namespace": each.namespace,
        "name": each.name,
        "workload": each.workload,
        "node": each.node,
        "created": each.created,
        "target": each.target,
        "uid": each.uid or None,
        "domains": {key: {"from": old, "to": new} for key, (old, new) in each.domains.items()},
    }


def applied_json(applied: Applied) -> Json:
    """What was evicted in a cluster, in the order of the evictions, and why it ended there."""
    return {
        "evictions": [
            {"namespace": each.move.namespace, "name": each.move.name, "created": each.created, "node": each.node}
            for each in applied.done
        ],
        "surprise": applied.surprise or None,
        "begun": applied.begun or None,
        "partial": applied.partial,
    }


def _constraint(each: ConstraintChange) -> Json:
    return {
        "kind": each.kind,
        "namespace": each.namespace,
        "name": each.name,
        "topologyKey": each.topology_key,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "maxSkew": each.max_skew,
        "highest": each.highest,
        "skewBefore": each.skew_before,
        "skew": each.skew_after,
        "met": each.is_met,
        "fewest": each.fewest,
        "before": dict(each.before),
        "after": dict(each.after),
    }


def _unmet(each: UnmetConstraint) -> Json:
    return {
        "workload": each.workload,
        "topologyKey": each.topology_key,
        "skew": each.skew,
        "highest": each.highest,
        "why": each.why,
        "returns": each.returns,
        "helps": [{"what": help_.what, "says": help_.says, "tried": help_.tried} for help_ in each.helps],
    }
