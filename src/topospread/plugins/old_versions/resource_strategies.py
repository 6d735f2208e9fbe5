"""NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio: one plugin for each strategy.

Source: plugins/noderesources/{least_allocated,most_allocated,requested_to_capacity_ratio}.go of 1.18 to 1.22.
NodeResourcesFit has their formulas since 1.22 (`resource_scoring`). This module has the differences before 1.22.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from topospread.api.requests import scoring_requests
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.config.args import ScoringStrategy
from topospread.config.version_rules import since, until
from topospread.plugins.interface import MAX_NODE_SCORE, Prepared
from topospread.plugins.resource_scoring import (
    Demand,
    RequestedToCapacityRatio,
    ResourceReader,
    Scorer,
    StrategyScore,
    rounded,
    scorer_of,
)


@dataclass(frozen=True, slots=True)
class StrategyRules:
    """The differences between old Kubernetes versions."""

    weighs_every_resource: bool = until(
        "1.21",
        "Scoring by resources: resources that the node lacks, and extended ones that the pod does not "
        "request, are left out. Before, their weights counted.",
    )
    caps_overcommitted: bool = since(
        "1.19", "MostAllocated: an overcommitted resource counts as full. Before, it scored 0."
    )


class StrategyPlugin:
    """Scores nodes by one strategy over the resources of its arguments."""

    def __init__(self, name: str, strategy: ScoringStrategy, rules: StrategyRules | None = None) -> None:
        self._name = name
        self._strategy = strategy
        self._rules = rules or StrategyRules()

    @property
    def name(self) -> str:
        """Kubernetes' name."""
        return self._name

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Score for every pod."""
        everything = self._rules.weighs_every_resource
        requests = scoring_requests(pod_class.pod, pod_class.rules)
        reader = ResourceReader(self._strategy.resources, requests, cluster.nodes, unrequested=everything)
        return Prepared(score=StrategyScore(reader, self._scorer()))

    def _scorer(self) -> Scorer:
        if not self._rules.weighs_every_resource:
            return scorer_of(self._strategy)
        match self._strategy.type:
            case "LeastAllocated":
                return _over_all(_least)
            case "MostAllocated":
                return _over_all(_most if self._rules.caps_overcommitted else _most_but_overcommitted)
            case _:
                return _RatioOfFree(RequestedToCapacityRatio(self._strategy.shape))


Points = Callable[[Demand, Ints], Ints]
"""Function that scores one resource: (demand, capacity, with 1 for nodes that lack the resource) → int64[nodes]."""


def _least(demand: Demand, capacity: Ints) -> Ints:
    left: Ints = (demand.allocatable - demand.requested) * MAX_NODE_SCORE // capacity
    return np.maximum(left, 0)


def _most(demand: Demand, capacity: Ints) -> Ints:
    taken: Ints = np.minimum(demand.requested, demand.allocatable) * MAX_NODE_SCORE // capacity
    return taken


def _most_but_overcommitted(demand: Demand, capacity: Ints) -> Ints:
    return np.where(demand.requested > demand.allocatable, 0, _most(demand, capacity))


def _over_all(points: Points) -> Scorer:
    """Return a scorer with the weighted mean over all resources; a resource that a node lacks counts as 0."""

    def score(demands: list[Demand], nodes: int) -> Ints:
        total = np.zeros(nodes, dtype=np.int64)
        for demand in demands:
            present = demand.allocatable != 0
            total += demand.weight * points(demand, np.where(present, demand.allocatable, 1)) * present
        return total // max(sum(demand.weight for demand in demands), 1)

    return score


class _RatioOfFree:
    """RequestedToCapacityRatio with utilization as 100 minus the truncated percentage of free capacity."""

    def __init__(self, shape: RequestedToCapacityRatio) -> None:
        self._shape = shape

    def __call__(self, demands: list[Demand], nodes: int) -> Ints:
        total = np.zeros(nodes, dtype=np.int64)
        weights = np.zeros(nodes, dtype=np.int64)
        for demand in demands:
            usable = (demand.allocatable != 0) & (demand.requested <= demand.allocatable)
            capacity = np.where(usable, demand.allocatable, 1)
            used = 100 - (demand.allocatable - demand.requested) * 100 // capacity
            points = self._shape.at(np.where(usable, used, 100))
            total += demand.weight * points * (points > 0)
            weights += demand.weight * (points > 0)
        return rounded(total / np.maximum(weights, 1))
