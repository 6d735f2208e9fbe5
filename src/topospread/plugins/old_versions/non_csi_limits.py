"""EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits: limits on the number of in-tree disks on a node.

1.31 removed them from the default profile, and 1.32 from kube-scheduler, when NodeVolumeLimits already counted the
disks as volumes of their CSI drivers. Source: plugins/nodevolumelimits/non_csi.go of 1.31.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec
import numpy as np

from topospread.api.node import Node
from topospread.api.quantity import parse_quantity
from topospread.api.storage import NamedDisk, PersistentVolumeClaim, PersistentVolumeSpec
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.volume_use import AWS_DISK, AZURE_DISK, CINDER, CLAIM, EPHEMERAL, GCE_DISK, VolumeRef
from topospread.plugins.csi_migration import AWS, AZURE, GCE, OPENSTACK, InTree, counts_as_csi
from topospread.plugins.interface import (
    UNRESOLVABLE,
    UNSCHEDULABLE,
    PluginError,
    Prepared,
    Scope,
    Status,
    length,
    numbers,
)
from topospread.plugins.pod_volumes import is_owned, not_found, not_owner

REASON = "node(s) exceed max volume count"
_EXCEEDED, _MISSING, _ERROR = 1, 2, 3
_NITRO = re.compile(r"^[cmr]5.*|t3|z1d")
_INSTANCE_TYPES = ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type")


class DiskKind(msgspec.Struct, frozen=True):
    """The kind of volume that one of these plugins counts.

    Attributes:
        source: field of a pod's volume that names such a disk.
        resource: resource in a node's allocatable that has the limit.
        most: function of the node's instance type that returns the limit if the node does not report ``resource``.
        disk: function that returns such a disk's source in a PersistentVolume's spec; None for another kind.
        identity: function that returns the disk's ID.
    """

    plugin: InTree
    source: str
    resource: str
    most: Callable[[str], int]
    disk: Callable[[PersistentVolumeSpec], NamedDisk | None]
    identity: Callable[[NamedDisk], str | None]

    def inline(self, ref: VolumeRef) -> str | None:
        """Return the ID of a disk that a pod's volume names directly; ``None`` for a disk of another kind."""
        if ref.source != self.source:
            return None
        return ref.detail[0] if self.source == AZURE_DISK else ref.name


KINDS = {
    "EBSLimits": DiskKind(
        AWS,
        AWS_DISK,
        "attachable-volumes-aws-ebs",
        lambda instance: 25 if _NITRO.search(instance) else 39,
        lambda spec: spec.aws_elastic_block_store,
        lambda disk: disk.volume_id,
    ),
    "GCEPDLimits": DiskKind(
        GCE,
        GCE_DISK,
        "attachable-volumes-gce-pd",
        lambda _: 16,
        lambda spec: spec.gce_persistent_disk,
        lambda disk: disk.pd_name,
    ),
    "AzureDiskLimits": DiskKind(
        AZURE,
        AZURE_DISK,
        "attachable-volumes-azure-disk",
        lambda _: 16,
        lambda spec: spec.azure_disk,
        lambda disk: disk.disk_name,
    ),
    "CinderLimits": DiskKind(
        OPENSTACK,
        CINDER,
        "attachable-volumes-cinder",
        lambda _: 256,
        lambda spec: spec.cinder,
        lambda disk: disk.volume_id,
    ),
}


