"""Volumes that the pods on each node use, as references from pod specs. Plugins resolve them to objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from topospread.api.pod import Pod, Volume

CLAIM, EPHEMERAL = "persistentVolumeClaim", "ephemeral"
GCE_DISK, AWS_DISK, ISCSI, RBD = "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"
AZURE_DISK, CINDER, PORTWORX = "azureDisk", "cinder", "portworxVolume"


class VolumeRef(NamedTuple):
    """A volume as a pod names it. Equal references name the same volume.

    Attributes:
        source: field of the pod's volume.
        namespace: namespace of the claim; "" for a disk.
        name: name of the claim, or id of the disk.
        detail: pod name and uid for an ephemeral volume; pool of an RBD image; name and kind of an Azure disk.
    """

    source: str
    namespace: str
    name: str
    detail: tuple[str, ...] = ()


class Follower(Protocol):
    """An observer of the volumes that nodes use, and of the objects behind them."""

    def on_volume(self, row: int, ref: VolumeRef, used: bool) -> None:
        """Handle the first use of a volume on a node, or the end of its last use (``used`` is False)."""

    def on_csi_node(self, name: str) -> None:
        """Handle a CSINode that was added, changed or deleted."""

    def on_attachment(self, name: str) -> None:
        """Handle a changed VolumeAttachment, or a change of the volume that it names."""


class VolumeUse:
    """Use counts of volumes by node.

    Attributes:
        users: volume → row → number of pod volumes on that node that name it.
    """

    def __init__(self) -> None:
        self.users: dict[VolumeRef, dict[int, int]] = {}
        self._of_claim: dict[tuple[str, str], set[VolumeRef]] = {}
        self._followers: WeakValueDictionary[int, Follower] = WeakValueDictionary()
        self._followed = 0

    def follow(self, follower: Follower) -> None:
        """Notify an observer of every change, until it is garbage collected."""
        self._followers[self._followed] = follower
        self._followed += 1

    def total(self, ref: VolumeRef) -> int:
        """Return the number of pod volumes on all nodes that name the volume."""
        return sum(self.users.get(ref, {}).values())

    def add(self, refs: Iterable[VolumeRef], row: int) -> None:
        """Count the volumes of a pod that was placed on a node."""
        for ref in refs:
            rows = self.users.get(ref)
            if rows is None:
                rows = self.users[ref] = {}
                if ref.source in (CLAIM, EPHEMERAL):
                    self._of_claim.setdefault((ref.namespace, ref.name), set()).add(ref)
            rows[row] = rows.get(row, 0) + 1
            if rows[row] == 1:
                self._tell(row, ref, True)

    def remove(self, refs: Iterable[VolumeRef], row: int) -> None:
        """Stop counting the volumes of a pod that was removed from a node."""
        for ref in refs:
            rows = self.users[ref]
            rows[row] -= 1
            if not rows[row]:
                del rows[row]
                if not rows:
                    self._forget(ref)
                self._tell(row, ref, False)

    def rename_claim(self, key: tuple[str, str]) -> set[int]:
        """Report to observers the end and a new start of each use of a claim, because its volume changed.

        Returns:
            The rows of the nodes that use the claim.
        """
        rows: set[int] = set()
        for ref in self._of_claim.get(key, ()):
            for row in list(self.users[ref]):
                rows.add(row)
                self._tell(row, ref, False)
                self._tell(row, ref, True)
        return rows

    def node_changed(self, name: str) -> None:
        """Notify observers of a changed CSINode."""
        for follower in self._followers.values():
            follower.on_csi_node(name)

    def attachment_changed(self, name: str) -> None:
        """Notify observers of a changed VolumeAttachment."""
        for follower in self._followers.values():
            follower.on_attachment(name)

    def _forget(self, ref: VolumeRef) -> None:
        del self.users[ref]
        if ref.source in (CLAIM, EPHEMERAL):
            refs = self._of_claim[ref.namespace, ref.name]
            refs.discard(ref)
            if not refs:
                del self._of_claim[ref.namespace, ref.name]

    def _tell(self, row: int, ref: VolumeRef, used: bool) -> None:
        for follower in self._followers.values():
            follower.on_volume(row, ref, used)


def volume_refs(pod: Pod) -> tuple[VolumeRef, ...]:
    """Return the volumes of a pod that a volume plugin reads, in the pod's order."""
    volumes = pod.spec.volumes
    if not volumes:
        return ()
    return tuple(ref for volume in volumes if volume.is_storage for ref in _refs(volume, pod))


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """Return the claim behind a volume, ``None`` if it has none. The claim of an ephemeral volume is named after the
    pod.

    Source: k8s.io/component-helpers/storage/ephemeral (``VolumeClaimName``).
    """
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    if volume.ephemeral is not None:
        return f"{pod.name}-{volume.name}"
    return None


def _refs(volume: Volume, pod: Pod) -> Iterator[VolumeRef]:
    claim = claim_name(pod, volume)
    if claim is not None:
        if volume.persistent_volume_claim is not None:
            yield VolumeRef(CLAIM, pod.namespace, claim)
        else:
            yield VolumeRef(EPHEMERAL, pod.namespace, claim, (pod.name, pod.metadata.uid or ""))
        return
    if volume.gce_persistent_disk is not None:
        yield VolumeRef(GCE_DISK, "", volume.gce_persistent_disk.pd_name)
    if volume.aws_elastic_block_store is not None:
        yield VolumeRef(AWS_DISK, "", volume.aws_elastic_block_store.volume_id)
    if volume.iscsi is not None:
        yield VolumeRef(ISCSI, "", volume.iscsi.iqn)
    if volume.rbd is not None:
        yield VolumeRef(RBD, "", volume.rbd.image, (volume.rbd.pool or "",))
    if volume.azure_disk is not None:
        disk = volume.azure_disk
        yield VolumeRef(AZURE_DISK, "", disk.disk_uri, (disk.disk_name, disk.kind or ""))
    if volume.cinder is not None:
        yield VolumeRef(CINDER, "", volume.cinder.volume_id)
    if volume.portworx_volume is not None:
        yield VolumeRef(PORTWORX, "", volume.portworx_volume.volume_id)
