"""Which kinds topospread reads, under which API groups and versions, and where in an inventory they belong."""

from __future__ import annotations

from dataclasses import dataclass

from .autoscaling import HorizontalPodAutoscaler
from .devices import DeviceClass
from .meta import KubeObject
from .node import Namespace, Node
from .pod import Pod
from .policy import LimitRange, PodDisruptionBudget, PriorityClass, RuntimeClass
from .storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from .workload import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind that is read: its struct, the API groups it was ever served under, and its list in the inventory."""

    struct: type[KubeObject]
    groups: frozenset[str]
    attribute: str
    namespaced: bool = True


_APPS = frozenset({"apps", "extensions"})
_BATCH = frozenset({"batch"})
_CORE = frozenset({""})
_STORAGE = frozenset({"storage.k8s.io"})

KINDS: dict[str, Kind] = {
    "Node": Kind(Node, _CORE, "nodes", namespaced=False),
    "Pod": Kind(Pod, _CORE, "pods"),
    "Namespace": Kind(Namespace, _CORE, "namespaces", namespaced=False),
    "Service": Kind(Service, _CORE, "services"),
    "ReplicationController": Kind(ReplicationController, _CORE, "replication_controllers"),
    "ReplicaSet": Kind(ReplicaSet, _APPS, "replica_sets"),
    "Deployment": Kind(Deployment, _APPS, "deployments"),
    "StatefulSet": Kind(StatefulSet, _APPS, "stateful_sets"),
    "DaemonSet": Kind(DaemonSet, _APPS, "daemon_sets"),
    "Job": Kind(Job, _BATCH, "jobs"),
    "CronJob": Kind(CronJob, _BATCH, "cron_jobs"),
    "HorizontalPodAutoscaler": Kind(HorizontalPodAutoscaler, frozenset({"autoscaling"}), "horizontal_pod_autoscalers"),
    "PodDisruptionBudget": Kind(PodDisruptionBudget, frozenset({"policy"}), "pod_disruption_budgets"),
    "PriorityClass": Kind(PriorityClass, frozenset({"scheduling.k8s.io"}), "priority_classes", namespaced=False),
    "PersistentVolume": Kind(PersistentVolume, _CORE, "persistent_volumes", namespaced=False),
    "PersistentVolumeClaim": Kind(PersistentVolumeClaim, _CORE, "persistent_volume_claims"),
    "StorageClass": Kind(StorageClass, _STORAGE, "storage_classes", namespaced=False),
    "CSINode": Kind(CSINode, _STORAGE, "csi_nodes", namespaced=False),
    "CSIDriver": Kind(CSIDriver, _STORAGE, "csi_drivers", namespaced=False),
    "CSIStorageCapacity": Kind(CSIStorageCapacity, _STORAGE, "csi_storage_capacities"),
    "VolumeAttachment": Kind(VolumeAttachment, _STORAGE, "volume_attachments", namespaced=False),
    "DeviceClass": Kind(DeviceClass, frozenset({"resource.k8s.io"}), "device_classes", namespaced=False),
    "LimitRange": Kind(LimitRange, _CORE, "limit_ranges"),
    "RuntimeClass": Kind(RuntimeClass, frozenset({"node.k8s.io"}), "runtime_classes", namespaced=False),
}
"""Kind name → how it is read. A kind of the same name in another group (a CRD) plays no part."""
