"""NodeResourcesBalancedAllocation until 1.21: a higher score for similar used fractions of cpu and memory.

Source: plugins/noderesources/balanced_allocation.go of 1.18 to 1.21. `node_resources_balanced_allocation` has the later
rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topospread.api.requests import scoring_requests
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.config.args import NodeResourcesBalancedAllocationArgs
from topospread.config.version_rules import until
from topospread.plugins.interface import MAX_NODE_SCORE, Prepared
from topospread.plugins.resource_scoring import Demand, ResourceReader, StrategyScore


@dataclass(frozen=True, slots=True)
class BalanceOfTwoRules:
    """The differences between old Kubernetes versions."""

    in_force: bool = until(
        "1.21",
        "Points are 100 · (1 − σ) of the used fractions of any number of resources, and containers "
        "without requests count as 0. Before, 100 · (1 − |cpu − memory|), or 0 if one is used up, "
        "with 100m and 200Mi for containers without requests.",
    )


class BalanceOfTwo:
    """Scores nodes by the similarity of their used cpu and memory fractions."""

    name = "NodeResourcesBalancedAllocation"

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Score for every pod."""
        requests = scoring_requests(pod_class.pod, pod_class.rules)
        reader = ResourceReader(NodeResourcesBalancedAllocationArgs().resources, requests, cluster.nodes)
        return Prepared(score=StrategyScore(reader, difference))


def difference(demands: list[Demand], nodes: int) -> Ints:
    """Return ``(1 − |a − b|)·100`` for the used fractions a and b of two resources; 0 if one is used up or missing."""
    usable = np.ones(nodes, dtype=np.bool_)
    fractions = []
    for demand in demands:
        present = demand.allocatable != 0
        fraction = demand.requested / np.where(present, demand.allocatable, 1)
        usable &= present & (fraction < 1)
        fractions.append(fraction)
    apart = np.abs(fractions[0] - fractions[1])
    return np.where(usable, (1 - apart) * float(MAX_NODE_SCORE), 0.0).astype(np.int64)
