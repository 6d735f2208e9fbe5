"""The API server's validation of Nodes, as far as scheduling is concerned; not addresses or CIDRs.

Source: ValidateNode in pkg/apis/core/validation/validation.go (Kubernetes 1.37), whose paths of taints start at
``metadata``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from . import names
from .field import FieldError, all_invalid, duplicate, invalid
from .resources import check_amount
from .rules import check_fields

Json = dict[str, Any]

_LONGEST_FEATURE: Final = 253
_is_feature = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*").fullmatch


def check_node(made: Json) -> Iterator[FieldError]:
    """Taints, resources and declared features of a new Node; its metadata is checked elsewhere."""
    yield from _check_taints("metadata.taints", made.get("spec", {}).get("taints", ()))
    status = made.get("status", {})
    capacity = status.get("capacity", {})
    # Without allocatable, its capacity is (SetDefaults_NodeStatus).
    for field, amounts in (("capacity", capacity), ("allocatable", status.get("allocatable", capacity))):
        path = f"status.{field}"
        for name, quantity in amounts.items():
            yield from check_amount(f"{path}.{name}", name, quantity.rounded_to_milli())
    yield from _check_features("status.declaredFeatures", status.get("declaredFeatures", ()))


def _check_taints(path: str, taints: Sequence[Json]) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        inner = f"{path}[{index}]"
        key, value, effect = (taint.get(field, "") for field in ("key", "value", "effect"))
        yield from all_invalid(f"{inner}.key", key, names.label_key(key))
        reasons = names.label_value(value)
        if reasons:
            yield invalid(f"{inner}.value", value, ";".join(reasons))
        yield from check_fields(inner, "Taint", taint)
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            yield duplicate(inner, shown, "taints must be unique by key and effect pair")
        seen.add((key, effect))


def _check_features(path: str, features: Sequence[str]) -> Iterator[FieldError]:
    for index, feature in enumerate(features):
        inner = f"{path}[{index}]"
        if len(feature.encode()) > _LONGEST_FEATURE:
            detail = f'invalid feature name "{feature}": must be no more than {_LONGEST_FEATURE} characters'
            yield invalid(inner, feature, detail)
        elif not _is_feature(feature):
            detail = (
                f'invalid feature name "{feature}": must start with an UpperCamelCase segment, with subsequent '
                "segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric "
                "characters and slashes"
            )
            yield invalid(inner, feature, detail)
        if index and features[index - 1] == feature:
            yield duplicate(inner, feature)
        elif index and features[index - 1].encode() > feature.encode():
            yield invalid(inner, feature, "list must be sorted alphabetically")
