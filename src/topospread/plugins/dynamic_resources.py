"""DynamicResources: pods that need devices are not judged; their allocation is a matter of its own.

kube-scheduler's plugin looks for devices in ResourceSlices and writes what it allocates into ResourceClaims. None of
that is modelled, and a guess would be worse than no answer, so that such a pod stays pending and says why. A pod needs
devices that claims them, and one that requests an extended resource which stands for a DeviceClass (KEP-5004):
NodeResourcesFit leaves that to this plugin on nodes that have none of it themselves
(plugins/noderesources/fit.go, ``shouldDelegateResourceToDRA``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from topospread.api.devices import IMPLICIT_PREFIX, DeviceClass
from topospread.api.requests import is_extended_resource
from topospread.cluster import Cluster, PodClass
from topospread.config.version_rules import gated

from .interface import NotJudgedError, Prepared

WHAT = "resourceClaims"
"""Key under which answers name pods with resource claims."""


@dataclass(frozen=True, slots=True)
class DynamicResourcesRules:
    """What gates switch; of NodeResourcesFit, too."""

    extended_resources: bool = gated("DRAExtendedResource")


class DynamicResources:
    """Answers pods with ``spec.resourceClaims`` that they cannot be judged."""

    name = "DynamicResources"

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Nothing to say about other pods.

        Raises:
            NotJudgedError: if the pod claims devices.
        """
        claims = pod_class.pod.spec.resource_claims
        if claims:
            raise NotJudgedError(WHAT, "spec.resourceClaims", "resource claims")
        return Prepared()


def asks_for_others(pod_class: PodClass) -> bool:
    """Whether a pod requests a resource that a DeviceClass may stand for, be there one or not."""
    return any("/" in name for name in pod_class.request)


def left_to_devices(pod_class: PodClass, cluster: Cluster) -> str:
    """Why a pod cannot be judged that asks for devices by an extended resource, "" for every other pod.

    Nodes that have the resource themselves are judged as ever: a pod can be where all of them do.
    """
    classes = cluster.objects.device_classes
    if not classes:
        return ""
    nodes = cluster.nodes
    for name, amount in sorted(pod_class.request.items()):
        device_class = _class_behind(name, classes.values()) if amount else None
        if device_class is not None:
            column = nodes.resource(name)
            have = nodes.allocatable[: nodes.size, column] > 0
            if not (have | ~nodes.alive[: nodes.size]).all():
                return f"{name} stands for devices of DeviceClass {device_class.name}"
    return ""


def _class_behind(name: str, classes: Iterable[DeviceClass]) -> DeviceClass | None:
    """The DeviceClass that a resource stands for; of several the youngest, then the first by name."""
    if name.startswith(IMPLICIT_PREFIX):
        return next((each for each in classes if each.name == name.removeprefix(IMPLICIT_PREFIX)), None)
    if not is_extended_resource(name):
        return None
    found = sorted((each for each in classes if each.spec.extended_resource_name == name), key=lambda each: each.name)
    return max(found, key=lambda each: each.metadata.creation_timestamp or "", default=None)
