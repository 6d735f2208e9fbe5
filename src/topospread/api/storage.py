"""Volumes, claims, classes, CSI drivers and their capacities: the fields that volume plugins read (data only)."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from .labels import LabelSelector
from .meta import Int32, KubeObject, KubeStruct, RawQuantity, ResourceList
from .node_selection import NodeSelector

VOLUME_KINDS = frozenset(
    {
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "VolumeAttachment",
    }
)
"""Kinds that only the volume plugins read, and only for pods with volumes."""


class ObjectReference(KubeStruct):
    """A reference to another object."""

    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    uid: str | None = None


class CSIPersistentVolumeSource(KubeStruct):
    """A volume that a CSI driver provides."""

    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(KubeStruct):
    """The nodes that can reach a volume."""

    required: NodeSelector | None = None


class NamedDisk(KubeStruct):
    """An in-tree cloud disk; only the fields that identify it."""

    pd_name: str | None = None
    volume_id: str | None = msgspec.field(default=None, name="volumeID")
    disk_name: str | None = None
    disk_uri: str | None = msgspec.field(default=None, name="diskURI")
    kind: str | None = None


class PersistentVolumeSpec(KubeStruct):
    """``spec`` of a PersistentVolume."""

    capacity: ResourceList | None = None
    access_modes: list[str] | None = None
    persistent_volume_reclaim_policy: str | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    claim_ref: ObjectReference | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolumeSource | None = None
    gce_persistent_disk: NamedDisk | None = None
    aws_elastic_block_store: NamedDisk | None = None
    azure_disk: NamedDisk | None = None
    cinder: NamedDisk | None = None
    portworx_volume: NamedDisk | None = None
    volume_attributes_class_name: str | None = None


class VolumeStatus(KubeStruct):
    """``status`` of a volume or claim."""

    phase: str | None = None


class PersistentVolume(KubeObject):
    """``v1`` PersistentVolume."""

    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)
    status: VolumeStatus | None = None


class VolumeResourceRequirements(KubeStruct):
    """The request of a claim."""

    requests: ResourceList | None = None


class PersistentVolumeClaimSpec(KubeStruct):
    """``spec`` of a PersistentVolumeClaim."""

    access_modes: list[str] | None = None
    resources: VolumeResourceRequirements | None = None
    storage_class_name: str | None = None
    volume_name: str | None = None
    volume_mode: str | None = None
    selector: LabelSelector | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaim(KubeObject):
    """``v1`` PersistentVolumeClaim."""

    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)
    status: VolumeStatus | None = None


class TopologySelectorLabelRequirement(KubeStruct):
    """A label and the values that are allowed."""

    key: str = ""
    values: list[str] | None = None


class TopologySelectorTerm(KubeStruct):
    """Requirements that must all hold."""

    match_label_expressions: list[TopologySelectorLabelRequirement] | None = None


class StorageClass(KubeObject):
    """``storage.k8s.io/v1`` StorageClass."""

    provisioner: str = ""
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] | None = None


def default_classes(classes: Iterable[StorageClass]) -> list[StorageClass]:
    """Return the StorageClasses that are annotated as the default, in the order given (``IsDefaultAnnotation``)."""
    return [each for each in classes if _is_default(each)]


def _is_default(each: StorageClass) -> bool:
    annotations = each.metadata.annotations
    return annotations is not None and "true" in (annotations.is_default_class, annotations.beta_is_default_class)


class VolumeNodeResources(KubeStruct):
    """The maximum number of a driver's volumes on a node."""

    count: Int32 | None = None


class CSINodeDriver(KubeStruct):
    """A driver that runs on a node."""

    name: str = ""
    node_id: str | None = msgspec.field(default=None, name="nodeID")
    topology_keys: list[str] | None = None
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(KubeStruct):
    """``spec`` of a CSINode."""

    drivers: list[CSINodeDriver] | None = None


class CSINode(KubeObject):
    """``storage.k8s.io/v1`` CSINode."""

    spec: CSINodeSpec = msgspec.field(default_factory=CSINodeSpec)


class CSIDriverSpec(KubeStruct):
    """``spec`` of a CSIDriver."""

    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(KubeObject):
    """``storage.k8s.io/v1`` CSIDriver."""

    spec: CSIDriverSpec = msgspec.field(default_factory=CSIDriverSpec)


class CSIStorageCapacity(KubeObject):
    """``storage.k8s.io/v1`` CSIStorageCapacity: free capacity for volumes of a class, on the nodes of a topology."""

    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: RawQuantity | None = None
    maximum_volume_size: RawQuantity | None = None


class VolumeAttachmentSource(KubeStruct):
    """The volume that is attached."""

    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(KubeStruct):
    """``spec`` of a VolumeAttachment."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = msgspec.field(default_factory=VolumeAttachmentSource)


class VolumeAttachment(KubeObject):
    """``storage.k8s.io/v1`` VolumeAttachment."""

    spec: VolumeAttachmentSpec = msgspec.field(default_factory=VolumeAttachmentSpec)
