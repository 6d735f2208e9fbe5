"""Translation of in-tree volumes to their CSI drivers' names, handles and topology labels.

Source: k8s.io/csi-translation-lib (``translate.go``, ``plugins/``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from topospread.api.node_selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from topospread.api.storage import CSINode, NamedDisk, PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity
from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from topospread.cluster.volume_use import AWS_DISK, AZURE_DISK, CINDER, GCE_DISK, PORTWORX, VolumeRef

MULTI_ZONE = "__"
"""Separator of the zones in the zone label of a volume that is in several zones."""
UNSPECIFIED = "UNSPECIFIED"


class TranslationError(ValueError):
    """An error of the translation to CSI. The message is Kubernetes'."""


class InTree(msgspec.Struct, frozen=True):
    """A volume plugin that was part of Kubernetes.

    Attributes:
        name: name of the plugin as provisioner and in CSINode's annotation.
        driver: CSI driver that replaced the plugin.
        since: first minor version of Kubernetes 1 in which nodes migrate to the driver by default.
        complete: first minor version that counts the volumes as the driver's on every node with a CSINode.
        topology_key: key of the driver's zone label of nodes; "" if migration does not change the volumes' topology.
    """

    name: str
    driver: str
    since: int
    complete: int
    topology_key: str = ""


AWS = InTree("kubernetes.io/aws-ebs", "ebs.csi.aws.com", 23, 27, "topology.ebs.csi.aws.com/zone")
GCE = InTree("kubernetes.io/gce-pd", "pd.csi.storage.gke.io", 23, 28, "topology.gke.io/zone")
AZURE = InTree("kubernetes.io/azure-disk", "disk.csi.azure.com", 23, 27)
OPENSTACK = InTree("kubernetes.io/cinder", "cinder.csi.openstack.org", 21, 24, "topology.cinder.csi.openstack.org/zone")
PX = InTree("kubernetes.io/portworx-volume", "pxd.portworx.com", 31, 36)

MIGRATED = {each.name: each for each in (AWS, GCE, AZURE, OPENSTACK, PX)}
"""In-tree plugins whose volumes kube-scheduler counts and places as their CSI driver's."""
NEVER_MIGRATED = {
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
"""In-tree plugins with a CSI driver that kube-scheduler does not migrate: name → driver."""

_BY_SOURCE = {AWS_DISK: AWS, GCE_DISK: GCE, AZURE_DISK: AZURE, CINDER: OPENSTACK, PORTWORX: PX}


def in_tree_plugin(spec: PersistentVolumeSpec) -> InTree | None:
    """Return the in-tree plugin of a volume, if it is in `MIGRATED`; else ``None``."""
    sources = (
        (spec.aws_elastic_block_store, AWS),
        (spec.gce_persistent_disk, GCE),
        (spec.azure_disk, AZURE),
        (spec.cinder, OPENSTACK),
        (spec.portworx_volume, PX),
    )
    return next((plugin for source, plugin in sources if source is not None), None)


def inline_plugin(ref: VolumeRef) -> InTree | None:
    """Return the in-tree plugin of a disk that a pod's volume names directly; ``None`` for other volumes."""
    return _BY_SOURCE.get(ref.source)


def inline_handle(ref: VolumeRef) -> str:
    """Return the CSI handle of a disk that a pod's volume names directly (``TranslateInTreeInlineVolumeToCSI``).

    Raises:
        TranslationError: if the disk has no CSI handle.
    """
    if ref.source == AWS_DISK:
        return _ebs_handle(ref.name)
    if ref.source == GCE_DISK:
        return _gce_zonal(UNSPECIFIED, ref.name)
    if ref.source == AZURE_DISK:
        _check_azure_kind(ref.detail[1])
    return ref.name


def handle(volume: PersistentVolume) -> str:
    """Return the CSI handle of an in-tree volume (``TranslateInTreePVToCSI``).

    Raises:
        TranslationError: if the volume has no CSI handle.
    """
    spec = volume.spec
    if spec.gce_persistent_disk is not None:
        return _gce_handle(volume, spec.gce_persistent_disk)
    if spec.aws_elastic_block_store is not None:
        return _ebs_handle(spec.aws_elastic_block_store.volume_id or "")
    if spec.azure_disk is not None:
        _check_azure_kind(spec.azure_disk.kind or "")
        return spec.azure_disk.disk_uri or ""
    disk = spec.cinder or spec.portworx_volume or NamedDisk()
    return disk.volume_id or ""


def counts_as_csi(plugin: InTree, csi_node: CSINode | None, minor: int) -> bool:
    """Return whether a plugin's volumes on a node count as its driver's (``isCSIMigrationOn``)."""
    if minor < plugin.complete:
        return has_moved(plugin, csi_node, minor)
    return csi_node is not None


def has_moved(plugin: InTree, csi_node: CSINode | None, minor: int) -> bool:
    """Return whether the node reports that the plugin has migrated to its driver (``isPluginMigratedToCSIOnNode``)."""
    if minor < plugin.since:
        return False
    annotations = csi_node.metadata.annotations if csi_node is not None else None
    listed = annotations.migrated_plugins if annotations is not None else None
    return listed is not None and plugin.name in listed.split(",")


def translated_affinity(volume: PersistentVolume, plugin: InTree) -> VolumeNodeAffinity | None:
    """Translate a volume's node affinity to the labels of the CSI driver (``translateTopologyFromInTreeToCSI``)."""
    affinity = volume.spec.node_affinity
    if not plugin.topology_key:
        return affinity
    required = affinity.required if affinity is not None else None
    terms = list((required.node_selector_terms if required is not None else None) or ())
    zone_key, region_key = _topology_labels(terms, volume.labels)
    if _values(terms, zone_key):
        terms = _renamed(terms, zone_key, plugin.topology_key)
    elif zone_key in volume.labels:
        terms = _with_zones(terms, plugin.topology_key, volume.labels[zone_key].split(MULTI_ZONE))
    if region_key == BETA_REGION and _values(terms, BETA_REGION):
        terms = _renamed(terms, BETA_REGION, REGION)
    if not terms and required is None:
        return affinity
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms))


