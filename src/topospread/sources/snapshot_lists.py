"""The lists of a snapshot: their order, and the effect of a missing list.

Secrets and ConfigMaps are never read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

import msgspec

from topospread.api.kinds import KINDS

from .versions import VERSIONS

REQUIRED: Final = frozenset({"Node", "Pod"})
"""Required kinds."""

_DEFAULTS = "cluster-level default constraints do not apply to the pods that only they select or own"
_VOLUMES = "pods with volumes may be placed where their volumes cannot follow"
_DEVICES = "pods that need devices are not judged"
_POLICIES: Final = "no new pod is reported as not judged for a policy"
_GROUPS = "pods of a group are not judged in either case"
_CAPACITY = "new volumes may be placed where there is no capacity for them"
WITHOUT: Final[dict[str, str]] = {
    "ReplicaSet": f"the Deployments of pods are unknown, and {_DEFAULTS}",
    "Deployment": "its pods are listed by ReplicaSet, and no pod is added",
    "StatefulSet": _DEFAULTS,
    "DaemonSet": "no pods are created for new nodes",
    "Job": "no pods are created for Jobs",
    "CronJob": "their runs cannot be simulated",
    "ReplicationController": _DEFAULTS,
    "Service": _DEFAULTS,
    "HorizontalPodAutoscaler": "replicas stay as they are",
    "PodDisruptionBudget": "preemption ignores them",
    "PriorityClass": "new pods with a priorityClassName are refused",
    "PersistentVolume": _VOLUMES,
    "PersistentVolumeClaim": _VOLUMES,
    "StorageClass": _VOLUMES,
    "CSINode": "the volume limits of nodes are unknown",
    "CSIDriver": _CAPACITY,
    "CSIStorageCapacity": _CAPACITY,
    "VolumeAttachment": "volumes that are attached without a pod on the node do not count",
    "DeviceClass": "extended resources that stand for devices are taken to be the nodes' own",
    "ResourceSlice": _DEVICES,
    "ResourceClaim": _DEVICES,
    "ResourceClaimTemplate": _DEVICES,
    "DeviceTaintRule": "devices that only a rule taints are taken to have no taint",
    "Workload": _GROUPS,
    "PodGroup": _GROUPS,
    "LimitRange": "new pods get no default requests",
    "ResourceQuota": "no new pod is refused for exceeding a quota",
    "ValidatingAdmissionPolicy": _POLICIES,
    "ValidatingAdmissionPolicyBinding": _POLICIES,
    "MutatingAdmissionPolicy": _POLICIES,
    "MutatingAdmissionPolicyBinding": _POLICIES,
    "RuntimeClass": "new pods get no overhead of their RuntimeClass",
    "Namespace": "namespace selectors of pod affinity match no namespace",
}
"""Kind → effect of its absence from a snapshot."""

OWNERS_AND_SELECTORS: Final = frozenset({"ReplicaSet", "StatefulSet", "ReplicationController", "Service"})
"""Kinds that default constraints take their selectors from."""

ORDER: Final = ("Node", "Pod", *WITHOUT)
"""All kinds, in the order of reading. Nodes are before pods, so that only pods on newer nodes lack their node."""

ANONYMOUS: Final = tuple(kind for kind in ORDER if kind != "ResourceSlice")
"""Kinds of an anonymous snapshot, without ResourceSlices, because selectors and the order of pools need their names."""


class ListRequest(msgspec.Struct, frozen=True):
    """A kind's objects, in the cluster or in one namespace.

    Attributes:
        kind: key in `KINDS`.
        namespace: namespace of the objects; "" for all.
    """

    kind: str
    namespace: str = ""

    @property
    def resource(self) -> str:
        """The kind in API paths, such as ``pods`` or ``storageclasses``."""
        name = self.kind.lower()
        if name.endswith("y"):
            return name[:-1] + "ies"
        return name + ("es" if name.endswith("s") else "s")

    def paths(self) -> Iterator[str]:
        """Yield the paths of the list, the newest version of the API first."""
        for version in VERSIONS[self.kind]:
            root = f"/apis/{version}" if "/" in version else f"/api/{version}"
            if not self.namespace:
                yield f"{root}/{self.resource}"
            elif KINDS[self.kind].namespaced:
                yield f"{root}/namespaces/{quote(self.namespace, safe='')}/{self.resource}"
            else:
                yield f"{root}/{self.resource}"

    @property
    def selection(self) -> dict[str, str]:
        """Query parameters that select the objects of the list; empty to list all."""
        chosen = self.namespace and self.kind == "Namespace"
        return {"fieldSelector": f"metadata.name={self.namespace}"} if chosen else {}
