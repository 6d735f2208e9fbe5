"""The plugins each version of the configuration enables on its own, with their weights.

Source: pkg/scheduler/apis/config/VERSION/default_plugins.go; until 1.21 pkg/scheduler/algorithmprovider/registry.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from topospread.config.api_versions import ApiVersion
from topospread.config.gates import Gates
from topospread.config.plugin_sets import PluginEntry, PluginSet
from topospread.config.versions import KubeVersion

Names = list[str]
"""Plugins in order, a weight after a colon: ``["NodePorts", "TaintToleration:3"]``."""

_MULTI_POINT = (
    "PrioritySort NodeUnschedulable NodeName TaintToleration:3 NodeAffinity:2 NodePorts NodeResourcesFit:1 "
    "VolumeRestrictions EBSLimits GCEPDLimits NodeVolumeLimits AzureDiskLimits VolumeBinding VolumeZone "
    "PodTopologySpread:2 InterPodAffinity:2 DefaultPreemption NodeResourcesBalancedAllocation:1 ImageLocality:1 "
    "DefaultBinder"
)

_NON_CSI_LIMITS = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits")


def default_plugins(api: ApiVersion, version: KubeVersion, gates: Gates) -> dict[str, PluginSet]:
    """The default plugin sets of a configuration version in a Kubernetes version that serves it."""
    if api.name in ("v1", "v1beta3"):
        plugins = {"multiPoint": _multi_point(api, version.minor, gates)}
    elif api.name == "v1alpha2":
        plugins = _v1alpha2(gates)
    else:
        plugins = _v1beta1_and_2(api, version.minor, gates)
    return {point: PluginSet(tuple(_entry(text) for text in listed)) for point, listed in plugins.items()}


def _entry(text: str) -> PluginEntry:
    name, _, weight = text.partition(":")
    return PluginEntry(name, int(weight or 0))


def _multi_point(api: ApiVersion, minor: int, gates: Gates) -> Names:
    """v1beta3 and v1: one list, expanded to the extension points later."""
    listed = _MULTI_POINT.split()
    if minor >= 31:
        listed = [name for name in listed if name not in _NON_CSI_LIMITS]
    if minor >= 37:
        # NodeName narrows the nodes in PreFilter since then, and runs first.
        listed.remove("NodeName")
        listed.insert(listed.index("NodeUnschedulable"), "NodeName")
    if minor >= 30:
        listed.insert(0, "SchedulingGates")
    elif minor >= 26 and gates.enabled("PodSchedulingReadiness"):
        listed.append("SchedulingGates")
    if minor == 23 and not gates.enabled("DefaultPodTopologySpread"):
        listed.append("SelectorSpread:1")
    if api.name == "v1":
        _gated_plugins(listed, minor, gates)
    return listed


def _gated_plugins(listed: Names, minor: int, gates: Gates) -> None:
    """What feature gates add to v1, in kube-scheduler's order."""
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


def _v1beta1_and_2(api: ApiVersion, minor: int, gates: Gates) -> dict[str, Names]:
    plugins = {
        "queueSort": ["PrioritySort"],
        "preFilter": _pre_filter(minor),
        "filter": _filter(minor),
        "postFilter": ["DefaultPreemption"],
        "preScore": ["InterPodAffinity", "PodTopologySpread", "TaintToleration"],
        "score": _score(api),
        "reserve": ["VolumeBinding"],
        "preBind": ["VolumeBinding"],
        "bind": ["DefaultBinder"],
    }
    if minor >= 21:
        plugins["preScore"].append("NodeAffinity")
    if minor >= 27:
        plugins["preScore"] += ["NodeResourcesFit", "NodeResourcesBalancedAllocation"]
    if gates.enabled("VolumeCapacityPriority"):
        plugins["score"].append("VolumeBinding:1")
    if minor <= 23 and not gates.enabled("DefaultPodTopologySpread"):
        plugins["preScore"].append("SelectorSpread")
        plugins["score"].append("SelectorSpread:1")
    if minor >= 26 and gates.enabled("PodSchedulingReadiness"):
        plugins["preEnqueue"] = ["SchedulingGates"]
    return plugins


def _pre_filter(minor: int) -> Names:
    entered = (
        ("NodeResourcesFit", 19),
        ("NodePorts", 19),
        ("VolumeRestrictions", 22),
        ("PodTopologySpread", 19),
        ("InterPodAffinity", 19),
        ("VolumeBinding", 19),
        ("VolumeZone", 27),
        ("NodeAffinity", 21),
    )
    return [name for name, since in entered if minor >= since]


_VOLUME_FILTERS = ("EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits", "VolumeBinding", "VolumeZone")


def _filter(minor: int) -> Names:
    if minor >= 20:
        first: Sequence[str] = (
            "NodeUnschedulable",
            "NodeName",
            "TaintToleration",
            "NodeAffinity",
            "NodePorts",
            "NodeResourcesFit",
            "VolumeRestrictions",
        )
    else:
        first = (
            "NodeUnschedulable",
            "NodeResourcesFit",
            "NodeName",
            "NodePorts",
            "NodeAffinity",
            "VolumeRestrictions",
            "TaintToleration",
        )
    return [*first, *_VOLUME_FILTERS, "PodTopologySpread", "InterPodAffinity"]


def _score(api: ApiVersion) -> Names:
    resources = "NodeResourcesFit:1" if api.name == "v1beta2" else "NodeResourcesLeastAllocated:1"
    listed = ["NodeResourcesBalancedAllocation:1", "ImageLocality:1", "InterPodAffinity:1", resources, "NodeAffinity:1"]
    if api.name == "v1beta1":
        listed.append("NodePreferAvoidPods:10000")
    return [*listed, "PodTopologySpread:2", "TaintToleration:1"]


def _v1alpha2(gates: Gates) -> dict[str, Names]:
    """1.18 alone; PodTopologySpread stands at the end of each list, behind its gate, with weight 1."""
    plugins = {
        "queueSort": ["PrioritySort"],
        "preFilter": ["NodeResourcesFit", "NodePorts", "InterPodAffinity"],
        "filter": [name for name in _filter(18) if name != "PodTopologySpread"],
        "preScore": ["InterPodAffinity", "DefaultPodTopologySpread", "TaintToleration"],
        "score": [
            "NodeResourcesBalancedAllocation:1",
            "ImageLocality:1",
            "InterPodAffinity:1",
            "NodeResourcesLeastAllocated:1",
            "NodeAffinity:1",
            "NodePreferAvoidPods:10000",
            "DefaultPodTopologySpread:1",
            "TaintToleration:1",
        ],
        "bind": ["DefaultBinder"],
    }
    if gates.enabled("EvenPodsSpread"):
        for point, text in (
            ("preFilter", "PodTopologySpread"),
            ("filter", "PodTopologySpread"),
            ("preScore", "PodTopologySpread"),
            ("score", "PodTopologySpread:1"),
        ):
            plugins[point].append(text)
    if gates.enabled("ResourceLimitsPriorityFunction"):
        plugins["preScore"].append("NodeResourceLimits")
        plugins["score"].append("NodeResourceLimits:1")
    return plugins
