"""The claims of a pod and their volumes, looked up like in kube-scheduler's listers, for all volume plugins.

Sources: k8s.io/component-helpers/storage/volume (``helpers.go``, ``pv_helpers.go``),
k8s.io/component-helpers/storage/ephemeral.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from topospread.api.inventory import ABSENT
from topospread.api.node_selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from topospread.api.pod import Pod
from topospread.api.storage import (
    VOLUME_KINDS,
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeNodeAffinity,
)
from topospread.cluster import NodeTable
from topospread.cluster.objects import ClusterObjects, ObjectKey, Subject
from topospread.cluster.volume_use import claim_name
from topospread.text import there_are

from .interface import NotJudgedError
from .node_matching import Mask, selector_mask

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""Provisioner of classes whose volumes are created by an administrator."""


def not_found(kind: str, name: str) -> str:
    """Return the API machinery's message for a missing object."""
    return f'{kind} "{name}" not found'


class PodClaim(msgspec.Struct, frozen=True):
    """A claim that a pod names.

    Attributes:
        claim: the object; ``None`` if it is missing.
        ephemeral: whether the claim is for an ephemeral volume, so that the pod must own it.
    """

    name: str
    claim: PersistentVolumeClaim | None
    ephemeral: bool


def pod_claims(pod: Pod, objects: ClusterObjects) -> Iterator[PodClaim]:
    """Yield the claims that a pod names, in the order of its volumes."""
    for volume in pod.spec.volumes or ():
        name = claim_name(pod, volume)
        if name is not None:
            claim = objects.persistent_volume_claims.get((pod.namespace, name))
            yield PodClaim(name, claim, volume.persistent_volume_claim is None)


def unread_volumes(pod: Pod, objects: ClusterObjects) -> NotJudgedError | None:
    """Return an error if the input lacks a kind of objects that the pod's volumes need; else ``None``."""
    for kind, why in objects.unread.items():
        if kind not in VOLUME_KINDS:
            continue
        claims_only = kind != "StorageClass"  # assumed claims may have a StorageClass that the input lacks
        if why == ABSENT and not (claims_only and any(each.claim is None for each in pod_claims(pod, objects))):
            continue
        return NotJudgedError("volumes", "spec.volumes", "volumes", f"{kind} objects are not known: {why}")
    return None


def volume_reads(pod: Pod, objects: ClusterObjects) -> set[Subject | ObjectKey]:
    """Return the objects that the answers for a pod's volumes depend on.

    For an unbound claim, these include all volumes and published capacities. Claims of other pods are not included,
    because the journal reports their changes by node.
    """
    reads: set[Subject | ObjectKey] = {(StorageClass, ""), (CSIDriver, "")}
    for each in pod_claims(pod, objects):
        reads.add(ObjectKey(PersistentVolumeClaim, (pod.namespace, each.name)))
        if each.claim is None:
            continue
        if each.claim.spec.volume_name:
            reads.add(ObjectKey(PersistentVolume, each.claim.spec.volume_name))
        if not is_bound(each.claim):
            reads |= {(PersistentVolume, ""), (CSIStorageCapacity, "")}
    return reads


def is_owned(claim: PersistentVolumeClaim, uid: str) -> bool:
    """Return whether a claim was created for the pod with this uid (``VolumeIsForPod``)."""
    controller = claim.metadata.controller
    return controller is not None and controller.uid == uid


def not_owner(namespace: str, claim: str, pod: str) -> str:
    """Return the message for an ephemeral volume whose claim another object owns."""
    return f"PVC {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)"


def claim_uid(claim: PersistentVolumeClaim) -> str:
    """Return the uid that volumes use for a claim; its namespace and name if it has no uid."""
    return claim.metadata.uid or f"{claim.namespace}-{claim.name}"


def storage_class_of(item: PersistentVolumeClaim | PersistentVolume) -> str:
    """Return the StorageClass of a claim or volume, "" for none (``GetPersistentVolumeClaimClass``)."""
    annotations = item.metadata.annotations
    if annotations is not None and annotations.storage_class is not None:
        return annotations.storage_class
    return item.spec.storage_class_name or ""


def is_assumed(claim: PersistentVolumeClaim, objects: ClusterObjects) -> bool:
    """Return whether a claim is assumed to be created with its pod, and a volume for it is assumed, too.

    A volume is assumed if the input has the claim's StorageClass, or no StorageClasses at all.
    """
    known = storage_class_of(claim) in objects.storage_classes or "StorageClass" in objects.unread
    return known and (claim.namespace, claim.name) in objects.assumed_claims


def missing_class(claims: Iterable[PersistentVolumeClaim], objects: ClusterObjects) -> str:
    """Return a phrase on the first unbound claim whose StorageClass does not exist; "" if each exists."""
    for claim in claims:
        wanted, there = storage_class_of(claim), objects.storage_classes
        if wanted in there or claim.spec.volume_name:
            continue
        if not wanted and claim.spec.storage_class_name is not None:
            return 'storageClassName "" takes no class'
        if not wanted:
            return "no storageClassName, and no default StorageClass"
        return f"storageClassName {wanted}: {there_are(there) if there else 'there is no StorageClass'}"
    return ""


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Return whether claim and volume are fully bound (volumebinding/binder.go, ``isPVCFullyBound``)."""
    annotations = claim.metadata.annotations
    return bool(claim.spec.volume_name) and annotations is not None and annotations.bind_completed is not None


def selected_node(claim: PersistentVolumeClaim) -> str | None:
    """Return the node for which the claim is being provisioned."""
    annotations = claim.metadata.annotations
    return None if annotations is None else annotations.selected_node


def reach_mask(affinity: VolumeNodeAffinity | None, nodes: NodeTable) -> Mask | None:
    """Return the rows that can reach a volume, ``None`` for all (``CheckNodeAffinity``).

    matchFields are ignored, because kube-scheduler compares only the node's labels here.
    """
    required = affinity.required if affinity is not None else None
    if required is None:
        return None
    terms = [_nameless(term) for term in required.node_selector_terms or ()]
    return selector_mask(NodeSelector(node_selector_terms=terms), nodes)


def _nameless(term: NodeSelectorTerm) -> NodeSelectorTerm:
    """Return the term without valid matchFields. Invalid matchFields stay, so that the term matches no node."""
    if not term.match_fields:
        return term
    passed = NodeSelectorRequirement(key="", operator="NotIn", values=["-"])
    return replace(term, match_fields=[passed if _parses(each) else each for each in term.match_fields])


def _parses(field: NodeSelectorRequirement) -> bool:
    return field.operator in ("In", "NotIn") and len(field.values or ()) == 1
