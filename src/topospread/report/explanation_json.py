"""An explanation as plain data: documented in ``docs/reference/explanation.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

from .json import constraint_json, left_out_json, rejections_json
from .sums import plain_sum

if TYPE_CHECKING:
    from topospread.explanation import (
        ConstraintTable,
        Explanation,
        NearNode,
        PluginRejections,
        ScoreTable,
        SpreadScore,
        Suggestion,
        Without,
    )
    from topospread.explanation.tries import Tries

Json = dict[str, Any]


def explanation_json(explanation: Explanation) -> Json:
    """The whole explanation, its keys always in the same order.

    ``rejections`` are of a pod that kube-scheduler could judge.
    """
    verdict = explanation.verdict
    return {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "namespace": explanation.namespace,
        "name": explanation.name,
        "workload": explanation.workload,
        "exists": explanation.exists,
        "state": explanation.state,
        "node": explanation.node,
        "nodes": explanation.nodes,
        "message": explanation.message,
        "preemption": explanation.preemption,
        "pods": {"wanted": explanation.wanted, "pending": explanation.pending},
        "rejections": rejections_json(verdict) if verdict is not None and not verdict.error else [],
        "constraints": [_constraint(each) for each in explanation.constraints],
        "plugins": [_plugin(each) for each in explanation.plugins],
        "nearest": [_near(each) for each in explanation.nearest],
        "suggestions": [_suggestion(each) for each in explanation.suggestions],
        "searched": explanation.searched,
        "untried": explanation.untried,
        "scores": _scores(explanation.scores) if explanation.scores is not None else None,
        "without": [_without(each) for each in explanation.without],
        "evictions": list(explanation.evictions),
        "warnings": list(explanation.warnings),
        "notes": list(explanation.notes),
    } | ({} if explanation.tries is None else {"tries": _tries(explanation.tries)})


def _tries(tries: Tries) -> Json:
    return {"since": tries.since, "atLeast": tries.at_least, "last": tries.last, "message": tries.message}


def _constraint(table: ConstraintTable) -> Json:
    arithmetic = table.arithmetic
    by_name = {each.name: each for each in arithmetic.domains}
    return {
        **constraint_json(arithmetic),
        "counted": dict(table.counted),
        "domains": [
            {
                "name": each.name,
                "nodes": each.nodes,
                "matching": each.matching,
                "after": each.after,
                "skew": each.skew,
                "allowed": each.allowed,
                "holdsMinimum": each.holds_minimum,
                "open": each.open,
                "arithmetic": plain_sum(arithmetic, by_name[each.name]),
                "rejected": dict(each.rejected),
            }
            for each in table.domains
        ],
        "leftOut": left_out_json(arithmetic),
    }


def _plugin(each: PluginRejections) -> Json:
    return {
        "plugin": each.plugin,
        "nodes": each.nodes,
        "alone": each.alone,
        "reasons": dict(each.reasons),
        "details": list(each.details),
    }


def _near(each: NearNode) -> Json:
    return {
        "node": each.node,
        "domains": dict(each.domains),
        "alike": each.alike,
        "obstacles": [
            {"plugin": one.plugin, "code": one.code, "reasons": list(one.reasons), "details": list(one.details)}
            for one in each.obstacles
        ],
    }


def _suggestion(each: Suggestion) -> Json:
    return {
        "kind": each.kind,
        "title": each.title,
        "means": each.means,
        "object": dict(each.object),
        "file": each.file or None,
        "patch": list(each.patch),
        "placed": each.placed,
        "wanted": each.wanted,
        "letsIn": each.lets_in,
        "newlyPending": list(each.newly_pending),
        "evicted": each.evicted,
        "stuckAt": each.stuck_at,
    }


def _scores(table: ScoreTable) -> Json:
    return {
        "chosen": table.chosen,
        "feasible": table.feasible,
        "best": list(table.best),
        "weights": dict(table.weights),
        "nodes": [
            {"node": each.node, "total": each.total, "points": dict(each.points), "alike": each.alike}
            for each in table.nodes
        ],
        "spread": [_spread(each) for each in table.spread],
    }


def _spread(each: SpreadScore) -> Json:
    return {
        "node": each.node,
        "parts": [
            {
                "topologyKey": part.topology_key,
                "domain": part.domain or None,
                "matching": part.matching,
                "domains": part.domains,
                "weight": part.weight,
                "maxSkew": part.max_skew,
                "points": part.points,
            }
            for part in each.parts
        ],
        "raw": each.raw,
        "lowest": each.lowest,
        "highest": each.highest,
        "normalized": each.normalized,
        "weight": each.weight,
    }


def _without(each: Without) -> Json:
    return {
        "topologyKey": each.topology_key,
        "whenUnsatisfiable": each.when_unsatisfiable,
        "position": each.position,
        "origin": each.origin,
        "instead": each.instead or None,
        "node": each.node,
        "total": each.total,
        "equals": each.equals,
    }
