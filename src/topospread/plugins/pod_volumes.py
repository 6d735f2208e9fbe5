"""The claims of a pod and the volumes they are bound to, looked up as kube-scheduler's listers would; no judgement.

Shared by the volume plugins. Sources: k8s.io/component-helpers/storage/volume (``helpers.go``, ``pv_helpers.go``),
k8s.io/component-helpers/storage/ephemeral.
"""

from __future__ import annotations

from collections.abc import Iterator

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

from .interface import NotJudgedError
from .node_matching import Mask, selector_mask

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes somebody makes by hand."""


def not_found(kind: str, name: str) -> str:
    """The API machinery's words for an object that is not there."""
    return f'{kind} "{name}" not found'


class PodClaim(msgspec.Struct, frozen=True):
    """A claim that a pod names.

    Attributes:
        claim: ``None`` when there is no such object.
        ephemeral: whether it belongs to an ephemeral volume, that is, whether the pod has to own it.
    """

    name: str
    claim: PersistentVolumeClaim | None
    ephemeral: bool


def pod_claims(pod: Pod, objects: ClusterObjects) -> Iterator[PodClaim]:
    """The claims a pod names, in the order of its volumes."""
    for volume in pod.spec.volumes or ():
        name = claim_name(pod, volume)
        if name is not None:
            claim = objects.persistent_volume_claims.get((pod.namespace, name))
            yield PodClaim(name, claim, volume.persistent_volume_claim is None)


def unread_volumes(pod: Pod, objects: ClusterObjects) -> NotJudgedError | None:
    """Return what says that objects behind a pod's volumes are not known, ``None`` if all that decide are."""
    for kind, why in objects.unread.items():
        if kind not in VOLUME_KINDS:
            continue
        if why == ABSENT and all(each.claim is not None for each in pod_claims(pod, objects)):
            continue
        return NotJudgedError("volumes", "spec.volumes", "volumes", f"{kind} objects are not known: {why}")
    return None


def volume_reads(pod: Pod, objects: ClusterObjects) -> set[Subject | ObjectKey]:
    """The objects that decide on a pod's volumes; what stands behind other pods' claims is told by node.

    While a claim waits for its volume any volume may be the one, and any published capacity may do.
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
    """Return whether a claim was made for the pod of that uid (``VolumeIsForPod``)."""
    controller = claim.metadata.controller
    return controller is not None and controller.uid == uid


def not_owner(namespace: str, claim: str, pod: str) -> str:
    """The words for an ephemeral volume whose claim belongs to somebody else."""
    return f"PVC {namespace}/{claim} was not created for pod {namespace}/{pod} (pod is not owner)"


def claim_uid(claim: PersistentVolumeClaim) -> str:
    """The uid by which volumes know a claim; its namespace and name for one that no API server has given any."""
    return claim.metadata.uid or f"{claim.namespace}-{claim.name}"


def claim_class(claim: PersistentVolumeClaim) -> str:
    """The StorageClass a claim asks for, "" for none (``GetPersistentVolumeClaimClass``)."""
    annotations = claim.metadata.annotations
    if annotations is not None and annotations.storage_class is not None:
        return annotations.storage_class
    return claim.spec.storage_class_name or ""


def volume_class(volume: PersistentVolume) -> str:
    """The StorageClass a volume is of, "" for none (``GetPersistentVolumeClass``)."""
    annotations = volume.metadata.annotations
    if annotations is not None and annotations.storage_class is not None:
        return annotations.storage_class
    return volume.spec.storage_class_name or ""


def is_assumed(claim: PersistentVolumeClaim, objects: ClusterObjects) -> bool:
    """Return whether the claim is not in any file: a controller would create it with its pod."""
    return (claim.namespace, claim.name) in objects.assumed_claims


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Return whether claim and volume are fully bound (volumebinding/binder.go, ``isPVCFullyBound``)."""
    annotations = claim.metadata.annotations
    return bool(claim.spec.volume_name) and annotations is not None and annotations.bind_completed is not None


def selected_node(claim: PersistentVolumeClaim) -> str | None:
    """The node for which the claim is being provisioned."""
    annotations = claim.metadata.annotations
    return None if annotations is None else annotations.selected_node


def reach_mask(affinity: VolumeNodeAffinity | None, nodes: NodeTable) -> Mask | None:
    """Rows from which a volume can be reached, ``None`` for all (``CheckNodeAffinity``).

    Only labels are looked at: the node that is asked has no fields, and then matchFields are passed over.
    """
    required = affinity.required if affinity is not None else None
    if required is None:
        return None
    terms = [_nameless(term) for term in required.node_selector_terms or ()]
    return selector_mask(NodeSelector(node_selector_terms=terms), nodes)


def _nameless(term: NodeSelectorTerm) -> NodeSelectorTerm:
    """The term with fields that every node fulfils; those that do not parse are left, for the term to be ignored."""
    if not term.match_fields:
        return term
    passed = NodeSelectorRequirement(key="", operator="NotIn", values=["-"])
    return replace(term, match_fields=[passed if _parses(each) else each for each in term.match_fields])


def _parses(field: NodeSelectorRequirement) -> bool:
    return field.operator in ("In", "NotIn") and len(field.values or ()) == 1
