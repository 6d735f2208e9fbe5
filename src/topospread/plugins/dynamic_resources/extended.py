"""Extended resources that devices provide: DynamicResources checks them instead of NodeResourcesFit (KEP-5004).

Source: plugins/noderesources/fit.go (``shouldDelegateResourceToDRA``).
"""

from __future__ import annotations

from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects

from .claims import class_behind
from .plugin import is_judged
from .rules import DynamicResourcesRules


def asks_for_others(pod_class: PodClass, rules: DynamicResourcesRules) -> bool:
    """Return whether a pod requests a resource that a DeviceClass could provide."""
    return rules.extended_resources and any("/" in name for name in pod_class.request)


def left_to_devices(pod_class: PodClass, objects: ClusterObjects, rules: DynamicResourcesRules) -> frozenset[str]:
    """Return the pod's resources that DynamicResources allocates on nodes without them in their allocatable."""
    if not objects.device_classes or not rules.extended_resources or not is_judged(objects, rules):
        return frozenset()
    classes = list(objects.device_classes.values())
    return frozenset(
        name for name, amount in pod_class.request.items() if amount and class_behind(name, classes) is not None
    )


def unjudged_resource(pod_class: PodClass, cluster: Cluster, rules: DynamicResourcesRules) -> str:
    """Return why a pod with extended resources for devices cannot be judged; "" for every other pod.

    Without ResourceSlices, the devices of nodes are unknown. If all nodes have the resource in their allocatable, the
    pod needs no devices and is judged.
    """
    objects = cluster.objects
    if not objects.device_classes or not rules.extended_resources or is_judged(objects, rules):
        return ""
    classes, nodes = list(objects.device_classes.values()), cluster.nodes
    for name, amount in sorted(pod_class.request.items()):
        device_class = class_behind(name, classes) if amount else None
        if device_class is not None:
            column = nodes.resource(name)  # a new resource adds a column
            have = nodes.allocatable[: nodes.size, column] > 0
            if not (have | ~nodes.alive[: nodes.size]).all():
                return f"{name} is provided by devices of DeviceClass {device_class.name}"
    return ""
