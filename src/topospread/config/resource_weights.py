"""Validation of the resources and shapes in scoring arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from topospread.api.validation.field import FieldError, invalid, required

Args = Mapping[str, Any]


def weight_errors(path: str, resources: Iterable[Args]) -> Iterator[FieldError]:
    """Yield errors for weights out of range; ``path``: the field that has the resources (``validateResources``)."""
    for index, resource in enumerate(resources):
        weight = resource.get("weight", 0)
        if not 0 < weight <= 100:
            detail = f"resource weight of {resource.get('name', '')} not in valid range (0, 100]"
            yield invalid(f"{path}.resources[{index}].weight", weight, detail)


def shape_errors(path: str, shape: Sequence[Args]) -> Iterator[FieldError]:
    """Yield errors for a shape without points, or with points out of order or range (``validateFunctionShape``)."""
    if not shape:
        yield required(path, "at least one point must be specified")
        return
    points = [(point.get("utilization", 0), point.get("score", 0)) for point in shape]
    for index in range(1, len(points)):
        if points[index - 1][0] >= points[index][0]:
            yield invalid(f"{path}[{index}].utilization", points[index][0], "values must be sorted in increasing order")
            break
    for index, (utilization, score) in enumerate(points):
        if not 0 <= utilization <= 100:
            yield invalid(f"{path}[{index}].utilization", utilization, "not in valid range [0, 100]")
        if not 0 <= score <= 10:
            yield invalid(f"{path}[{index}].score", score, "not in valid range [0, 10]")
