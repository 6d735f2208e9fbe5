"""The kinds that topospread reads, and their lists in an inventory; `served` has their API versions."""

from __future__ import annotations

import msgspec

from .admission_policy import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from .device_claims import ResourceClaim, ResourceClaimTemplate
from .devices import DeviceClass, DeviceTaintRule, ResourceSlice
from .meta import KubeObject
from .node import Namespace, Node
from .pod import Pod
from .pod_groups import PodGroup, Workload
from .policy import LimitRange, PodDisruptionBudget, PriorityClass, ResourceQuota, RuntimeClass
from .served import is_namespaced
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
    HorizontalPodAutoscaler,
    Job,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)


class Kind(msgspec.Struct, frozen=True):
    """A kind that topospread reads: its struct, and the attribute of `Inventory` that has its objects."""

    struct: type[KubeObject]
    attribute: str

    @property
    def namespaced(self) -> bool:
        """True if its objects are in a namespace."""
        return is_namespaced(self.struct.__name__)


KINDS: dict[str, Kind] = {
    "Node": Kind(Node, "nodes"),
    "Pod": Kind(Pod, "pods"),
    "Namespace": Kind(Namespace, "namespaces"),
    "Service": Kind(Service, "services"),
    "ReplicationController": Kind(ReplicationController, "replication_controllers"),
    "ReplicaSet": Kind(ReplicaSet, "replica_sets"),
    "Deployment": Kind(Deployment, "deployments"),
    "StatefulSet": Kind(StatefulSet, "stateful_sets"),
    "DaemonSet": Kind(DaemonSet, "daemon_sets"),
    "Job": Kind(Job, "jobs"),
    "CronJob": Kind(CronJob, "cron_jobs"),
    "HorizontalPodAutoscaler": Kind(HorizontalPodAutoscaler, "horizontal_pod_autoscalers"),
    "PodDisruptionBudget": Kind(PodDisruptionBudget, "pod_disruption_budgets"),
    "PriorityClass": Kind(PriorityClass, "priority_classes"),
    "PersistentVolume": Kind(PersistentVolume, "persistent_volumes"),
    "PersistentVolumeClaim": Kind(PersistentVolumeClaim, "persistent_volume_claims"),
    "StorageClass": Kind(StorageClass, "storage_classes"),
    "CSINode": Kind(CSINode, "csi_nodes"),
    "CSIDriver": Kind(CSIDriver, "csi_drivers"),
    "CSIStorageCapacity": Kind(CSIStorageCapacity, "csi_storage_capacities"),
    "VolumeAttachment": Kind(VolumeAttachment, "volume_attachments"),
    "DeviceClass": Kind(DeviceClass, "device_classes"),
    "ResourceSlice": Kind(ResourceSlice, "resource_slices"),
    "ResourceClaim": Kind(ResourceClaim, "resource_claims"),
    "ResourceClaimTemplate": Kind(ResourceClaimTemplate, "resource_claim_templates"),
    "DeviceTaintRule": Kind(DeviceTaintRule, "device_taint_rules"),
    "Workload": Kind(Workload, "scheduling_workloads"),
    "PodGroup": Kind(PodGroup, "pod_groups"),
    "LimitRange": Kind(LimitRange, "limit_ranges"),
    "ResourceQuota": Kind(ResourceQuota, "resource_quotas"),
    "ValidatingAdmissionPolicy": Kind(ValidatingAdmissionPolicy, "validating_policies"),
    "ValidatingAdmissionPolicyBinding": Kind(ValidatingAdmissionPolicyBinding, "validating_bindings"),
    "MutatingAdmissionPolicy": Kind(MutatingAdmissionPolicy, "mutating_policies"),
    "MutatingAdmissionPolicyBinding": Kind(MutatingAdmissionPolicyBinding, "mutating_bindings"),
    "RuntimeClass": Kind(RuntimeClass, "runtime_classes"),
}
"""Kind name → its struct and its list in the inventory. A kind of that name in another group (a CRD) is ignored."""

OWNER_LISTS = (
    "replication_controllers",
    "replica_sets",
    "deployments",
    "stateful_sets",
    "daemon_sets",
    "jobs",
    "cron_jobs",
)
"""Lists in the inventory whose objects create pods."""

_NOT_MODELLED = """
CompositePodGroup
EC2NodeClass NodeClaim NodeClass NodeOverlay NodePool Provisioner ProvisioningRequest
MachineAutoscaler MachineDeployment MachinePool MachineSet
ClusterQueue Cohort ElasticQuota LocalQueue Queue ResourceFlavor Topology
ScaledObject VerticalPodAutoscaler
MutatingWebhookConfiguration ValidatingWebhookConfiguration
ClusterPolicy MutatingPolicy Policy ValidatingPolicy
NodeFeatureRule NodeResourceTopology PodUnavailableBudget WorkloadSpread
"""
NOT_MODELLED = frozenset(_NOT_MODELLED.split())
"""Kinds, of any API group, that can affect pods or nodes but that topospread does not read."""
