"""kube-scheduler's validation of ``addedAffinity``, the node affinity in its configuration.

Source: component-helpers' scheduling/corev1/nodeaffinity/nodeaffinity.go and apimachinery's labels.NewRequirement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from topospread.api.labels import parse_int64
from topospread.api.validation import names
from topospread.api.validation.field import FieldError, Named, invalid, not_supported

Args = Mapping[str, Any]
Errors = Iterator[FieldError]

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")


def added_affinity_errors(path: str, affinity: Args) -> Errors:
    """Return the selector terms that do not parse. Preferred terms of weight 0 are skipped."""
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    where = f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    for index, term in enumerate(required.get("nodeSelectorTerms", ())):
        yield from _term(f"{where}[{index}]", term)
    where = f"{path}.preferredDuringSchedulingIgnoredDuringExecution"
    for index, preferred in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution", ())):
        if preferred.get("weight", 0) != 0:
            yield from _term(f"{where}[{index}]", preferred.get("preference", {}))


def _term(path: str, term: Args) -> Errors:
    for index, requirement in enumerate(term.get("matchExpressions", ())):
        yield from _label_requirement(f"{path}.matchExpressions[{index}]", requirement)
    for index, requirement in enumerate(term.get("matchFields", ())):
        yield from _field_requirement(f"{path}.matchFields[{index}]", requirement)


def _label_requirement(path: str, requirement: Args) -> Errors:
    key, operator = requirement.get("key", ""), requirement.get("operator", "")
    values: Sequence[str] = requirement.get("values", ())
    if operator not in _OPERATORS:
        yield not_supported(f"{path}.operator", Named(operator), _OPERATORS)
        return
    if reasons := names.label_key(key):
        yield invalid(f"{path}.key", key, "; ".join(reasons))
    yield from _value_count(f"{path}.values", operator, requirement.get("values"))
    for index, value in enumerate(values):
        where = f"{path}.values[{index}]"
        if operator in ("Gt", "Lt") and parse_int64(value) is None:
            yield invalid(where, value, "for 'Gt', 'Lt' operators, the value must be an integer")
        if reasons := names.label_value(value):
            yield invalid(f"{where}[{key}]", value, "; ".join(reasons))


def _value_count(path: str, operator: str, values: Sequence[str] | None) -> Errors:
    count = len(values or ())
    if operator in ("In", "NotIn") and count == 0:
        yield invalid(path, values, "for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist") and count:
        yield invalid(path, values, "values set must be empty for exists and does not exist")
    elif operator in ("Gt", "Lt") and count != 1:
        yield invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required")


def _field_requirement(path: str, requirement: Args) -> Errors:
    operator, values = requirement.get("operator", ""), requirement.get("values")
    if operator not in _FIELD_OPERATORS:
        yield not_supported(f"{path}.operator", Named(operator), _FIELD_OPERATORS)
    elif len(values or ()) != 1:
        yield invalid(f"{path}.values", values, "must have one element")
