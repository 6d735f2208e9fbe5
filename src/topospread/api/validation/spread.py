"""Topology spread constraints as the API server checks them, after matchLabelKeys were merged into the selectors.

Source: validateTopologySpreadConstraints in pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from .field import FieldError, duplicate, invalid, one_of, positive
from .rules import check_fields
from .selectors import check_label_keys, check_label_selector

Json = dict[str, Any]

ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")


def check_spread_constraints(path: str, constraints: Sequence[Json]) -> Iterator[FieldError]:
    """Check ``topologySpreadConstraints``; no two may have the same topologyKey and whenUnsatisfiable."""
    left = Counter(map(_kind, constraints))
    for index, constraint in enumerate(constraints):
        inner = f"{path}[{index}]"
        yield from _check_constraint(inner, constraint)
        kind = _kind(constraint)
        left[kind] -= 1
        if left[kind]:
            yield duplicate(f"{inner}.{{topologyKey, whenUnsatisfiable}}", f"{{{kind[0]}, {kind[1]}}}")


def _kind(constraint: Json) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _check_constraint(path: str, constraint: Json) -> Iterator[FieldError]:
    _, action = _kind(constraint)
    yield from positive(f"{path}.maxSkew", constraint.get("maxSkew", 0))
    yield from one_of(f"{path}.whenUnsatisfiable", action, ACTIONS)
    min_domains = constraint.get("minDomains")
    if min_domains is not None and action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid(f"{path}.minDomains", min_domains, detail)
    yield from check_fields(path, "TopologySpreadConstraint", constraint)
    yield from check_label_keys(path, constraint)
    yield from check_label_selector(f"{path}.labelSelector", constraint.get("labelSelector"))
