"""Reserve and PreBind of VolumeBinding: the volumes for a placed pod's claims.

Source: plugins/volumebinding/binder.go (``AssumePodVolumes``, ``BindPodVolumes``). Claims that wait for their first
consumer get the volumes that Filter found on the node; volumes are provisioned for the other claims. PreBind returns
after the PV controller has processed all claims. Here no other scheduling cycle runs between Reserve and PreBind, so
Reserve has no effect that must be undone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from topospread.api.meta import Annotations, ObjectMeta
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeStatus
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects

from .interface import Reservation
from .pod_volumes import is_assumed, is_bound, pod_claims, selected_node, storage_class_of
from .volume_catalog import catalog_of
from .volume_index import VolumeIndex
from .volume_matching import NO_VOLUME, Candidates, Choice, MatchingError, by_size, is_promised
from .volume_provisioning import provisioned, provisions, reference_to

PRE_BIND = 'running PreBind plugin "VolumeBinding": binding volumes: '
TIMEOUT = f"{PRE_BIND}context deadline exceeded"
OUT_OF_REACH = 'pv "{volume}" node affinity doesn\'t match node "{node}": no matching NodeSelectorTerms'


@dataclass(frozen=True, slots=True)
class ReservedVolumes(Reservation):
    """The volumes for a pod's claims on its node.

    Attributes:
        row: row of the node.
        bindings: claims with their existing volumes.
        provisions: claims that need a new volume.
        attributes_classes: whether the gate VolumeAttributesClass is on.
    """

    cluster: Cluster
    row: int
    bindings: tuple[tuple[PersistentVolumeClaim, PersistentVolume], ...] = ()
    provisions: tuple[PersistentVolumeClaim, ...] = ()
    attributes_classes: bool = True

    def bind(self, *, makes_volumes: bool = True) -> str:
        """Bind the claims and provision missing volumes. Return PreBind's message if it times out.

        The PV controller first looks for an existing volume that names the claim. It binds that volume even if its
        class differs or the node cannot reach it (``checkBindings``).

        Args:
            makes_volumes: whether provisioners succeed. If not, the claim's selected node is cleared, for a new
                attempt.
        """
        failed = self._bind_existing()
        name, node = self.cluster.nodes.names[self.row], self.cluster.nodes.nodes[self.row]
        for claim in self.provisions:
            held = self.cluster.objects.persistent_volume_claims.get((claim.namespace, claim.name))
            if held is not None and held.spec.volume_name:  # listed twice by the pod, and bound by the first entry
                self.cluster.objects.put(replace(held, metadata=_annotated(held, selected_node=name)))
                continue
            chosen = replace(claim, metadata=_annotated(claim, selected_node=name))
            volume = self._named_by(claim)
            if volume is not None:
                bind(chosen, volume, self.cluster)
                if not catalog_of(self.cluster).reached(volume, np.array([self.row], dtype=np.int64))[0]:
                    failed = failed or PRE_BIND + OUT_OF_REACH.format(volume=volume.name, node=name)
            elif makes_volumes:
                bind(chosen, provisioned(claim, node, self.cluster.objects), self.cluster)
            else:
                if selected_node(claim) is not None:
                    self.cluster.objects.put(replace(claim, metadata=_annotated(claim, selected_node=None)))
                failed = failed or f'{PRE_BIND}provisioning failed for PVC "{claim.name}"'
        return failed

    def assume(self) -> str:
        """Reserve the volumes without binding the claims, so that pods scheduled later cannot use the volumes."""
        for claim, volume in self.bindings:
            self.cluster.objects.put(replace(volume, spec=replace(volume.spec, claim_ref=reference_to(claim))))
        for claim in self.provisions:
            chosen = _annotated(claim, selected_node=self.cluster.nodes.names[self.row])
            self.cluster.objects.put(replace(claim, metadata=chosen))
        return ""

    def _named_by(self, claim: PersistentVolumeClaim) -> PersistentVolume | None:
        """Return the volume that names the claim and that the PV controller binds to it; ``None`` without one."""
        naming = [stock.volume for stock in catalog_of(self.cluster).naming(claim)]
        if not naming:
            return None
        try:
            return VolumeIndex(naming).match(claim, waits=True, attributes_classes=self.attributes_classes)
        except MatchingError:
            return None

    def _kept(self, claim: PersistentVolumeClaim) -> PersistentVolume:
        """Return the volume that the PV controller keeps for a claim; ``bindings`` may have two volumes for it."""
        found = [volume for each, volume in self.bindings if each.name == claim.name]
        if len(found) == 1:
            return found[0]
        naming = [replace(each, spec=replace(each.spec, claim_ref=reference_to(claim))) for each in found]
        kept = VolumeIndex(naming).match(claim, waits=True, attributes_classes=self.attributes_classes)
        return next((each for each in found if kept is not None and each.name == kept.name), found[0])

    def _bind_existing(self) -> str:
        """Bind the claims in ``bindings``. Return PreBind's message if a claim is not bound, else "".

        Filter accepts a volume that names a claim even if its access modes do not match. The PV controller checks them
        and does not bind the claim. Then PreBind times out, and the volume keeps the claim's uid. If a pod lists a
        claim twice, each entry gets a volume, and the PV controller releases one of the volumes.
        """
        failed = ""
        for claim, volume in self.bindings:
            if volume is not self._kept(claim):
                failed = failed or f'{PRE_BIND}ClaimRef got reset for pv "{volume.name}"'
                continue
            if set(claim.spec.access_modes or ()) <= set(volume.spec.access_modes or ()):
                bind(claim, volume, self.cluster)
            else:
                self.cluster.objects.put(replace(volume, spec=replace(volume.spec, claim_ref=reference_to(claim))))
                failed = TIMEOUT
        return failed


def reserve(cluster: Cluster, pod_class: PodClass, row: int, *, attributes_classes: bool = True) -> ReservedVolumes:
    """Choose volumes for the claims of a pod on a node: the smallest that fits and is reachable, else a new one.

    Skip claims that are missing, are bound, or already name a volume.
    """
    found = pod_claims(pod_class.pod, cluster.objects)
    claims = [each.claim for each in found if each.claim is not None]
    waiting = [each for each in claims if not is_bound(each) and not each.spec.volume_name]
    bindings: list[tuple[PersistentVolumeClaim, PersistentVolume]] = []
    wanted = {each.name: each for each in waiting if selected_node(each) is not None}
    only, choices = np.array([row], dtype=np.int64), list[Choice]()
    for claim in by_size(each for each in waiting if selected_node(each) is None):
        try:
            candidates = Candidates(claim, catalog_of(cluster), attributes_classes=attributes_classes)
        except MatchingError:
            continue
        choices.append(candidates.choose(only, choices))
        place = int(choices[-1].places[0])
        if place == NO_VOLUME:
            wanted[claim.name] = claim
        else:
            bindings.append((claim, candidates.volumes[place].volume))
    made = tuple(each for each in wanted.values() if _can_be_made(each, cluster.objects))
    return ReservedVolumes(cluster, row, tuple(bindings), made, attributes_classes)


def _can_be_made(claim: PersistentVolumeClaim, objects: ClusterObjects) -> bool:
    """Return whether a volume can be provisioned for a claim. An assumed claim's class may be missing."""
    storage_class = objects.storage_classes.get(storage_class_of(claim))
    return provisions(storage_class) or (storage_class is None and is_assumed(claim, objects))


def bind(claim: PersistentVolumeClaim, volume: PersistentVolume, cluster: Cluster) -> None:
    """Write a binding into both objects (pv_controller.go, ``bind``)."""
    taken = replace(volume, status=VolumeStatus(phase="Bound"))
    if volume.spec.claim_ref != (reference := reference_to(claim)):
        taken.spec = replace(volume.spec, claim_ref=reference)
    if not is_promised(volume, claim):
        taken.metadata = _annotated(volume, bound_by_controller="yes")
    metadata = _annotated(claim, bind_completed="yes")
    if claim.spec.volume_name != volume.name and metadata.annotations is not None:
        metadata.annotations.bound_by_controller = "yes"
    bound = replace(
        claim, metadata=metadata, spec=replace(claim.spec, volume_name=volume.name), status=VolumeStatus(phase="Bound")
    )
    cluster.objects.bind_claim(bound, taken)


def _annotated(item: PersistentVolume | PersistentVolumeClaim, **more: str | None) -> ObjectMeta:
    return replace(item.metadata, annotations=replace(item.metadata.annotations or Annotations(), **more))
