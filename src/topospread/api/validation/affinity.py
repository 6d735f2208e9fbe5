"""Node affinity, pod affinity and pod anti-affinity as the API server checks them.

Source: validateAffinity and what it calls in pkg/apis/core/validation/validation.go (Kubernetes 1.37).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from . import names
from .field import FieldError, all_invalid, invalid
from .labels import check_label_key
from .rules import check_fields
from .selectors import check_label_keys, check_label_selector, check_node_selector, check_node_selector_term

Json = dict[str, Any]

REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def check_affinity(path: str, affinity: Json) -> Iterator[FieldError]:
    """``spec.affinity``."""
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
        # The API server names the field in the singular, without an index.
        yield from all_invalid(f"{path}.namespace", namespace, names.dns_label(namespace))
    yield from check_label_keys(path, term)
    yield from check_fields(path, "PodAffinityTerm", term)
    yield from check_label_key(f"{path}.topologyKey", term.get("topologyKey", ""))