def _topology_labels(terms: Sequence[NodeSelectorTerm], labels: dict[str, str]) -> tuple[str, str]:
    """Return the zone and region label keys that a volume uses: current keys, or beta keys (``getTopologyLabel``)."""
    current, beta = (ZONE, REGION), (BETA_ZONE, BETA_REGION)
    for names in ({each.key for term in terms for each in term.match_expressions or ()}, labels.keys()):
        if ZONE in names:
            return current
        if BETA_ZONE in names:
            return beta
    return current


def _values(terms: Sequence[NodeSelectorTerm], key: str) -> set[str]:
    expressions = [each for term in terms for each in term.match_expressions or () if each.key == key]
    return {value for each in expressions for value in each.values or ()}


def _renamed(terms: Sequence[NodeSelectorTerm], old: str, new: str) -> list[NodeSelectorTerm]:
    def rename(each: NodeSelectorRequirement) -> NodeSelectorRequirement:
        return replace(each, key=new) if each.key == old else each

    return _mapped(terms, lambda expressions: [rename(each) for each in expressions])


def _with_zones(terms: Sequence[NodeSelectorTerm], key: str, zones: Sequence[str]) -> list[NodeSelectorTerm]:
    values = sorted({zone.strip() for zone in zones} - {""})
    if not values:
        return list(terms)
    more = NodeSelectorRequirement(key=key, operator="In", values=values)
    return _mapped(terms or [NodeSelectorTerm()], lambda expressions: [*expressions, more])


def _mapped(
    terms: Sequence[NodeSelectorTerm],
    change: Callable[[Sequence[NodeSelectorRequirement]], list[NodeSelectorRequirement]],
) -> list[NodeSelectorTerm]:
    return [replace(term, match_expressions=change(term.match_expressions or ())) for term in terms]


def _gce_handle(volume: PersistentVolume, disk: NamedDisk) -> str:
    zones = (volume.labels.get(BETA_ZONE) or volume.labels.get(ZONE) or "").split(MULTI_ZONE)
    name = disk.pd_name or ""
    if len(zones) > 1:
        return f"projects/{UNSPECIFIED}/regions/{_gce_region(zones)}/disks/{name}"
    return _gce_zonal(zones[0] or UNSPECIFIED, name)


def _gce_zonal(zone: str, name: str) -> str:
    return f"projects/{UNSPECIFIED}/zones/{zone}/disks/{name}"


def _gce_region(zones: Sequence[str]) -> str:
    """Return the region that all zones are in (``gceGetRegionFromZones``)."""
    regions = set()
    for zone in zones:
        parts = zone.split("-")
        if len(parts) != 3:
            words = f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            raise TranslationError(f"failed to get region from zones: {words}")
        regions.add("-".join(parts[:2]))
    if len(regions) != 1:
        listed = " ".join(f"{region}:{{}}" for region in sorted(regions))
        raise TranslationError(
            f"failed to get region from zones: multiple or no regions gotten from zones, got: map[{listed}]"
        )
    return regions.pop()


_EBS_ID = re.compile(r"vol-[^/]*")


def _ebs_handle(volume_id: str) -> str:
    """``KubernetesVolumeIDToEBSVolumeID``: the last part of ``aws://ZONE/ID``."""
    if not volume_id.startswith("aws://"):
        return volume_id
    found = urlsplit(volume_id).path.strip("/")
    if not _EBS_ID.fullmatch(found):
        raise TranslationError(
            f"failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({volume_id})"
        )
    return found


def _check_azure_kind(kind: str) -> None:
    if kind and kind.lower() != "managed":
        raise TranslationError(f"kind({kind}) is not supported in csi migration")
