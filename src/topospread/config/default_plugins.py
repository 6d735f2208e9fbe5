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
    if api.name in ("v1", "v1beta3"):
        _gated_everywhere(plugins["multiPoint"], version.minor, gates)
        if api.name == "v1":
            _gated_in_v1(plugins["multiPoint"], version.minor, gates)
    elif api.name == "v1alpha2":
        _gated_in_1_18(plugins, gates)
    else:
        _gated_by_point(plugins, version.minor, gates)
    return {point: PluginSet(tuple(_entry(text) for text in listed)) for point, listed in plugins.items()}


def _entry(text: str) -> PluginEntry:
    name, _, weight = text.partition(":")
    return PluginEntry(name, int(weight or 0))


def _gated_everywhere(listed: PluginNames, minor: int, gates: Gates) -> None:
    """What feature gates add to the one list of v1beta3 and v1."""
    if 26 <= minor < 30 and gates.enabled("PodSchedulingReadiness"):
        listed.append("SchedulingGates")
    if minor == 23 and not gates.enabled("DefaultPodTopologySpread"):
        listed.append("SelectorSpread:1")


def _gated_in_v1(listed: PluginNames, minor: int, gates: Gates) -> None:
    """What they add to v1 besides, in kube-scheduler's order."""
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


def _gated_by_point(plugins: dict[str, PluginNames], minor: int, gates: Gates) -> None:
    """What they add to the lists of v1beta1 and v1beta2."""
    if gates.enabled("VolumeCapacityPriority"):
        plugins["score"].append("VolumeBinding:1")
    if minor <= 23 and not gates.enabled("DefaultPodTopologySpread"):
        plugins["preScore"].append("SelectorSpread")
        plugins["score"].append("SelectorSpread:1")
    if minor >= 26 and gates.enabled("PodSchedulingReadiness"):
        plugins["preEnqueue"] = ["SchedulingGates"]


def _gated_in_1_18(plugins: dict[str, PluginNames], gates: Gates) -> None:
    """What they add to the lists of v1alpha2."""
    if gates.enabled("EvenPodsSpread"):
        for point in ("preFilter", "filter", "preScore"):
            plugins[point].append("PodTopologySpread")
        plugins["score"].append("PodTopologySpread:1")
    if gates.enabled("ResourceLimitsPriorityFunction"):
        plugins["preScore"].append("NodeResourceLimits")
        plugins["score"].append("NodeResourceLimits:1")
