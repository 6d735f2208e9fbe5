"""Label selectors and node selectors as the API server checks them; matching is elsewhere.

Sources: k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go (label selectors),
pkg/apis/core/validation/validation.go (ValidateNodeSelector and what it calls). Data is as `schema.decoded`
gives it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import names
from .field import FieldError, Named, all_invalid, forbidden, invalid, required
from .labels import check_label_key, check_labels

Json = dict[str, Any]


def check_label_selector(path: str, selector: Json | None) -> Iterator[FieldError]:
    """A label selector that may be missing (ValidateLabelSelector)."""
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
    """matchLabelKeys and mismatchLabelKeys beside their labelSelector, once they were merged into it.

    Source: ValidateMatchLabelKeysAndMismatchLabelKeys. ``path`` is that of the constraint or term.
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
                # The API server leaves out the field's name here.
                yield invalid(f"{path}[{index_of[key]}]", key, "exists in both matchLabelKeys and labelSelector")
            seen.add(key)
    for index, key in enumerate(match_keys):
        if key in mismatch_keys:
            field = f"{path}.matchLabelKeys[{index}]"
            yield invalid(field, key, "exists in both matchLabelKeys and mismatchLabelKeys")


def check_node_selector(path: str, selector: Json) -> Iterator[FieldError]:
    """Required node selector terms (ValidateNodeSelector)."""
    terms = selector.get("nodeSelectorTerms", ())
    if not terms:
        yield required(f"{path}.nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms):
        yield from check_node_selector_term(f"{path}.nodeSelectorTerms[{index}]", term)


def check_node_selector_term(path: str, term: Json, *, any_values: bool = False) -> Iterator[FieldError]:
    """One term; ``any_values``: label values are not checked, as in preferred terms (ValidateNodeSelectorTerm)."""
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
    """Labels as Go prints a map, by key."""
    return None if labels is None else dict(sorted(labels.items()))


def selector_as_printed(selector: Json) -> Json:
    """A label selector as Go prints it."""
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
