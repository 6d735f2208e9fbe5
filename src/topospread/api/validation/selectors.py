"""Selectors, spread constraints, affinity and tolerations as the API server checks them.

Sources: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go (label selectors),
pkg/apis/core/validation/validation.go (ValidateNodeSelector and what it calls). Data comes from `schema.decoded`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from . import names
from .field import (
    FieldError,
    Named,
    Options,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    one_of,
    positive,
    printed,
    required,
)
from .names import check_label_key, check_labels
from .rules import check_fields

Json = dict[str, Any]


def check_label_selector(path: str, selector: Json | None) -> Iterator[FieldError]:
    """Check a label selector that may be missing (ValidateLabelSelector)."""
    if selector is None:
        return
    yield from check_labels(f"{path}.matchLabels", selector.get("matchLabels", {}))
    for index, requirement in enumerate(selector.get("matchExpressions", ())):
        yield from _check_requirement(f"{path}.matchExpressions[{index}]", requirement)


def _check_requirement(path: str, requirement: Json) -> Iterator[FieldError]:
    yield from _check_operator(path, requirement)
    yield from check_label_key(f"{path}.key", requirement.get("key", ""))
    yield from _check_values(path, requirement)


def _check_operator(path: str, requirement: Json) -> Iterator[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            yield forbidden(f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(f"{path}.operator", Named(operator), "not a valid selector operator")


def _check_values(path: str, requirement: Json) -> Iterator[FieldError]:
    for index, value in enumerate(requirement.get("values", ())):
        yield from all_invalid(f"{path}.values[{index}]", value, names.label_value(value))


def check_label_keys(path: str, term: Json) -> Iterator[FieldError]:
    """Check matchLabelKeys and mismatchLabelKeys against the labelSelector that contains them.

    Source: ValidateMatchLabelKeysAndMismatchLabelKeys. ``path``: path of the constraint or term.
    """
    selector = term.get("labelSelector")
    match_keys, mismatch_keys = term.get("matchLabelKeys", ()), term.get("mismatchLabelKeys", ())
    for field, keys in (("matchLabelKeys", match_keys), ("mismatchLabelKeys", mismatch_keys)):
        if keys and selector is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
        elif keys:
            for index, key in enumerate(keys):
                yield from check_label_key(f"{path}.{field}[{index}]", key)
    if match_keys and selector is not None:
        index_of = {key: index for index, key in enumerate(match_keys)}
        seen = set(selector.get("matchLabels", ()))
        for requirement in selector.get("matchExpressions", ()):
            key = requirement.get("key", "")
            if key in index_of and key in seen:
                # In this error, the API server omits the field's name from the path.
                yield invalid(f"{path}[{index_of[key]}]", key, "exists in both matchLabelKeys and labelSelector")
            seen.add(key)
    for index, key in enumerate(match_keys):
        if key in mismatch_keys:
            field = f"{path}.matchLabelKeys[{index}]"
            yield invalid(field, key, "exists in both matchLabelKeys and mismatchLabelKeys")


def check_node_selector(path: str, selector: Json) -> Iterator[FieldError]:
    """Check required node selector terms (ValidateNodeSelector)."""
    terms = selector.get("nodeSelectorTerms", ())
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from check_node_selector_term(f"{path}.nodeSelectorTerms[{index}]", term)


def check_node_selector_term(path: str, term: Json, *, any_values: bool = False) -> Iterator[FieldError]:
    """Check one term (ValidateNodeSelectorTerm).

    ``any_values``: whether to skip the check of label values, as for preferred terms.
    """
    for index, requirement in enumerate(term.get("matchExpressions", ())):
        inner = f"{path}.matchExpressions[{index}]"
        if requirement.get("operator") in ("Gt", "Lt"):
            if len(requirement.get("values", ())) != 1:
                yield required(f"{inner}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        else:
            yield from _check_operator(inner, requirement)
        yield from check_label_key(f"{inner}.key", requirement.get("key", ""))
        if not any_values:
            yield from _check_values(inner, requirement)
    for index, requirement in enumerate(term.get("matchFields", ())):
        yield from _check_field_requirement(f"{path}.matchFields[{index}]", requirement)


def _check_field_requirement(path: str, requirement: Json) -> Iterator[FieldError]:
    operator, values = requirement.get("operator", ""), requirement.get("values", ())
    if operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", Named(operator), "not a valid selector operator")
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(f"{path}.values", detail)
    key = requirement.get("key", "")
    if key != "metadata.name":
        yield invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        yield from all_invalid(f"{path}.values[{index}]", value, names.subdomain(value))


def labels_as_printed(labels: dict[str, str] | None) -> dict[str, str] | None:
    """Return labels sorted by key, as Go prints a map."""
    return None if labels is None else dict(sorted(labels.items()))


def selector_as_printed(selector: Json) -> Json:
    """Return a label selector as Go prints it."""
    shown: Json = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = labels_as_printed(selector["matchLabels"])
    if selector.get("matchExpressions"):
        shown["matchExpressions"] = [
            {"key": each.get("key", ""), "operator": each.get("operator", "")}
            | ({"values": each["values"]} if each.get("values") else {})
            for each in selector["matchExpressions"]
        ]
    return shown


# Topology spread constraints as the API server checks them, after matchLabelKeys were merged into the selectors.
# Source: validateTopologySpreadConstraints in pkg/apis/core/validation/validation.go (Kubernetes 1.37).

ACTIONS: Final = ("DoNotSchedule", "ScheduleAnyway")


def check_spread_constraints(path: str, constraints: Sequence[Json]) -> Iterator[FieldError]:
    """Check ``topologySpreadConstraints``; no two may have the same topologyKey and whenUnsatisfiable."""
    left = Counter(map(_kind_of_constraint, constraints))
    for index, constraint in enumerate(constraints):
        inner = f"{path}[{index}]"
        yield from _check_constraint(inner, constraint)
        kind = _kind_of_constraint(constraint)
        left[kind] -= 1
        if left[kind]:
            yield duplicate(f"{inner}.{{topologyKey, whenUnsatisfiable}}", f"{{{kind[0]}, {kind[1]}}}")


def _kind_of_constraint(constraint: Json) -> tuple[str, str]:
    return constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")


def _check_constraint(path: str, constraint: Json) -> Iterator[FieldError]:
    _, action = _kind_of_constraint(constraint)
    yield from positive(f"{path}.maxSkew", constraint.get("maxSkew", 0))
    yield from one_of(f"{path}.whenUnsatisfiable", action, ACTIONS)
    min_domains = constraint.get("minDomains")
    if min_domains is not None and action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        yield invalid(f"{path}.minDomains", min_domains, detail)
    yield from check_fields(path, "TopologySpreadConstraint", constraint)
    yield from check_label_keys(path, constraint)
    yield from check_label_selector(f"{path}.labelSelector", constraint.get("labelSelector"))


# Node affinity, pod affinity and pod anti-affinity as the API server checks them.
# Source: validateAffinity and what it calls in pkg/apis/core/validation/validation.go (Kubernetes 1.37).

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def check_affinity(path: str, affinity: Json) -> Iterator[FieldError]:
    """Check ``spec.affinity``."""
    node_affinity = affinity.get("nodeAffinity", {})
    if REQUIRED in node_affinity:
        yield from check_node_selector(f"{path}.nodeAffinity.{REQUIRED}", node_affinity[REQUIRED])
    for index, term in enumerate(node_affinity.get(PREFERRED, ())):
        inner = f"{path}.nodeAffinity.{PREFERRED}[{index}]"
        yield from _check_weight(inner, term)
        yield from check_node_selector_term(f"{inner}.preference", term.get("preference", {}), any_values=True)
    for kind in ("podAffinity", "podAntiAffinity"):
        if kind in affinity:
            yield from _check_pod_affinity(f"{path}.{kind}", affinity[kind])


def _check_pod_affinity(path: str, affinity: Json) -> Iterator[FieldError]:
    for index, term in enumerate(affinity.get(REQUIRED, ())):
        yield from _check_pod_affinity_term(f"{path}.{REQUIRED}[{index}]", term)
    for index, term in enumerate(affinity.get(PREFERRED, ())):
        inner = f"{path}.{PREFERRED}[{index}]"
        yield from _check_weight(inner, term)
        yield from _check_pod_affinity_term(f"{inner}.podAffinityTerm", term.get("podAffinityTerm", {}))


def _check_weight(path: str, term: Json) -> Iterator[FieldError]:
    weight = term.get("weight", 0)
    if not 1 <= weight <= 100:
        yield invalid(f"{path}.weight", weight, "must be in the range 1-100")


def _check_pod_affinity_term(path: str, term: Json) -> Iterator[FieldError]:
    yield from check_label_selector(f"{path}.labelSelector", term.get("labelSelector"))
    yield from check_label_selector(f"{path}.namespaceSelector", term.get("namespaceSelector"))
    for namespace in term.get("namespaces", ()):
        # In this error, the API server has ``namespace`` without an index.
        yield from all_invalid(f"{path}.namespace", namespace, names.dns_label(namespace))
    yield from check_label_keys(path, term)
    yield from check_fields(path, "PodAffinityTerm", term)
    yield from check_label_key(f"{path}.topologyKey", term.get("topologyKey", ""))


# Tolerations as the API server checks them.
# Source: ValidateTolerations in pkg/apis/core/validation/validation.go (Kubernetes 1.37, which allows the operators Lt
# and Gt only if their feature gate is on).

_is_decimal = re.compile("0|-?[1-9][0-9]*").fullmatch
_is_go_decimal = re.compile("[+-]?[0-9]+").fullmatch


def check_tolerations(path: str, tolerations: Sequence[Json], options: Options) -> Iterator[FieldError]:
    """Check ``spec.tolerations``."""
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
        yield from _check_toleration_operator(inner, toleration, options)
        yield from check_fields(inner, "Toleration", toleration)


def _check_toleration_operator(path: str, toleration: Json, options: Options) -> Iterator[FieldError]:
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
    """Check the value of Lt or Gt: a decimal 64-bit integer (IsDecimalInteger, strconv.ParseInt)."""
    if not value:
        yield invalid(path, value, "must be non-empty")
    elif not _is_decimal(value):
        yield invalid(path, value, "must be a valid decimal integer in canonical form")
    if not _is_go_decimal(value):
        yield invalid(path, value, f"strconv.ParseInt: parsing {printed(value)}: invalid syntax")
    elif not -(2**63) <= int(value) < 2**63:
        yield invalid(path, value, f"strconv.ParseInt: parsing {printed(value)}: value out of range")
