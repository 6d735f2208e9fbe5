"""Toleration of taints (k8s.io/api/core/v1/toleration.go, component-helpers corev1/helpers.go)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from .labels import parse_int64
from .node import Node
from .node_selection import Taint, Toleration

DO_NOT_SCHEDULE_EFFECTS = frozenset({"NoSchedule", "NoExecute"})
"""Effects that reject pods that do not tolerate the taint; PreferNoSchedule only lowers the score."""

UNSCHEDULABLE_TAINT = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
"""The taint of a cordoned node."""

_CANONICAL_INTEGER = re.compile(r"0|-?[1-9][0-9]*")


def with_taint_of_cordon(node: Node) -> Node:
    """Return the node; a cordoned node without `UNSCHEDULABLE_TAINT` gets it."""
    taints = node.spec.taints or []
    if not node.spec.unschedulable or any(_is_of_cordon(each) for each in taints):
        return node
    return replace(node, spec=replace(node.spec, taints=[*taints, UNSCHEDULABLE_TAINT]))


def _is_of_cordon(taint: Taint) -> bool:
    return (taint.key, taint.effect) == (UNSCHEDULABLE_TAINT.key, UNSCHEDULABLE_TAINT.effect)


def tolerates(toleration: Toleration, taint: Taint, *, comparison_operators: bool = False) -> bool:
    """Return whether one toleration tolerates one taint.

    ``comparison_operators``: whether the operators Lt and Gt are enabled (TaintTolerationComparisonOperators).
    """
    if (toleration.effect or taint.effect) != taint.effect or (toleration.key or taint.key) != taint.key:
        return False
    match toleration.operator or "Equal":
        case "Equal":
            return (toleration.value or "") == (taint.value or "")
        case "Exists":
            return True
        case "Lt" | "Gt" if comparison_operators:
            limit, value = _integer(toleration.value), _integer(taint.value)
            if limit is None or value is None:
                return False
            return value < limit if toleration.operator == "Lt" else value > limit
        case _:
            return False


def untolerated(
    taints: Iterable[Taint],
    tolerations: Iterable[Toleration],
    effects: Collection[str] = DO_NOT_SCHEDULE_EFFECTS,
    *,
    comparison_operators: bool = False,
) -> list[Taint]:
    """Return the taints of these effects that no toleration tolerates, in their order."""
    allowed = list(tolerations)
    return [
        taint
        for taint in taints
        if taint.effect in effects
        and not any(tolerates(each, taint, comparison_operators=comparison_operators) for each in allowed)
    ]


def _integer(text: str | None) -> int | None:
    return parse_int64(text) if text is not None and _CANONICAL_INTEGER.fullmatch(text) else None
