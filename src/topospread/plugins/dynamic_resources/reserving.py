"""Reservation of a placed pod's claims, and deallocation of a claim for a pending pod.

Source: plugins/dynamicresources/dynamicresources.go (``Reserve``, ``PreBind``, ``PostFilter``),
pkg/controller/resourceclaim/controller.go.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import NAMESPACE_OID, uuid5

from msgspec.structs import replace

from topospread.api.device_claims import AllocationResult, ClaimConsumer, ResourceClaim, ResourceClaimStatus
from topospread.api.meta import Annotations, OwnerReference
from topospread.cluster import Cluster
from topospread.cluster.objects import ClusterObjects

from .allocator import SHARE
from .claims import PodDeviceClaim, consumer_of, is_releasable
from .filtering import DeviceFilter, on_node

NameOf = Callable[[str], str]
"""Function that returns the generated name of a claim for extended resources, given its prefix."""


class Consumer:
    """A pod that gets claims.

    Args:
        name, uid: name and UID of the pod.
        generated: returns a generated claim name, as the API server would.
    """

    def __init__(self, name: str, uid: str, generated: NameOf = lambda prefix: f"{prefix}0") -> None:
        self.name = name
        self.uid = uid
        self.generated = generated


class ReservedDevices:
    """The claims of a pod with its node."""

    def __init__(
        self, cluster: Cluster, claims: list[tuple[PodDeviceClaim, ResourceClaim]], consumer: Consumer
    ) -> None:
        self._cluster = cluster
        self._claims = claims
        self._consumer = consumer

    def bind(self) -> str:
        """Write allocations and reservations. Return "", because it cannot fail."""
        consumer = self._consumer
        for known, claim in self._claims:
            reserved = claim.status.reserved_for or []
            user = ClaimConsumer(resource="pods", name=consumer.name, uid=consumer.uid)
            if known.group is not None:
                user = consumer_of(known.group)
            if user in reserved or any(each.uid == consumer.uid for each in reserved):
                continue
            status = replace(claim.status, reserved_for=[*reserved, user])
            written = replace(claim, status=status)
            if known.is_new:
                written = _named(written, known, consumer)
            self._cluster.objects.put(written)
        return ""


def _named(claim: ResourceClaim, known: PodDeviceClaim, consumer: Consumer) -> ResourceClaim:
    """Return a new claim with the name and owner under which it is written."""
    owners = [OwnerReference(api_version="v1", kind="Pod", name=consumer.name, uid=consumer.uid, controller=True)]
    if known.group is not None:
        name, annotations, owners = claim.name, None, claim.metadata.owner_references or []
    elif known.entry:
        name, annotations = f"{consumer.name}-{known.entry}", None
    else:
        name = consumer.generated(f"{consumer.name}-extended-resources-")
        annotations = Annotations(extended_resource_claim="true")
    uid = str(uuid5(NAMESPACE_OID, f"{claim.namespace}/{name}"))
    metadata = replace(claim.metadata, name=name, uid=uid, owner_references=owners, annotations=annotations)
    return replace(claim, api_version="resource.k8s.io/v1", kind="ResourceClaim", metadata=metadata)


def reserve(cluster: Cluster, by: DeviceFilter, row: int, consumer: Consumer) -> ReservedDevices:
    """Return the claims of a pod with their allocations on its node."""
    allocated = by.allocations.of(row)
    new = iter(allocated.allocations)
    claims, _ = on_node(by.wanted, row, cluster)
    here = {(each.namespace, each.name): each for each in claims}
    found = []
    for known in by.wanted.claims:
        claim = here.get((known.claim.namespace, known.claim.name))
        if claim is None:
            continue
        if claim.status.allocation is None:
            found_here = next(new, None)
            if found_here is None:  # the pod was placed on the node although the claim cannot be allocated there
                continue
            allocation = _with_share_ids(found_here, f"{claim.namespace}/{claim.name}/{consumer.name}")
            claim = replace(claim, status=replace(claim.status, allocation=allocation))
        found.append((known, claim))
    return ReservedDevices(cluster, found, consumer)


def _with_share_ids(allocation: AllocationResult, seed: str) -> AllocationResult:
    results = [
        each if each.share_id != SHARE else replace(each, share_id=str(uuid5(NAMESPACE_OID, f"{seed}/{number}")))
        for number, each in enumerate(allocation.devices.results or ())
    ]
    return replace(allocation, devices=replace(allocation.devices, results=results))


def release_elsewhere(objects: ClusterObjects, unavailable: list[PodDeviceClaim], uid: str) -> ResourceClaim | None:
    """Deallocate a claim that only the pending pod reserves. Return it; ``None`` if there is no such claim.

    ``unavailable``: the pod's claims that are allocated elsewhere. Of several suitable claims, the first is
    deallocated; kube-scheduler's choice is random.
    """
    for known in unavailable:
        if is_releasable(known.claim, uid):
            objects.put(replace(known.claim, status=ResourceClaimStatus()))
            return known.claim
    return None
