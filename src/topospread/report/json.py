"""Parts of explanations as plain data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic
    from topospread.scheduling.verdict import Verdict

Json = dict[str, Any]


def rejections_json(verdict: Verdict) -> list[Json]:
    """How many nodes were rejected for what, most first."""
    return [
        {"plugin": each.plugin, "code": each.code, "reasons": list(each.reasons), "nodes": nodes}
        for each, nodes in Counter(verdict.rejected.values()).most_common()
    ]


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


def left_out_json(arithmetic: ConstraintArithmetic) -> list[Json]:
    """Nodes that take no part in a constraint, by reason."""
    return [{"reason": each.reason, "nodes": list(each.nodes)} for each in arithmetic.left_out]
