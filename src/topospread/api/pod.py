"""Pods for kube-scheduler: typed structs of the fields that can change a placement (data only)."""

from __future__ import annotations

import msgspec

from .meta import Int32, Int64, KubeObject, KubeStruct, ObjectMeta, ResourceList
from .node_selection import Affinity, Toleration
from .security import Handler, Lifecycle, PodOS, Present, SecurityContext
from .spread import TopologySpreadConstraint
from .storage import PersistentVolumeClaimSpec

FINISHED_PHASES = frozenset({"Succeeded", "Failed"})
"""Phases of pods that kube-scheduler ignores, because its informer does not list them."""


class ResourceRequirements(KubeStruct):
    """``resources`` of a container or of a pod."""

    requests: ResourceList | None = None
    limits: ResourceList | None = None


class ContainerPort(KubeStruct):
    """A port of a container; scheduling reads only ports with a host port."""

    container_port: Int32 | None = None
    host_port: Int32 | None = None
    host_ip: str | None = msgspec.field(default=None, name="hostIP")
    protocol: str | None = None


class ContainerRestartRule(KubeStruct):
    """A rule for a container that exits; topospread reads only its action."""

    action: str | None = None


class VolumeMount(KubeStruct):
    """The mount of a volume; topospread reads only the fields that a node must support."""

    bind_mount_options: list[str] | None = None


class Container(KubeStruct):
    """A container or init container; ``restartPolicy: Always`` makes an init container a sidecar."""

    name: str = ""
    image: str | None = None
    resources: ResourceRequirements | None = None
    ports: list[ContainerPort] | None = None
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] | None = None
    volume_mounts: list[VolumeMount] | None = None
    security_context: SecurityContext | None = None
    liveness_probe: Handler | None = None
    readiness_probe: Handler | None = None
    startup_probe: Handler | None = None
    lifecycle: Lifecycle | None = None


class PersistentVolumeClaimVolumeSource(KubeStruct):
    """A reference to a PersistentVolumeClaim."""

    claim_name: str = ""
    read_only: bool | None = None


class PersistentVolumeClaimTemplate(KubeStruct):
    """The template for the claim of an ephemeral volume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)


class EphemeralVolumeSource(KubeStruct):
    """A volume whose claim, ``POD-VOLUME``, is created with the pod."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class GCEPersistentDiskVolumeSource(KubeStruct):
    """A GCE disk named in the pod."""

    pd_name: str = ""
    read_only: bool | None = None


class AWSElasticBlockStoreVolumeSource(KubeStruct):
    """An EBS volume named in the pod."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool | None = None


class ISCSIVolumeSource(KubeStruct):
    """An iSCSI target named in the pod."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool | None = None


class RBDVolumeSource(KubeStruct):
    """A Ceph RBD image named in the pod."""

    monitors: list[str] | None = None
    image: str = ""
    pool: str | None = None
    read_only: bool | None = None


class AzureDiskVolumeSource(KubeStruct):
    """An Azure disk named in the pod."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class CinderVolumeSource(KubeStruct):
    """An OpenStack disk named in the pod."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class PortworxVolumeSource(KubeStruct):
    """A Portworx volume named in the pod."""

    volume_id: str = msgspec.field(default="", name="volumeID")


class ImageVolumeSource(KubeStruct):
    """A volume with the files of an OCI image."""

    reference: str | None = None


class CSIVolumeSource(KubeStruct):
    """An inline volume that a CSI driver creates with the pod."""

    driver: str = ""


class Volume(KubeStruct):
    """A volume of a pod. For sources that do not affect scheduling, topospread reads only that they are set."""

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    image: ImageVolumeSource | None = None
    config_map: Present | None = None
    downward_api: Present | None = msgspec.field(default=None, name="downwardAPI")
    empty_dir: Present | None = None
    projected: Present | None = None
    secret: Present | None = None
    host_path: Present | None = None
    git_repo: Present | None = None
    nfs: Present | None = None
    glusterfs: Present | None = None
    flex_volume: Present | None = None
    cephfs: Present | None = None
    flocker: Present | None = None
    fc: Present | None = None
    azure_file: Present | None = None
    vsphere_volume: Present | None = None
    quobyte: Present | None = None
    photon_persistent_disk: Present | None = None
    scale_io: Present | None = msgspec.field(default=None, name="scaleIO")
    storageos: Present | None = None

    @property
    def restricts(self) -> bool:
        """True if any scheduler plugin reads this volume."""
        return self.is_storage or self.image is not None or self.csi is not None

    @property
    def is_storage(self) -> bool:
        """True if a volume plugin reads this volume: a claim or an inline disk."""
        return (
            self.persistent_volume_claim is not None
            or self.ephemeral is not None
            or self.gce_persistent_disk is not None
            or self.aws_elastic_block_store is not None
            or self.iscsi is not None
            or self.rbd is not None
            or self.azure_disk is not None
            or self.cinder is not None
            or self.portworx_volume is not None
        )


