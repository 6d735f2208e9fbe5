"""Which in-tree plugin of kube-scheduler sits at which extension points, by Kubernetes version; not what it does.

Source: pkg/scheduler/framework/plugins of every minor version from 1.18 to 1.37: the registry for the names, the
methods of the plugin types for the extension points.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from topospread.config.profile import EXTENSION_POINTS
from topospread.config.versions import KubeVersion

# plugin: extension point (as in the configuration) → "first-last" minor version; "18" means "18 or earlier",
# a missing last one "still there".
_TABLE: Mapping[str, Mapping[str, str]] = {
    "AzureDiskLimits": {"filter": "18-31", "preFilter": "28-31"},
    "CinderLimits": {"filter": "18-31", "preFilter": "28-31"},
    "DefaultBinder": {"bind": "18-"},
    "DefaultPodTopologySpread": {"preScore": "18-18", "score": "18-18"},
    "DefaultPreemption": {"postFilter": "19-", "preEnqueue": "32-", "podGroupPostFilter": "36-"},
    "DeferredPodScheduling": {"preFilter": "37-", "filter": "37-", "permit": "37-"},
    "DynamicResources": {
        "preEnqueue": "28-",
        "preFilter": "26-",
        "filter": "26-",
        "postFilter": "26-",
        "preScore": "26-31",
        "score": "35-",
        "reserve": "26-",
        "preBind": "30-",
        "postBind": "26-31",
        "podGroupPostFilter": "37-",
    },
    "EBSLimits": {"filter": "18-31", "preFilter": "28-31"},
    "GCEPDLimits": {"filter": "18-31", "preFilter": "28-31"},
    "GangScheduling": {"preEnqueue": "35-", "reserve": "35-35", "permit": "35-"},
    "ImageLocality": {"score": "18-"},
    "InterPodAffinity": {"preFilter": "18-", "filter": "18-", "preScore": "18-", "score": "18-"},
    "NodeAffinity": {"preFilter": "21-", "filter": "18-", "preScore": "21-", "score": "18-"},
    "NodeDeclaredFeatures": {"preFilter": "35-", "filter": "35-"},
    "NodeLabel": {"filter": "18-22", "score": "18-22"},
    "NodeName": {"preFilter": "37-", "filter": "18-"},
    "NodePorts": {"preFilter": "18-", "filter": "18-"},
    "NodePreferAvoidPods": {"score": "18-22"},
    "NodeResourceLimits": {"preScore": "18-18", "score": "18-18"},
    "NodeResourcesBalancedAllocation": {"preScore": "27-", "score": "18-"},
    "NodeResourcesFit": {
        "preFilter": "18-",
        "filter": "18-",
        "preScore": "27-",
        "score": "22-",
        "placementScore": "36-",
    },
    "NodeResourcesLeastAllocated": {"score": "18-22"},
    "NodeResourcesMostAllocated": {"score": "18-22"},
    "NodeUnschedulable": {"preFilter": "37-", "filter": "18-"},
    "NodeVolumeLimits": {"preFilter": "28-", "filter": "18-"},
    "PodGroupPodsCount": {"placementScore": "36-"},
    "PodTopologySpread": {"preFilter": "18-", "filter": "18-", "preScore": "18-", "score": "18-"},
    "PrioritySort": {"queueSort": "18-"},
    "RequestedToCapacityRatio": {"score": "18-22"},
    "SchedulingGates": {"preEnqueue": "26-"},
    "SelectorSpread": {"preScore": "19-28", "score": "19-28"},
    "ServiceAffinity": {"preFilter": "18-22", "filter": "18-22", "score": "18-22"},
    "TaintToleration": {"preFilter": "37-", "filter": "18-", "preScore": "18-", "score": "18-"},
    "TopologyPlacementGenerator": {"placementGenerate": "36-"},
    "VolumeBinding": {
        "preFilter": "19-",
        "filter": "18-",
        "preScore": "30-",
        "score": "21-",
        "reserve": "19-",
        "preBind": "19-",
    },
    "VolumeRestrictions": {"preFilter": "22-", "filter": "18-"},
    "VolumeZone": {"preFilter": "27-", "filter": "18-"},
}

_OURS = {camel: snake for snake, camel in EXTENSION_POINTS.items()}


def _within(span: str, version: KubeVersion) -> bool:
    first, _, last = span.partition("-")
    return int(first) <= version.minor <= (int(last) if last else version.minor)


@cache
def extension_points(version: KubeVersion) -> Mapping[str, frozenset[str]]:
    """In-tree plugins of a version → the extension points (keys of ``EXTENSION_POINTS``) they implement."""
    points = {
        name: frozenset(_OURS[point] for point, span in spans.items() if _within(span, version))
        for name, spans in _TABLE.items()
    }
    return {name: found for name, found in points.items() if found}


def last_version_with(name: str) -> KubeVersion | None:
    """The last version that had a plugin that is gone since; ``None`` for plugins that are there or never were."""
    lasts = [span.partition("-")[2] for span in _TABLE.get(name, {}).values()]
    if not lasts or "" in lasts:
        return None
    return KubeVersion(1, max(int(last) for last in lasts))
