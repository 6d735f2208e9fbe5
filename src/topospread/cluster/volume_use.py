"""Volumes in use on each node, by the names in pods. Plugins resolve the names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol
from weakref import WeakValueDictionary

from topospread.api.pod import Pod, Volume

CLAIM, EPHEMERAL = "persistentVolumeClaim", "ephemeral"
GCE_DISK, AWS_DISK, ISCSI, RBD = "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd"
AZURE_DISK, CINDER, PORTWORX = "azureDisk", "cinder", "portworxVolume"


class VolumeRef(NamedTuple):
    """A volume as a pod names it; equal where pods name the same.

    Attributes:
        source: the field of the pod's volume that names it.
        namespace: of the claim; "" for a disk.
        name: of the claim, or what identifies the disk.
        detail: of an ephemeral volume the pod's name and uid, of an RBD image its pool, of an Azure disk its
            name and kind.
    """

    source: str
    namespace: str
    name: str
    detail: tuple[str, ...] = ()


class Follower(Protocol):
    """Told whenever a node's pods begin or cease to use a volume, and of changed objects behind volumes."""

    def on_volume(self, row: int, ref: VolumeRef, used: bool) -> None:
        """``used``: whether some pod on the node uses it now."""

    def on_csi_node(self, name: str) -> None:
        """A node's CSINode came, changed or went."""

    def on_attachment(self, name: str) -> None:
        """A VolumeAttachment came, changed or went, or the volume that it names."""


class VolumeUse:
    """Counts uses as pods come and go, at the cost of the volumes they name.

    Attributes:
        users: volume → row → how often the pods there name it.
    """

    def __init__(self) -> None:
        self.users: dict[VolumeRef, dict[int, int]] = {}
        self._of_claim: dict[tuple[str, str], set[VolumeRef]] = {}
        self._followers: WeakValueDictionary[int, Follower] = WeakValueDictionary()
        self._followed = 0

    def follow(self, follower: Follower) -> None:
        """Tell somebody of every change from now on, as long as anybody else holds them."""
        self._followers[self._followed] = follower
        self._followed += 1

    def total(self, ref: VolumeRef) -> int:
        """Return how often pods on any node name the volume."""
        return sum(self.users.get(ref, {}).values())

    def add(self, refs: Iterable[VolumeRef], row: int) -> None:
        """A pod with these volumes came to a node."""
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
        """A pod with these volumes left a node."""
        for ref in refs:
            rows = self.users[ref]
            rows[row] -= 1
            if not rows[row]:
                del rows[row]
                if not rows:
                    self._forget(ref)
                self._tell(row, ref, False)

    def rename_claim(self, key: tuple[str, str]) -> set[int]:
        """Behind a claim, (namespace, name), is another volume now: its users are told as if they had come anew.

        Returns their rows.
        """
        rows: set[int] = set()
        for ref in self._of_claim.get(key, ()):
            for row in list(self.users[ref]):
                rows.add(row)
                self._tell(row, ref, False)
                self._tell(row, ref, True)
        return rows

    def node_changed(self, name: str) -> None:
        """A CSINode came, changed or went."""
        for follower in self._followers.values():
            follower.on_csi_node(name)

    def attachment_changed(self, name: str) -> None:
        """A VolumeAttachment came, changed or went."""
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
    """The volumes of a pod that a volume plugin looks at, in the pod's order."""
    volumes = pod.spec.volumes
    if not volumes:
        return ()
    return tuple(ref for volume in volumes if volume.is_storage for ref in _refs(volume, pod))


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The claim behind a volume, ``None`` when it is no claim; an ephemeral volume's is named after the pod.

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