class PodSchedulingGate(KubeStruct):
    """A gate that keeps the pod out of the queue."""

    name: str = ""


class PodResourceClaim(KubeStruct):
    """A claim for devices: an existing claim, or a claim that is created for the pod from a template."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SchedulingGroup(KubeStruct):
    """The pod group that a pod belongs to (since 1.36)."""

    pod_group_name: str = ""


class WorkloadReference(KubeStruct):
    """The workload and pod group that a pod belongs to (1.35)."""

    name: str = ""
    pod_group: str = ""
    pod_group_replica_key: str = ""


class PodSpec(KubeStruct):
    """The part of a pod's spec that scheduling and admission read.

    Attributes:
        unjudged_admission: not in Kubernetes: names of policies or PodGroups that topospread cannot evaluate.
        refused_admission: not in Kubernetes: message with which a mutating policy denies the new pod.
    """

    node_name: str | None = None
    scheduler_name: str | None = None
    priority: Int32 | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topology_spread_constraints: list[TopologySpreadConstraint] | None = None
    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    runtime_class_name: str | None = None
    host_network: bool | None = None
    host_users: bool | None = None
    host_pid: bool | None = msgspec.field(default=None, name="hostPID")
    host_ipc: bool | None = msgspec.field(default=None, name="hostIPC")
    os: PodOS | None = None
    security_context: SecurityContext | None = None
    scheduling_gates: list[PodSchedulingGate] | None = None
    resource_claims: list[PodResourceClaim] | None = None
    scheduling_group: SchedulingGroup | None = None
    workload_ref: WorkloadReference | None = None
    volumes: list[Volume] | None = None
    restart_policy: str | None = None
    active_deadline_seconds: Int64 | None = None
    unjudged_admission: list[str] | None = msgspec.field(default=None, name="topospread.dev/unjudgedAdmission")
    refused_admission: str | None = msgspec.field(default=None, name="topospread.dev/refusedAdmission")


class ContainerStatus(KubeStruct):
    """The kubelet's status of a container: its running and its allocated resources (in-place resize)."""

    name: str = ""
    ready: bool | None = None
    restart_count: Int32 | None = None
    allocated_resources: ResourceList | None = None
    resources: ResourceRequirements | None = None


class PodCondition(KubeStruct):
    """A pod's condition."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None


class PodResourceClaimStatus(KubeStruct):
    """The name of the ResourceClaim that was created for an entry of a pod; without a name, none is needed."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(KubeStruct):
    """The part of a pod's status that scheduling and the controllers' ranking of pods read."""

    phase: str | None = None
    nominated_node_name: str | None = None
    start_time: str | None = None
    conditions: list[PodCondition] | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    resize: str | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] | None = None
    allocated_resources: ResourceList | None = None
    resources: ResourceRequirements | None = None


class Pod(KubeObject):
    """``v1`` Pod."""

    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus | None = None

    @property
    def phase(self) -> str:
        """``status.phase``; "" if missing."""
        return (self.status.phase or "") if self.status else ""

    @property
    def is_ready(self) -> bool:
        """True if the condition Ready is True. A pod without conditions, as in a manifest, counts as ready."""
        conditions = self.status.conditions if self.status else None
        return not conditions or any(each.type == "Ready" and each.status == "True" for each in conditions)

    @property
    def nominated_node_name(self) -> str:
        """``status.nominatedNodeName``; "" if missing."""
        return (self.status.nominated_node_name or "") if self.status else ""

    @property
    def terminating(self) -> bool:
        """True if the pod has a deletionTimestamp. It still uses resources, but spread constraints do not count it."""
        return self.metadata.deletion_timestamp is not None


class PodTemplateSpec(KubeStruct):
    """A workload's template of its pods."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