class NonCsiLimits:
    """Rejects nodes on which the disks of a kind, with the pod's new disks, exceed the limit.

    It accepts nodes with the kind's CSI driver, which NodeVolumeLimits checks. kube-scheduler's environment variable
    KUBE_MAX_PD_VOLS is assumed to be unset.

    Args:
        minor: minor version of Kubernetes. Since 1.23, ephemeral volumes count and a missing claim of the pod is an
            error; since 1.30, a missing claim rejects the node.
    """

    def __init__(self, name: str, minor: int) -> None:
        self.name = name
        self._kind = KINDS[name]
        self._minor = minor

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter; skip pods without such disks or claims."""
        if not any(ref.source in (CLAIM, EPHEMERAL, self._kind.source) for ref in pod_class.volumes):
            return Prepared()
        disks = _Disks(self.name, self._kind, cluster, self._minor)
        limits = _DiskLimits(pod_class, disks)
        return Prepared(filter=limits if limits.new or limits.problem else None)


class _CountingError(ValueError):
    """An error for a volume that cannot be counted. ``missing``: whether its claim is missing."""

    def __init__(self, words: str, *, missing: bool = False) -> None:
        super().__init__(words)
        self.missing = missing


class _Disks:
    """Finds the disks of a kind among pods' volumes (``filterVolumes``)."""

    def __init__(self, name: str, kind: DiskKind, cluster: Cluster, minor: int) -> None:
        self.name = name
        self.kind = kind
        self.cluster = cluster
        self.minor = minor

    def found(self, refs: Iterable[VolumeRef], *, new: bool) -> set[str]:
        """Return the disks among a pod's volumes. ``new``: whether it is the incoming pod."""
        disks = (self._disk(ref, new=new) for ref in refs)
        return {disk for disk in disks if disk is not None}

    def _disk(self, ref: VolumeRef, *, new: bool) -> str | None:
        inline = self.kind.inline(ref)
        if inline is not None or ref.source not in (CLAIM, EPHEMERAL):
            return inline
        if ref.source == EPHEMERAL and self.minor < 23:
            return None
        if not ref.name:
            raise _CountingError("PersistentVolumeClaim had no name")
        claim = self.cluster.objects.persistent_volume_claims.get((ref.namespace, ref.name))
        if claim is None:
            if new and self.minor >= 23:
                words = not_found("persistentvolumeclaim", ref.name)
                raise _CountingError(f"looking up PVC {ref.namespace}/{ref.name}: {words}", missing=True)
            return None
        if ref.source == EPHEMERAL and not is_owned(claim, ref.detail[1]):
            raise _CountingError(not_owner(ref.namespace, ref.name, ref.detail[0]))
        volume = self.cluster.objects.persistent_volumes.get(claim.spec.volume_name or "")
        if volume is None:
            # A placeholder for the future disk; no real disk has this ID.
            return f" {ref.namespace}/{ref.name}" if self._provisions(claim) else None
        disk = self.kind.disk(volume.spec)
        return None if disk is None else self.kind.identity(disk) or ""

    def _provisions(self, claim: PersistentVolumeClaim) -> bool:
        storage_class = self.cluster.objects.storage_classes.get(claim.spec.storage_class_name or "")
        return storage_class is not None and storage_class.provisioner == self.kind.plugin.name


class _DiskLimits:
    scope = Scope.PODS

    def __init__(self, pod_class: PodClass, disks: _Disks) -> None:
        self._disks = disks
        self._cluster = disks.cluster
        self._failures: dict[str, None] = {}
        self.new: set[str] = set()
        self.problem: _CountingError | None = None
        try:
            self.new = disks.found(pod_class.volumes, new=True)
        except _CountingError as error:
            self.problem = error

    @property
    def may_fail(self) -> bool:
        """True if `filter` has failed on a node so far, or fails on every node."""
        return self.problem is not None or bool(self._failures)

    def filter(self, rows: Rows) -> Ints:
        if self.problem is not None:
            rejects = self.problem.missing and self._disks.minor >= 30
            return np.full(length(rows), _MISSING if rejects else _ERROR, dtype=np.int64)
        return np.array([self._code(row) for row in numbers(rows).tolist()], dtype=np.int64)

    def _code(self, row: int) -> int:
        node = self._cluster.nodes.nodes[row]
        if node is None:
            return 0
        csi_node = self._cluster.objects.csi_nodes.get(node.name)
        if counts_as_csi(self._disks.kind.plugin, csi_node, self._disks.minor):
            return 0
        there: set[str] = set()
        try:
            for each in self._cluster.on_node[row].values():
                if each.volumes:
                    there |= self._disks.found(each.volumes, new=False)
        except _CountingError as error:
            self._failures[str(error)] = None
            return _ERROR
        return _EXCEEDED * (len(there | self.new) > self._most(node))

    def _most(self, node: Node) -> int:
        kind = self._disks.kind
        said = (node.status.allocatable or {}).get(kind.resource)
        if said is not None:
            return parse_quantity(said).value()
        return kind.most(next((node.labels[key] for key in _INSTANCE_TYPES if key in node.labels), ""))

    def status(self, code: int) -> Status:
        if code == _EXCEEDED:
            return Status(UNSCHEDULABLE, (REASON,))
        if code == _MISSING:
            return Status(UNRESOLVABLE, (str(self.problem),))
        words = str(self.problem) if self.problem is not None else next(iter(self._failures))
        raise PluginError(f'running "{self._disks.name}" filter plugin: {words}')
