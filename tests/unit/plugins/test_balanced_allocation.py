"""NodeResourcesBalancedAllocation: what its arguments mean in one version and not in another."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import cluster, pod, prepare
from topospread.config.args import NodeResourcesBalancedAllocationArgs, ResourceWeight
from topospread.plugins.node_resources_balanced_allocation import (
    BalancedAllocationRules,
    NodeResourcesBalancedAllocation,
)


@pytest.mark.parametrize("resources", [(), ("example.com/gpu",), ("cpu", "memory", "example.com/gpu")])
def test_the_difference_of_old_versions_is_between_cpu_and_memory_whatever_is_set(resources: tuple[str, ...]) -> None:
    made = cluster({"n": {}})
    rules = BalancedAllocationRules(formula="difference", skips_best_effort=False)
    args = NodeResourcesBalancedAllocationArgs(tuple(ResourceWeight(name, 1) for name in resources))
    points = []
    for given in (args, None):
        prepared = prepare(NodeResourcesBalancedAllocation(given, rules), pod(), made)
        assert prepared.score is not None
        points.append(prepared.score.score(slice(0, 1)).tolist())
    assert points[0] == points[1]
