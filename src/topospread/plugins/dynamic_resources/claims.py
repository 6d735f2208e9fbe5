"""The claims of a pod: existing claims, claims from templates, and the claim for extended resources.

Source: k8s.io/dynamic-resource-allocation/resourceclaim/resourceclaim.go, plugins/dynamicresources (``claimStore``,
extendeddynamicresources.go).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

import msgspec

from topospread.api.device_claims import (
    ClaimConsumer,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
)
from topospread.api.devices import IMPLICIT_PREFIX, DeviceClass
from topospread.api.meta import ObjectMeta, OwnerReference
from topospread.api.pod import Container, Pod, PodResourceClaim
from topospread.api.pod_groups import PodGroup
from topospread.api.quantity import parse_quantity
from topospread.api.requests import is_extended_resource
from topospread.cluster.objects import ClusterObjects, ObjectKey
from topospread.plugins.interface import OWN_NAME
from topospread.plugins.pod_group_members import group_key

NAME: Final = "DynamicResources"
WHAT: Final = "resourceClaims"
"""Key under which answers name pods with resource claims."""
ON_ADDED_NODE: Final = "devices of a node that a command adds are not known"
EXTENDED: Final = "<extended-resources>"
"""Name of the claim for extended resources before it is written."""
NOT_ALLOCATED: Final = "cannot allocate all claims"
"""kube-scheduler's words for a node whose devices do not suffice."""
_ALIKE: Final = 1000
"""Maximum number of templates among which a message's suggestion is searched."""
_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


class ClaimMissingError(Exception):
    """A claim of a pod does not exist or belongs to another pod. The message is kube-scheduler's.

    Attributes:
        because: an explanation that kube-scheduler's message lacks; "" without one.
        kind: kind of the missing object; "" if the claim belongs to another pod.
    """

    def __init__(self, message: str, because: str = "", kind: str = "") -> None:
        super().__init__(message)
        self.because = because
        self.kind = kind


class PodDeviceClaim(msgspec.Struct, frozen=True):
    """A claim of a pod.

    Attributes:
        claim: the object. A claim that does not exist yet is made with the spec of its template.
        entry: name of the claim in the pod's spec; "" for the claim for extended resources.
        is_new: whether the claim is created when the pod gets a node.
        group: the PodGroup for which the claim is reserved; ``None`` if it is reserved for the pod.
    """

    claim: ResourceClaim
    entry: str
    is_new: bool = False
    group: PodGroup | None = None


class ClaimsWanted(msgspec.Struct, frozen=True):
    """The combined requests of a pod's claims.

    Attributes:
        claims: the claims in the pod's order; the claim for extended resources is last.
        extended: requested extended resource → DeviceClass that provides it.
        others: requested extended resources without a DeviceClass.
    """

    pod: Pod
    claims: tuple[PodDeviceClaim, ...]
    extended: Mapping[str, DeviceClass]
    others: tuple[str, ...]

    @property
    def key(self) -> Hashable:
        """A key that is equal for pods with equal possible allocations on every node."""
        described = [(each.claim.spec, each.claim.status.allocation, each.claim.status.devices) for each in self.claims]
        resources = None
        if self.extended:
            spec = self.pod.spec
            containers = [
                (each.resources, each.restart_policy)
                for each in (*(spec.init_containers or ()), *(spec.containers or ()))
            ]
            resources = (len(spec.init_containers or ()), containers, sorted(self.extended), self.others)
        return _ENCODER.encode((described, resources))


def pod_device_claims(pod: Pod, objects: ClusterObjects, *, of_groups: bool = False) -> list[PodDeviceClaim]:
    """Return the claims that a pod's spec names, in the order of the spec.

    ``of_groups``: whether claims can be reserved for PodGroups.

    Raises:
        ClaimMissingError: if a claim is missing, is being deleted, or belongs to another pod.
    """
    key = group_key(pod) if of_groups else None
    group = None if key is None else objects.pod_groups.get(key)
    found = (_claim(pod, each, objects, group) for each in pod.spec.resource_claims or ())
    return [each for each in found if each is not None]


