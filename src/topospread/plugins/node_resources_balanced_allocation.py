"""NodeResourcesBalancedAllocation: a higher score if a node's resources are evenly used.

Source: plugins/noderesources/balanced_allocation.go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topospread.api.requests import scoring_requests
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.config.args import NodeResourcesBalancedAllocationArgs
from topospread.config.version_rules import since

from .interface import MAX_NODE_SCORE, Prepared
from .resource_scoring import Demand, ResourceReader, StrategyScore


@dataclass(frozen=True, slots=True)
class BalancedAllocationRules:
    """The differences between Kubernetes versions."""

    of_change: bool = since(
        "1.36",
        "The score is the pod's change of the balance. Before, it was the balance with the pod. One "
        "pod in ten gets another node.",
    )
    skips_best_effort: bool = since(
        "1.33", "Pods that request none of the resources are not scored. Before, they got the node's balance."
    )


class NodeResourcesBalancedAllocation:
    """Score: how much the pod improves the balance of the node's resources.

    ``args``: the resources whose use is to be balanced.
    """

    name = "NodeResourcesBalancedAllocation"

    def __init__(
        self, args: NodeResourcesBalancedAllocationArgs | None = None, rules: BalancedAllocationRules | None = None
    ) -> None:
        self._rules = rules or BalancedAllocationRules()
        self._args = args or NodeResourcesBalancedAllocationArgs()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Score; skip pods that request none of the resources."""
        requests = scoring_requests(pod_class.pod, pod_class.rules, missing_count=False)
        if self._rules.skips_best_effort and not any(requests.get(each.name, 0) for each in self._args.resources):
            return Prepared()
        reader = ResourceReader(self._args.resources, requests, cluster.nodes, non_zero=False)
        return Prepared(score=StrategyScore(reader, _change if self._rules.of_change else _with_pod))


def _with_pod(demands: list[Demand], nodes: int) -> Ints:
    return balance(demands, [demand.requested for demand in demands], nodes)


def _change(demands: list[Demand], nodes: int) -> Ints:
    without_pod = balance(demands, [demand.allocated for demand in demands], nodes)
    half = MAX_NODE_SCORE // 2
    return half + ((half + _with_pod(demands, nodes) - without_pod) / 2).astype(np.int64)  # Go truncates towards zero


def balance(demands: list[Demand], amounts: list[Ints], nodes: int) -> Ints:
    """Return ``(1 − σ)·100``, truncated, int64[nodes]; σ is computed from the used fractions of each node's resources.

    For two resources, σ is half of the fractions' difference; for more, their standard deviation; for fewer, 0.
    """
    present = [demand.allocatable != 0 for demand in demands]
    fractions = [
        np.where(there, np.minimum(amount / np.where(there, demand.allocatable, 1), 1.0), 0.0)
        for demand, amount, there in zip(demands, amounts, present, strict=True)
    ]
    if not demands:
        return np.full(nodes, MAX_NODE_SCORE, dtype=np.int64)
    if len(demands) == 2:
        both = present[0] & present[1]
        deviation = np.where(both, np.abs((fractions[0] - fractions[1]) / 2), 0.0)
    else:
        deviation = _standard_deviation(fractions, present, nodes)
    return ((1 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)


def _standard_deviation(
    fractions: list[np.ndarray[tuple[int], np.dtype[np.float64]]],
    present: list[np.ndarray[tuple[int], np.dtype[np.bool_]]],
    nodes: int,
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the standard deviation of each node's used fractions, float64[nodes].

    It adds in kube-scheduler's order, because the result must be equal bit by bit.
    """
    count = np.zeros(nodes)
    total = np.zeros(nodes)
    for fraction, there in zip(fractions, present, strict=True):
        count += there
        total += fraction
    mean = total / np.maximum(count, 1)
    squares = np.zeros(nodes)
    for fraction, there in zip(fractions, present, strict=True):
        squares += np.where(there, (fraction - mean) * (fraction - mean), 0.0)
    deviation = np.sqrt(squares / np.maximum(count, 1))
    highest = np.full(len(count), -np.inf)
    lowest = np.full(len(count), np.inf)
    for fraction, there in zip(fractions, present, strict=True):
        highest = np.where(there, np.maximum(highest, fraction), highest)
        lowest = np.where(there, np.minimum(lowest, fraction), lowest)
    difference = np.where(count == 2, highest - lowest, 0.0)
    return np.where(count > 2, deviation, np.abs(difference / 2))
