"""Tolerations as the API server checks them; what they tolerate is elsewhere.

Source: ValidateTolerations in pkg/apis/core/validation/validation.go (Kubernetes 1.37, where the operators Lt and Gt
exist but are refused unless their feature gate is on).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from . import names
from .field import FieldError, Named, invalid, not_supported, printed
from .labels import check_label_key
from .options import Options
from .rules import check_fields

Json = dict[str, Any]

_is_decimal = re.compile("0|-?[1-9][0-9]*").fullmatch
_is_go_decimal = re.compile("[+-]?[0-9]+").fullmatch


def check_tolerations(path: str, tolerations: Sequence[Json], options: Options) -> Iterator[FieldError]:
    """``spec.tolerations``."""
    for index, toleration in enumerate(tolerations):
        inner = f"{path}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        if key:
            yield from check_label_key(f"{inner}.key", key)
        elif operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid(f"{inner}.operator", Named(operator), detail)
        effect = toleration.get("effect", "")
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            yield invalid(
                f"{inner}.effect", Named(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set"
            )
        yield from _check_operator(inner, toleration, options)
        yield from check_fields(inner, "Toleration", toleration)


def _check_operator(path: str, toleration: Json, options: Options) -> Iterator[FieldError]:
    operator, value = toleration.get("operator", ""), toleration.get("value", "")
    if operator in ("Equal", ""):
        reasons = names.label_value(value)
        if reasons:
            yield invalid(f"{path}.operator", value, ";".join(reasons))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator in ("Lt", "Gt") and options.comparison_operators:
        yield from _check_number(f"{path}.value", value)
    else:
        known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
        yield not_supported(f"{path}.operator", Named(operator), known)


def _check_number(path: str, value: str) -> Iterator[FieldError]:
    """A value to compare with: a decimal integer of 64 bits (IsDecimalInteger, strconv.ParseInt)."""
    if not value:
        yield invalid(path, value, "must be non-empty")
    elif not _is_decimal(value):
        yield invalid(path, value, "must be a valid decimal integer in canonical form")
    if not _is_go_decimal(value):
        yield invalid(path, value, f"strconv.ParseInt: parsing {printed(value)}: invalid syntax")
    elif not -(2**63) <= int(value) < 2**63:
        yield invalid(path, value, f"strconv.ParseInt: parsing {printed(value)}: value out of range")
