"""What the API server refuses in a StorageClass; which volumes it makes is not known here.

Source: ValidateStorageClass in pkg/apis/storage/validation/validation.go, ValidateTopologySelectorTerm in
pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from . import names
from .field import FieldError, all_invalid, duplicate, required
from .labels import check_label_key
from .rules import check_fields

Json = dict[str, Any]


def check_storage_class(made: Json) -> Iterator[FieldError]:
    """A new StorageClass, defaulted: without a binding mode it is Immediate."""
    provisioner = made.get("provisioner", "")
    if not provisioner:
        yield required("provisioner")
    else:
        yield from all_invalid("provisioner", provisioner.lower(), names.label_key(provisioner.lower()))
    yield from check_fields("", "StorageClass", made)
    yield from _check_topologies("allowedTopologies", made.get("allowedTopologies", ()))


def _check_topologies(path: str, terms: Sequence[Json]) -> Iterator[FieldError]:
    before: list[dict[str, frozenset[str]]] = [{} for _ in terms]  # as Go makes the list: with an empty one for each
    for index, term in enumerate(terms):
        inner = f"{path}[{index}].matchLabelExpressions"
        found: dict[str, frozenset[str]] = {}
        for position, requirement in enumerate(term.get("matchLabelExpressions", ())):
            key = requirement.get("key", "")
            yield from _check_requirement(f"{inner}[{position}]", requirement)
            if key in found:
                yield duplicate(f"{inner}[{position}].key", key)
            found[key] = frozenset(requirement.get("values", ()))
        # An empty map that was made and one that was not are the same to Semantic.DeepEqual.
        if found in before:
            yield duplicate(inner, "")
        before.append(found)


def _check_requirement(path: str, requirement: Json) -> Iterator[FieldError]:
    values = requirement.get("values", ())
    if not values:
        yield required(f"{path}.values")
    for index, value in enumerate(values):
        if value in values[:index]:
            yield duplicate(f"{path}.values[{index}]", value)
    yield from check_label_key(f"{path}.key", requirement.get("key", ""))
