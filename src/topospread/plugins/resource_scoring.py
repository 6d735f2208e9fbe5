"""Scores by resources: each node's capacity and requests, and the scoring strategies.

NodeResourcesFit, NodeResourcesBalancedAllocation and the old plugins for one strategy share them. Units: millicores for
cpu, bytes, and counts for other resources. Source: plugins/noderesources/resource_allocation.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from topospread.api.requests import is_scalar_resource
from topospread.cluster import NodeTable
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.nodes import CPU, MEMORY, NON_ZERO_CPU, NON_ZERO_MEMORY
from topospread.config.args import ResourceWeight, ScoringStrategy, ShapePoint

from .interface import MAX_NODE_SCORE, Scope, length

MAX_SHAPE_SCORE = 10
"""The highest score of a point in a scoring function (apis/config, ``MaxCustomPriorityScore``)."""


class Demand(msgspec.Struct, frozen=True):
    """Requests and allocatable amount of one resource on each node.

    Attributes:
        allocated: requests of the pods on each node, int64[rows].
        requested: requests including the incoming pod, int64[rows].
        allocatable: the nodes' allocatable amount, 0 for a node that lacks the resource, int64[rows].
    """

    weight: int
    allocated: Ints
    requested: Ints
    allocatable: Ints


class ResourceReader:
    """Reads the demand for a pod from the node table.

    Args:
        resources: resources to score, with their weights.
        requests: resource → the pod's request.
        non_zero: whether containers without cpu or memory requests count as 100m and 200Mi.
        unrequested: whether to include extended resources that the pod does not request.
    """

    def __init__(
        self,
        resources: Sequence[ResourceWeight],
        requests: dict[str, int],
        nodes: NodeTable,
        *,
        non_zero: bool = True,
        unrequested: bool = False,
    ) -> None:
        self._nodes = nodes
        self._columns: list[tuple[int, int, int, int]] = []
        for each in resources:
            request = requests.get(each.name, 0)
            scalar = is_scalar_resource(each.name)
            if scalar and request == 0 and not unrequested:
                continue
            if not scalar and each.name not in ("cpu", "memory", "ephemeral-storage"):
                continue
            column = nodes.resource(each.name)
            used = {CPU: NON_ZERO_CPU, MEMORY: NON_ZERO_MEMORY}.get(column, column) if non_zero else column
            self._columns.append((each.weight, column, used, request))

    def __call__(self, rows: Rows) -> list[Demand]:
        """Return the demand for each scored resource on these rows."""
        demands = []
        for weight, column, used_column, request in self._columns:
            allocatable = self._nodes.allocatable[rows, column]
            allocated = self._nodes.used[rows, used_column]
            demands.append(Demand(weight, allocated, allocated + request, allocatable))
        return demands


Scorer = Callable[[list[Demand], int], Ints]
"""Function that returns the scores for (demands, number of nodes), int64[nodes]."""


class StrategyScore:
    """The Score extension point for one scoring strategy, computed from the node's usage with the pod."""

    scope = Scope.USAGE

    def __init__(self, reader: ResourceReader, scorer: Scorer) -> None:
        self._reader = reader
        self._scorer = scorer

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return the strategy's scores, int64[rows]."""
        return self._scorer(self._reader(rows), length(rows))


def scorer_of(strategy: ScoringStrategy) -> Scorer:
    """Return the scoring function of a strategy (noderesources/fit.go, ``nodeResourceStrategyTypeMap``)."""
    match strategy.type:
        case "LeastAllocated":
            return least_allocated
        case "MostAllocated":
            return most_allocated
        case _:
            return RequestedToCapacityRatio(strategy.shape)


def least_allocated(demands: list[Demand], nodes: int) -> Ints:
    """Return scores for free resources: weighted mean of ``(capacity − requested)·100 // capacity``."""

    def points(demand: Demand, capacity: Ints) -> Ints:
        left: Ints = demand.allocatable - demand.requested
        return np.where(left > 0, left * MAX_NODE_SCORE // capacity, 0)

    return _weighted(demands, nodes, points)


def most_allocated(demands: list[Demand], nodes: int) -> Ints:
    """Return scores for used resources: weighted mean of ``min(requested, capacity)·100 // capacity``."""

    def points(demand: Demand, capacity: Ints) -> Ints:
        taken: Ints = np.minimum(demand.requested, demand.allocatable) * MAX_NODE_SCORE // capacity
        return taken

    return _weighted(demands, nodes, points)


def _weighted(demands: list[Demand], nodes: int, points: Callable[[Demand, Ints], Ints]) -> Ints:
    total = np.zeros(nodes, dtype=np.int64)
    weights = np.zeros(nodes, dtype=np.int64)
    for demand in demands:
        present = demand.allocatable != 0
        total += demand.weight * points(demand, np.where(present, demand.allocatable, 1)) * present
        weights += demand.weight * present
    result: Ints = total // np.maximum(weights, 1)
    return result


class RequestedToCapacityRatio:
    """A score by utilization in percent, interpolated between a shape's points.

    A resource with score 0 is left out of the weighted mean.
    """

    def __init__(self, shape: Sequence[ShapePoint]) -> None:
        self._utilization = [point.utilization for point in shape]
        self._scores = [point.score * (MAX_NODE_SCORE // MAX_SHAPE_SCORE) for point in shape]

    def __call__(self, demands: list[Demand], nodes: int) -> Ints:
        """Return the scores of nodes, int64[nodes]. ``demands``: one for each resource; ``nodes``: number of nodes."""
        total = np.zeros(nodes, dtype=np.int64)
        weights = np.zeros(nodes, dtype=np.int64)
        for demand in demands:
            present = demand.allocatable != 0
            over = demand.requested > demand.allocatable
            utilization = demand.requested * 100 // np.where(present, demand.allocatable, 1)
            points = self.at(np.where(over, 100, utilization))
            counts = present & (points > 0)
            total += demand.weight * points * counts
            weights += demand.weight * counts
        return rounded(total / np.maximum(weights, 1))

    def at(self, utilization: Ints) -> Ints:
        """Return the shape's scores (plugins/helper/shape_score.go). Go's division truncates towards zero."""
        result = np.full(len(utilization), self._scores[-1], dtype=np.int64)
        for i in range(len(self._utilization) - 1, -1, -1):
            below = utilization <= self._utilization[i]
            if i == 0:
                result[below] = self._scores[0]
                continue
            rise = self._scores[i] - self._scores[i - 1]
            run = self._utilization[i] - self._utilization[i - 1]
            step = rise * (utilization - self._utilization[i - 1])
            value = self._scores[i - 1] + np.sign(step) * (np.abs(step) // run)
            result[below] = value[below]
        return result


def rounded(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """Round non-negative numbers to the nearest integers, halves up (Go's ``math.Round``)."""
    whole = np.floor(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)


def rounded_each(values: Sequence[float]) -> list[int]:
    """Round a few numbers like `rounded`."""
    floor = math.floor
    return [(whole := floor(value)) + (value - whole >= 0.5) for value in values]
