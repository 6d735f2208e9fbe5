"""The PV controller's actions that do not depend on a pod. kube-scheduler sees only their results.

Volumes and claims are processed in the order of their names; the controller's order is arbitrary. Recycling is not
simulated.
Source: pkg/controller/volume/persistentvolume/pv_controller.go (``syncVolume``, ``syncClaim``), index.go
(``findByClaim``).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeStatus
from topospread.cluster import Cluster
from topospread.cluster.objects import Key

from .claim_binding import bind
from .pod_volumes import WAIT_FOR_FIRST_CONSUMER, claim_uid, is_assumed, selected_node, storage_class_of
from .volume_catalog import capacity
from .volume_index import VolumeIndex, phase_of
from .volume_matching import MatchingError, VolumeMatcher, is_promised, refuse_attributes_class, requested
from .volume_provisioning import DELETE, provisioned, provisions


class VolumeController:
    """Updates volumes and claims like the PV controller.

    Args:
        attributes_classes: whether the gate VolumeAttributesClass is on.
    """

    def __init__(self, cluster: Cluster, *, attributes_classes: bool = True) -> None:
        self._cluster = cluster
        self._objects = cluster.objects
        self._attributes_classes = attributes_classes

    def begin(self) -> None:
        """Update the volumes and claims of a cluster that was just read; bound claims stay unchanged.

        Unused volumes become available, independent of their status. Claims with immediate binding get volumes. If such
        a claim has a phase, the real controller has already failed to provision for it, so only existing volumes count.
        """
        unused = (each for each in self._objects.persistent_volumes.values() if _is_unused(each))
        self._objects.add([_in_phase(each, "Available") for each in unused if phase_of(each) != "Available"])
        self.begin_with(self._objects.persistent_volume_claims)

    def begin_with(self, keys: Iterable[Key]) -> None:
        """Bind or provision volumes for the given claims that are unbound, as when these claims are created."""
        index = VolumeIndex(self._objects.persistent_volumes.values())
        objects = self._objects
        for key in sorted(keys):
            claim = objects.persistent_volume_claims[key]
            # Assumed claims of missing classes wait for their pod.
            waits = storage_class_of(claim) not in objects.storage_classes and is_assumed(claim, objects)
            if not _is_completed(claim) and not waits:
                self._sync_unbound(claim, index, makes=phase_of(claim) == "")

    def sync(self) -> None:
        """Update volumes and claims until nothing changes."""
        objects, before = self._objects, -1
        while before != objects.version:
            before = objects.version
            for name in sorted(objects.persistent_volumes):
                self._sync_volume(objects.persistent_volumes[name])
            index = VolumeIndex(objects.persistent_volumes.values())
            for key in sorted(objects.persistent_volume_claims):
                claim = objects.persistent_volume_claims[key]
                if _is_completed(claim):
                    self._sync_bound(claim, index)
                else:
                    self._sync_unbound(claim, index)

    def _sync_volume(self, volume: PersistentVolume) -> None:
        """Set a volume's phase: available, bound or released. Unbind it if its claim got another volume."""
        if _is_unused(volume):
            self._put_volume(volume, "Available")
            return
        reference = volume.spec.claim_ref
        assert reference is not None, "it is used"
        claim = self._objects.persistent_volume_claims.get((reference.namespace or "", reference.name or ""))
        annotations = volume.metadata.annotations
        made = annotations is not None and annotations.provisioned_by is not None
        deleted = made and volume.spec.persistent_volume_reclaim_policy == DELETE
        if claim is not None and claim_uid(claim) != reference.uid:
            claim = None
        if claim is not None and not claim.spec.volume_name:
            return  # the claim's own sync binds it
        if claim is not None and claim.spec.volume_name == volume.name:
            self._put_volume(volume, "Bound")
        elif deleted:
            self._objects.delete(volume)
        elif claim is None:
            self._put_volume(volume, "Failed" if phase_of(volume) == "Failed" else "Released")
        else:
            self._put_volume(_unbound(volume), "Available")

    def _sync_bound(self, claim: PersistentVolumeClaim, index: VolumeIndex) -> None:
        volume = self._objects.persistent_volumes.get(claim.spec.volume_name or "")
        reference = volume.spec.claim_ref if volume is not None else None
        if volume is None or (reference is not None and (reference.uid or "") != claim_uid(claim)):
            self._put_claim(claim, "Lost")
        elif reference is None or phase_of(claim) != "Bound" or phase_of(volume) != "Bound":
            self._bind(claim, volume, index)

    def _sync_unbound(self, claim: PersistentVolumeClaim, index: VolumeIndex, *, makes: bool = True) -> None:
        if claim.spec.volume_name:
            self._sync_prebound(claim, index)
            return
        storage_class = self._objects.storage_classes.get(storage_class_of(claim))
        waits = storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
        if storage_class is not None and storage_class.volume_binding_mode is None:
            return
        try:
            if not self._attributes_classes:
                refuse_attributes_class(claim)
            volume = index.match(claim, waits=waits, attributes_classes=self._attributes_classes)
        except MatchingError:
            return
        node = self._cluster.nodes.row_of.get(selected_node(claim) or "")
        if volume is None and makes and provisions(storage_class) and (not waits or selected_node(claim) is not None):
            volume = provisioned(claim, None if node is None else self._cluster.nodes.nodes[node], self._objects)
        if volume is None:
            self._put_claim(claim, "Pending")
        else:
            self._bind(claim, volume, index)

    def _sync_prebound(self, claim: PersistentVolumeClaim, index: VolumeIndex) -> None:
        """Bind a claim that names its volume (``checkVolumeSatisfyClaim``)."""
        volume = self._objects.persistent_volumes.get(claim.spec.volume_name or "")
        if volume is not None and (is_promised(volume, claim) or self._satisfies(volume, claim)):
            self._bind(claim, volume, index)
        else:
            self._put_claim(claim, "Pending")

    def _bind(self, claim: PersistentVolumeClaim, volume: PersistentVolume, index: VolumeIndex) -> None:
        bind(claim, volume, self._cluster)
        index.take(volume)

    def _satisfies(self, volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
        matcher = VolumeMatcher(claim, attributes_classes=True)
        return (
            volume.spec.claim_ref is None
            and volume.metadata.deletion_timestamp is None
            and capacity(volume).value() >= requested(claim).value()
            and storage_class_of(volume) == storage_class_of(claim)
            and matcher.volume(volume)
            and (self._attributes_classes or not claim.spec.volume_attributes_class_name)
        )

    def _put_claim(self, claim: PersistentVolumeClaim, phase: str) -> None:
        if phase_of(claim) != phase:
            self._objects.put(replace(claim, status=VolumeStatus(phase=phase)))

    def _put_volume(self, volume: PersistentVolume, phase: str) -> None:
        if phase_of(volume) != phase or self._objects.persistent_volumes[volume.name] is not volume:
            self._objects.put(_in_phase(volume, phase))


def _is_completed(claim: PersistentVolumeClaim) -> bool:
    annotations = claim.metadata.annotations
    return annotations is not None and annotations.bind_completed is not None


def _is_unused(volume: PersistentVolume) -> bool:
    """Return whether the volume has no claim UID: it is free, or only pre-bound."""
    return volume.spec.claim_ref is None or not volume.spec.claim_ref.uid


def _in_phase(volume: PersistentVolume, phase: str) -> PersistentVolume:
    return replace(volume, status=VolumeStatus(phase=phase))


def _unbound(volume: PersistentVolume) -> PersistentVolume:
    """Return the volume unbound, after its claim got another volume (``unbindVolume``)."""
    annotations, reference = volume.metadata.annotations, volume.spec.claim_ref
    if annotations is not None and annotations.bound_by_controller is not None:
        metadata = replace(volume.metadata, annotations=replace(annotations, bound_by_controller=None))
        return replace(volume, metadata=metadata, spec=replace(volume.spec, claim_ref=None))
    assert reference is not None, "it is bound"
    return replace(volume, spec=replace(volume.spec, claim_ref=replace(reference, uid=None)))