def claim_reads(pod: Pod) -> Iterator[ObjectKey]:
    """Return the objects that a pod's claims depend on, even missing ones."""
    key = group_key(pod)
    if key is not None:
        yield ObjectKey(PodGroup, key)
    for each in pod.spec.resource_claims or ():
        name = claim_name(pod, each)
        if name:
            yield ObjectKey(ResourceClaim, (pod.namespace, name))
        elif each.resource_claim_template_name:
            yield ObjectKey(ResourceClaimTemplate, (pod.namespace, each.resource_claim_template_name))


def claim_name(pod: Pod, entry: PodResourceClaim) -> str | None:
    """Return the name of the claim for an entry of a pod; "" if none is needed, ``None`` if it is not yet created."""
    if entry.resource_claim_name is not None:
        return entry.resource_claim_name
    for each in (pod.status.resource_claim_statuses or ()) if pod.status is not None else ():
        if each.name == entry.name:
            return each.resource_claim_name or ""
    return None


def _claim(pod: Pod, entry: PodResourceClaim, objects: ClusterObjects, group: PodGroup | None) -> PodDeviceClaim | None:
    shared = group if group is not None and _is_of_group(entry, group) else None
    name = claim_name(pod, entry)
    if name == "":
        return None
    if name is None:
        template = objects.resource_claim_templates.get((pod.namespace, entry.resource_claim_template_name or ""))
        if template is None:
            wanted, there = entry.resource_claim_template_name or "", objects.resource_claim_templates
            alike = get_close_matches(wanted, [name for space, name in there if space == pod.namespace][:_ALIKE], 1)
            because = f"the ResourceClaimTemplate {pod.namespace}/{wanted} does not exist"
            because += f"; did you mean {alike[0]}?" if alike else ""
            raise ClaimMissingError(
                f'pod "{OWN_NAME}": ResourceClaim not created yet', because, "ResourceClaimTemplate"
            )
        owner = pod if shared is None else shared
        metadata = ObjectMeta(name=f"{owner.name}-{entry.name}", namespace=pod.namespace)
        made = None
        if shared is not None:
            metadata.name = group_claim_name(shared, entry.name) or metadata.name
            metadata.owner_references = [_owner(shared)]
            made = objects.resource_claims.get((pod.namespace, metadata.name or ""))
        claim = made or ResourceClaim(metadata=metadata, spec=template.spec.spec)
        return PodDeviceClaim(claim, entry.name, is_new=made is None, group=shared)
    known = objects.resource_claims.get((pod.namespace, name))
    if known is None:
        raise ClaimMissingError(f'could not find ResourceClaim "{pod.namespace}/{name}"', kind="ResourceClaim")
    if known.metadata.deletion_timestamp is not None:
        raise ClaimMissingError(f'resourceclaim "{name}" is being deleted')
    if entry.resource_claim_name is None and not (is_owned_by(known, pod) or _is_owned_by_group(known, group)):
        owners = "Pod is not owner" if group is None else f"neither Pod nor PodGroup {group.name} is the owner"
        words = f"was not created for Pod {pod.namespace}/{pod.name} ({owners})"
        raise ClaimMissingError(f"ResourceClaim {known.namespace}/{known.name} {words}")
    return PodDeviceClaim(known, entry.name, group=shared)


def _is_of_group(entry: PodResourceClaim, group: PodGroup) -> bool:
    """Return whether a claim of a pod is reserved for its group (``BindTo``)."""
    wanted = (entry.name, entry.resource_claim_name, entry.resource_claim_template_name)
    return any(
        (each.name, each.resource_claim_name, each.resource_claim_template_name) == wanted
        for each in group.spec.resource_claims or ()
    )


def group_claim_name(group: PodGroup, entry: str) -> str | None:
    """Return the name of the claim for an entry of a group; ``None`` if the claim is not yet created."""
    made = (each.resource_claim_name for each in group.status.resource_claim_statuses or () if each.name == entry)
    return next(made, None)


