"""The kinds that a live scheduler reads, where they are served, and what of a pod it reads besides what decides.

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
    """A pod's condition with its message, to tell whether it is another than the one to be written."""

    message: str | None = None


class ReadStatus(PodStatus):
    """A pod's status with whole conditions."""

    conditions: list[ReadCondition] | None = None  # type: ignore[assignment]


class ReadMeta(ObjectMeta):
    """A pod's metadata; its generation is told with every condition."""

    generation: Int64 | None = None


class ReadPod(Pod):
    """A pod as it comes from the API server: what decides on placements, and what is written about it."""

    metadata: ReadMeta = msgspec.field(default_factory=ReadMeta)
    status: ReadStatus | None = None


@dataclass(frozen=True, slots=True)
class Watched:
    """A kind that is watched.

    Attributes:
        struct: what its objects are decoded into.
        path: of the list of all of them.
        event: what the queue's events of it are called; ``None`` where no plugin waits for them.
        field_selector: which of them.
        optional: the API server may not serve it.
        many: there are so many that they are listed in one answer: a stream of single objects costs both sides more.
        beats: nearly all that is heard of it are heartbeats of nodes; those that say nothing new are not handed on.
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
        """Its name in paths and rights, ``persistentvolumes``."""
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
"""Every kind, pods last: they are taken in once what they refer to is there."""
