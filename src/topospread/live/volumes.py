"""Bind the volumes of a placed pod: assume them, write them, and wait for the controllers.

`plugins.claim_binding` chooses the volumes. Source: plugins/volumebinding/binder.go (``AssumePodVolumes``,
``BindPodVolumes``, ``bindAPIUpdate``, ``checkBindings``), volume_binding.go (``Unreserve``). The node affinity of
volumes migrated from in-tree plugins to CSI is read unchanged.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import msgspec
from msgspec.structs import replace

from topospread.api.meta import Annotations, KubeObject, ObjectMeta
from topospread.api.node import Node
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim
from topospread.plugins.claim_binding import ReservedVolumes
from topospread.plugins.interface import PluginError
from topospread.plugins.node_matching import matches_node
from topospread.plugins.pod_volumes import is_bound, selected_node
from topospread.plugins.volume_matching import is_promised
from topospread.plugins.volume_provisioning import reference_to

from .api_error import RequestError
from .client import ApiClient
from .objects import ObjectCache, version_of
from .write_order import Write, WriteOrder

MERGE = "application/merge-patch+json"
_BOUND_BY_CONTROLLER = "pv.kubernetes.io/bound-by-controller"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_POLL = 1.0

Json = dict[str, Any]


class VolumesNotBound(Exception):  # noqa: N818 - it says what is the case
    """Raised if the pod's volumes could not be bound, with kube-scheduler's message."""


class _Written(msgspec.Struct):
    metadata: ObjectMeta


@dataclass(slots=True)
class VolumeReservation:
    """The resources reserved for a pod on a node.

    Attributes:
        volumes: (claim, volume to bind to it); the volume in the state to write.
        claims: claims that need a new volume, in the state to write.
    """

    node: str
    volumes: list[tuple[PersistentVolumeClaim, PersistentVolume]] = field(default_factory=list)
    claims: list[PersistentVolumeClaim] = field(default_factory=list)

    @property
    def nothing_to_do(self) -> bool:
        """True if all of the pod's claims are bound."""
        return not self.volumes and not self.claims