def _owner(group: PodGroup) -> OwnerReference:
    return OwnerReference(
        api_version="scheduling.k8s.io/v1beta1",
        kind="PodGroup",
        name=group.name,
        uid=group.metadata.uid or "",
        controller=True,
    )


def _is_owned_by_group(claim: ResourceClaim, group: PodGroup | None) -> bool:
    owner = claim.metadata.controller
    return group is not None and owner is not None and (owner.kind, owner.name) == ("PodGroup", group.name)


def consumer_of(group: PodGroup) -> ClaimConsumer:
    """Return the ``reservedFor`` entry of claims that are reserved for a group."""
    return ClaimConsumer(
        api_group="scheduling.k8s.io", resource="podgroups", name=group.name, uid=group.metadata.uid or ""
    )


def is_owned_by(claim: ResourceClaim, pod: Pod) -> bool:
    """Return whether the pod is the claim's controller."""
    owner = claim.metadata.controller
    return owner is not None and owner.uid == (pod.metadata.uid or "")


def is_releasable(claim: ResourceClaim, uid: str) -> bool:
    """Return whether a claim is not reserved, or is reserved only for the pod with this uid."""
    reserved = claim.status.reserved_for or []
    return not reserved or (len(reserved) == 1 and reserved[0].uid == uid)


def class_behind(name: str, classes: Iterable[DeviceClass]) -> DeviceClass | None:
    """Return the DeviceClass that provides a resource. If several do, return the newest, then the first by name."""
    if name.startswith(IMPLICIT_PREFIX):
        return next((each for each in classes if each.name == name.removeprefix(IMPLICIT_PREFIX)), None)
    if not is_extended_resource(name):
        return None
    found = sorted((each for each in classes if each.spec.extended_resource_name == name), key=lambda each: each.name)
    return max(found, key=lambda each: each.metadata.creation_timestamp or "", default=None)


def is_device_resource(name: str) -> bool:
    """Return whether a DeviceClass may provide a resource (``IsDRAExtendedResourceName``)."""
    return name.startswith(IMPLICIT_PREFIX) or is_extended_resource(name)


def requests_of(pod: Pod, resources: Mapping[str, DeviceClass]) -> list[DeviceRequest]:
    """Return the requests of the claim for extended resources (``createRequestsAndMappings``).

    Args:
        pod: pod whose containers request the resources.
        resources: resources that the node provides as devices, with their DeviceClass.
    """
    containers = [*(pod.spec.init_containers or ()), *(pod.spec.containers or ())]
    initial = len(pod.spec.init_containers or ())
    brief = [i for i, each in enumerate(containers) if i < initial and each.restart_policy != "Always"]
    lasting = [i for i in range(len(containers)) if i not in brief]
    requests: list[DeviceRequest] = []
    for name in sorted(resources):
        later: list[DeviceRequest | None] = [None] * len(containers)
        for i in lasting:
            later[i] = _request(i, containers[i], name, resources[name].name, ())
        # Containers that end before other containers start use the devices of these.
        most: DeviceRequest | None = None
        for i in brief:
            found = _request(i, containers[i], name, resources[name].name, later[i:])
            if found is not None and (most is None or _count(most) < _count(found)):
                most = found
        requests += [each for each in (most, *later) if each is not None]
    return sorted(requests, key=lambda each: each.name)


def _request(
    index: int, container: Container, resource: str, class_name: str, reusable: Sequence[DeviceRequest | None]
) -> DeviceRequest | None:
    requested = (container.resources.requests or {}) if container.resources is not None else {}
    amount = requested.get(resource)
    wanted = 0 if amount is None else parse_quantity(amount).value()
    left = wanted - sum(_count(each) for each in reusable if each is not None)
    if left <= 0:
        return None
    place = sorted(requested).index(resource)
    exactly = ExactDeviceRequest(device_class_name=class_name, count=left)
    return DeviceRequest(name=f"container-{index}-request-{place}", exactly=exactly)


def _count(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0
