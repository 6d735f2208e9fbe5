"""The kinds that a live scheduler watches, their API paths, and the additional pod fields it reads.

Source of the list: the informers of kube-scheduler 1.37 (pkg/scheduler/scheduler.go, eventhandlers.go, plugins).
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from topospread.api.devices import DeviceClass
from topospread.api.meta import Int64, KubeObject, ObjectMeta
from topospread.api.node import Namespace, Node
from topospread.api.pod import Pod, PodCondition, PodStatus
from topospread.api.policy import PodDisruptionBudget
from topospread.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.plugins.cluster_event import Resource


class ReadCondition(PodCondition):
    """A pod's condition with its message, to compare it with the condition to write."""

    message: str | None = None


class ReadStatus(PodStatus):
    """A pod's status with complete conditions."""

    conditions: list[ReadCondition] | None = None  # type: ignore[assignment]


class ReadMeta(ObjectMeta):
    """A pod's metadata with its generation, which is written into every condition."""

    generation: Int64 | None = None


class ReadPod(Pod):
    """A pod with the fields for placement, and those needed to write its status."""

    metadata: ReadMeta = msgspec.field(default_factory=ReadMeta)
    status: ReadStatus | None = None


@dataclass(frozen=True, slots=True)
class Watched:
    """A watched kind.

    Attributes:
        path: path of the cluster-wide list.
        event: name of its queue events; None if no plugin uses them.
        field_selector: selects some of the objects.
        optional: whether the API server may lack it.
        many: whether it is read in one unpaged list, because there are many objects.
        beats: whether most events are node heartbeats, which are filtered out.
    """

    struct: type[KubeObject]
    path: str
    event: Resource | None = None
    field_selector: str = ""
    optional: bool = False
    many: bool = False
    beats: bool = False

    @property
    def name(self) -> str:
        """Its name in paths and RBAC rules, ``persistentvolumes``."""
        return self.path.rpartition("/")[2]


_STORAGE = "/apis/storage.k8s.io/v1"

WATCHED: tuple[Watched, ...] = (
    Watched(Node, "/api/v1/nodes", "Node", beats=True),
    Watched(Namespace, "/api/v1/namespaces"),
    Watched(Service, "/api/v1/services"),
    Watched(ReplicationController, "/api/v1/replicationcontrollers"),
    Watched(ReplicaSet, "/apis/apps/v1/replicasets"),
    Watched(StatefulSet, "/apis/apps/v1/statefulsets"),
    Watched(PodDisruptionBudget, "/apis/policy/v1/poddisruptionbudgets"),
    Watched(PersistentVolume, "/api/v1/persistentvolumes", "PersistentVolume"),
    Watched(PersistentVolumeClaim, "/api/v1/persistentvolumeclaims", "PersistentVolumeClaim"),
    Watched(StorageClass, f"{_STORAGE}/storageclasses", "StorageClass"),
    Watched(CSINode, f"{_STORAGE}/csinodes", "CSINode"),
    Watched(CSIDriver, f"{_STORAGE}/csidrivers", "CSIDriver"),
    Watched(CSIStorageCapacity, f"{_STORAGE}/csistoragecapacities", "CSIStorageCapacity"),
    Watched(VolumeAttachment, f"{_STORAGE}/volumeattachments", "VolumeAttachment"),
    Watched(DeviceClass, "/apis/resource.k8s.io/v1/deviceclasses", "DeviceClass", optional=True),
    Watched(ReadPod, "/api/v1/pods", field_selector="status.phase!=Succeeded,status.phase!=Failed", many=True),
)
"""All watched kinds. Pods are last, so that the objects they refer to are read first."""
