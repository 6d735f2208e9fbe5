"""NodeResourcesBalancedAllocation until 1.21: what its arguments mean in later versions and not in these."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import cluster, pod, prepare
from topospread.config.args import NodeResourcesBalancedAllocationArgs, PluginArgs, ResourceWeight
from topospread.config.gates import gates_for
from topospread.plugins.registry import PLUGINS, PluginSettings


@pytest.mark.parametrize("resources", [(), ("example.com/gpu",), ("cpu", "memory", "example.com/gpu")])
def test_the_difference_of_old_versions_is_between_cpu_and_memory_whatever_is_set(resources: tuple[str, ...]) -> None:
    made = cluster({"n": {}})
    args = NodeResourcesBalancedAllocationArgs(tuple(ResourceWeight(name, 1) for name in resources))
    points = []
    for given in (PluginArgs(node_resources_balanced_allocation=args), PluginArgs()):
        plugin = PLUGINS["NodeResourcesBalancedAllocation"](PluginSettings(given, gates_for("1.21")))
        prepared = prepare(plugin, pod(), made)
        assert prepared.score is not None
        points.append(prepared.score.score(slice(0, 1)).tolist())
    assert points[0] == points[1]
