"""Arithmetic on resource lists: quantities by resource name, added and compared exactly.

Source: the helpers of k8s.io/component-helpers/resource/helpers.go. Which lists count is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .meta import ResourceList
from .quantity import Quantity, parse_quantity

Requests = dict[str, Quantity]


def quantities(resources: ResourceList | None) -> Requests:
    """A list as it stands in an object, parsed; null is 0."""
    return {name: parse_quantity(0 if text is None else text) for name, text in (resources or {}).items()}


def add(total: Requests, more: Mapping[str, Quantity]) -> None:
    """Add a list to another, in place."""
    for name, quantity in more.items():
        total[name] = total[name].add(quantity) if name in total else quantity


def maximum(lists: Iterable[Mapping[str, Quantity]]) -> Requests:
    """The larger quantity of each resource."""
    result: Requests = {}
    for each in lists:
        for name, quantity in each.items():
            if name not in result or result[name] < quantity:
                result[name] = quantity
    return result


def rounded(requests: Requests) -> Requests:
    """Quantities rounded up to what kube-scheduler counts in: millicores, and units of all else."""
    return {
        name: parse_quantity(f"{quantity.milli_value()}m" if name == "cpu" else str(quantity.value()))
        for name, quantity in requests.items()
    }


def integers(requests: Mapping[str, Quantity]) -> dict[str, int]:
    """Millicores, and units of all else, rounded up."""
    return {name: q.milli_value() if name == "cpu" else q.value() for name, q in requests.items()}