class Volumes:
    """Binds volumes."""

    def __init__(self, client: ApiClient, order: WriteOrder, objects: ObjectCache) -> None:
        self._client = client
        self._order = order
        self._nodes = objects.of(Node)
        self._volumes = objects.of(PersistentVolume)
        self._claims = objects.of(PersistentVolumeClaim)
        self._waiting: set[asyncio.Event] = set()

    def changed(self, item: KubeObject) -> None:
        """Wake waiting bindings after a change of a volume or claim."""
        if isinstance(item, PersistentVolume | PersistentVolumeClaim):
            for each in self._waiting:
                each.set()

    def reserve(self, reserved: ReservedVolumes) -> VolumeReservation:
        """Assume the volumes and claims in the states that will be written."""
        reservation = VolumeReservation(reserved.cluster.nodes.names[reserved.row])
        for claim, volume in reserved.bindings:
            # The volume gets a claimRef to the claim (``GetBindVolumeToClaim``).
            metadata = volume.metadata
            if not is_promised(volume, claim):
                metadata = replace(
                    metadata, annotations=replace(metadata.annotations or Annotations(), bound_by_controller="yes")
                )
            promised = replace(volume, metadata=metadata, spec=replace(volume.spec, claim_ref=reference_to(claim)))
            self._volumes.assume(promised)
            reservation.volumes.append((claim, promised))
        for claim in reserved.provisions:
            annotations = replace(claim.metadata.annotations or Annotations(), selected_node=reservation.node)
            chosen = replace(claim, metadata=replace(claim.metadata, annotations=annotations))
            self._claims.assume(chosen)
            reservation.claims.append(chosen)
        return reservation

    def unreserve(self, reservation: VolumeReservation) -> None:
        """Undo assumptions. Written states stay."""
        for _, volume in reservation.volumes:
            self._volumes.revert(volume)
        for claim in reservation.claims:
            self._claims.revert(claim)

    async def bind(
        self, reservation: VolumeReservation, is_there: Callable[[], bool], pod: str, timeout: float
    ) -> None:
        """Write the reservation, and wait until the controllers have bound every claim.

        Args:
            is_there: returns whether the pod still exists.
            pod: its name.
            timeout: time limit in seconds.

        Raises:
            VolumesNotBound: if a write is denied, a claim is reset, or it takes too long.
        """
        versions = await self._write(reservation)
        woken = asyncio.Event()
        self._waiting.add(woken)
        try:
            async with asyncio.timeout(timeout):
                while not self._all_bound(reservation, versions, is_there, pod):
                    woken.clear()
                    try:
                        # Not wait_for: in Python 3.11 it can swallow a cancellation that arrives together with the
                        # wake-up.
                        async with asyncio.timeout(_POLL):
                            await woken.wait()
                    except TimeoutError:
                        continue
        except TimeoutError:
            raise VolumesNotBound("binding volumes: context deadline exceeded") from None
        finally:
            self._waiting.discard(woken)

    async def _write(self, reservation: VolumeReservation) -> dict[str, int]:
        """Write volumes and claims (``bindAPIUpdate``). Return name → new resource version."""
        versions: dict[str, int] = {}
        try:
            for claim, volume in reservation.volumes:
                path = f"/api/v1/persistentvolumes/{volume.name}"
                versions[volume.name] = await self._patch(path, _volume_patch(volume, claim))
            for claim in reservation.claims:
                path = f"/api/v1/namespaces/{claim.namespace}/persistentvolumeclaims/{claim.name}"
                metadata = {"annotations": {_SELECTED_NODE: reservation.node}}
                versions[f"{claim.namespace}/{claim.name}"] = await self._patch(
                    path, {"metadata": metadata | {"resourceVersion": claim.metadata.resource_version}}
                )
        except RequestError as error:
            raise VolumesNotBound(getattr(error, "message", "") or str(error)) from error
        return versions

    async def _patch(self, path: str, patch: Json) -> int:
        async with self._order.turn(Write.BINDING):
            body = await self._client.request("PATCH", path, body=patch, content_type=MERGE)
        return version_of(msgspec.json.decode(body, type=_Written).metadata)

    def _all_bound(
        self, reservation: VolumeReservation, versions: dict[str, int], is_there: Callable[[], bool], pod: str
    ) -> bool:
        """Return whether the controllers bound all claims (``checkBindings``). Raise VolumesNotBound after a reset."""
        node = self._nodes.known.get(("", reservation.node))
        if node is None:
            raise VolumesNotBound(
                f'binding volumes: failed to get node "{reservation.node}": node "{reservation.node}" not found'
            )
        if not is_there():
            raise VolumesNotBound(f'binding volumes: pod does not exist any more: pod "{pod}" not found')
        return all(
            [self._is_taken(claim, volume.name, node, versions) for claim, volume in reservation.volumes]
            + [self._is_made(claim, node, versions) for claim in reservation.claims]
        )

    def _is_taken(self, claim: PersistentVolumeClaim, name: str, node: Node, versions: dict[str, int]) -> bool:
        volume = self._volumes.known.get(("", name))
        if volume is None:
            raise VolumesNotBound(
                f'binding volumes: failed to check binding: could not find v1.PersistentVolume "{name}"'
            )
        current = self._claim(claim, "failed to check binding")
        if versions[name] > version_of(volume.metadata):
            return False
        _check_reach(volume, node)
        if volume.spec.claim_ref is None or not volume.spec.claim_ref.uid:
            raise VolumesNotBound(f'binding volumes: ClaimRef got reset for pv "{name}"')
        return is_bound(current)

    def _is_made(self, claim: PersistentVolumeClaim, node: Node, versions: dict[str, int]) -> bool:
        current = self._claim(claim, "failed to check provisioning pvc")
        if versions[f"{claim.namespace}/{claim.name}"] > version_of(current.metadata):
            return False
        if selected_node(current) != node.name:
            raise VolumesNotBound(f'binding volumes: provisioning failed for PVC "{claim.name}"')
        if current.spec.volume_name:
            volume = self._volumes.known.get(("", current.spec.volume_name))
            if volume is None:
                return False
            _check_reach(volume, node)
        return is_bound(current)

    def _claim(self, claim: PersistentVolumeClaim, what: str) -> PersistentVolumeClaim:
        current: PersistentVolumeClaim | None = self._claims.known.get((claim.namespace, claim.name))
        if current is None:
            named = f"{claim.namespace}/{claim.name}"
            raise VolumesNotBound(f'binding volumes: {what}: could not find v1.PersistentVolumeClaim "{named}"')
        return current


def _check_reach(volume: PersistentVolume, node: Node) -> None:
    """Raise VolumesNotBound if the node does not match the volume's node affinity (``CheckNodeAffinity``)."""
    affinity = volume.spec.node_affinity
    required = affinity.required if affinity is not None else None
    if required is None:
        return
    try:
        reached = matches_node(required, node)
    except PluginError as error:
        raise VolumesNotBound(f"binding volumes: {error}") from error
    if not reached:
        raise VolumesNotBound(
            f'binding volumes: pv "{volume.name}" node affinity doesn\'t match node "{node.name}": '
            "no matching NodeSelectorTerms"
        )


def _volume_patch(volume: PersistentVolume, claim: PersistentVolumeClaim) -> Json:
    metadata: Json = {"resourceVersion": volume.metadata.resource_version}
    if volume.metadata.annotations is not None and volume.metadata.annotations.bound_by_controller:
        metadata["annotations"] = {_BOUND_BY_CONTROLLER: volume.metadata.annotations.bound_by_controller}
    reference = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": claim.namespace,
        "name": claim.name,
        "uid": claim.metadata.uid,
        "resourceVersion": claim.metadata.resource_version,
    }
    return {"metadata": metadata, "spec": {"claimRef": reference}}
