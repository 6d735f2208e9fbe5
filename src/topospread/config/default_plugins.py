"""The plugins each version of the configuration enables on its own, with their weights.

The lists are in ``default_plugins.json``, which `conformance/oracle/cmd/plugins` prints from
pkg/scheduler/apis/config/VERSION/default_plugins.go (until 1.21 pkg/scheduler/algorithmprovider/registry.go) of every
minor version; what feature gates make of them stands here, after ``applyFeatureGates`` in the same files.
"""

from __future__ import annotations

from functools import cache

from topospread.api.shipped_table import shipped_table
from topospread.config.api_versions import ApiVersion
from topospread.config.gates import Gates
from topospread.config.plugin_sets import PluginEntry, PluginSet
from topospread.config.until.plugins_by_point import gated_by_point, gated_until_1_29
from topospread.config.versions import KubeVersion

PluginNames = list[str]
"""Plugins in order, a weight after a colon: ``["NodePorts", "TaintToleration:3"]``."""


@cache
def _printed() -> dict[str, dict[int, dict[str, PluginNames]]]:
    """Version of the configuration → minor version of Kubernetes from which on → extension point → plugins."""
    return shipped_table(__package__, "default_plugins.json", dict[str, dict[int, dict[str, PluginNames]]])


def default_plugins(api: ApiVersion, version: KubeVersion, gates: Gates) -> dict[str, PluginSet]:
    """The default plugin sets of a configuration version in a Kubernetes version that serves it."""
    printed = _printed()[api.name]
    given = printed[max(minor for minor in printed if minor <= version.minor)]
    plugins = {point: list(listed) for point, listed in given.items()}
    if "multiPoint" in plugins:
        gated_until_1_29(plugins["multiPoint"], version.minor, gates)
        if api.name == "v1":
            _gated(plugins["multiPoint"], version.minor, gates)
    else:
        gated_by_point(plugins, version.minor, gates)
    return {point: PluginSet(tuple(_entry(text) for text in listed)) for point, listed in plugins.items()}


def _entry(text: str) -> PluginEntry:
    name, _, weight = text.partition(":")
    return PluginEntry(name, int(weight or 0))


GATED = frozenset(
    {
        "DeferredPodScheduling",
        "DynamicResources",
        "GangScheduling",
        "NodeDeclaredFeatures",
        "PodGroupPodsCount",
        "SchedulingGates",
        "TopologyPlacementGenerator",
    }
)
"""Default plugins that are there or not by feature gates, which a configuration does not hold."""


def _gated(listed: PluginNames, minor: int, gates: Gates) -> None:
    """What feature gates add to the list of v1, in kube-scheduler's order."""
    if minor >= 35 and gates.enabled("NodeDeclaredFeatures"):
        listed.append("NodeDeclaredFeatures")
    if minor >= 37 and gates.enabled("InPlacePodVerticalScalingSchedulerPreemption"):
        listed.insert(listed.index("NodeResourcesFit:1"), "DeferredPodScheduling")
    if minor >= 26 and gates.enabled("DynamicResourceAllocation"):
        dynamic_resources = "DynamicResources:2" if minor >= 35 else "DynamicResources"
        listed.insert(listed.index("DefaultPreemption"), dynamic_resources)
    if minor >= 35 and gates.enabled("GenericWorkload" if minor >= 37 else "GangScheduling"):
        listed.append("GangScheduling")
    if minor >= 36 and gates.enabled("TopologyAwareWorkloadScheduling"):
        listed += ["TopologyPlacementGenerator", "PodGroupPodsCount:1"]
