"""What becomes of a placed pod's claims: they are bound, so that a second pod on them has to follow.

kube-scheduler binds before it places (volumebinding/binder.go, ``BindPodVolumes``); the volume itself is made by a
provisioner, which no file describes. Assumed here: a new volume can be reached from where its driver could have made
it for the node, that is, from all nodes that agree with the pod's node

1. in the driver's topology keys, where CSINode lists the driver (none: from everywhere);
2. else in the keys of the topologies that the class allows;
3. else in the zone label, where the node has it (without a provisioner: in the hostname);
4. else from everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from msgspec.structs import replace

from topospread.api.meta import Annotations, ObjectMeta
from topospread.api.node import Node
from topospread.api.node_selection import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from topospread.api.storage import (
    CSIPersistentVolumeSource,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeSpec,
    StorageClass,
    VolumeNodeAffinity,
    VolumeStatus,
)
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints

from .csi_migration import MIGRATED, ZONE
from .pod_volumes import NO_PROVISIONER, claim_class, is_bound, pod_claims, selected_node
from .volume_binding import HOSTNAME
from .volume_catalog import VolumeCatalog, catalog_of
from .volume_matching import NO_VOLUME, Candidates, Choice, MatchingError, by_size


def bind_claims(cluster: Cluster, pod_class: PodClass, row: int) -> int:
    """Bind the claims of a pod that was placed on a node; how many were bound.

    A claim gets the smallest volume that fits and can be reached from the node, else a new one. Claims that are bound
    already stay as they are, those that are not there are passed over.
    """
    if not pod_class.volumes:
        return 0
    found = pod_claims(pod_class.pod, cluster.objects)
    claims = {each.claim.name: each.claim for each in found if each.claim is not None and not is_bound(each.claim)}
    if not claims:
        return 0
    for claim, volume in _volumes(list(claims.values()), cluster, row):
        _bind(claim, volume, cluster)
    return len(claims)


def _volumes(
    claims: Sequence[PersistentVolumeClaim], cluster: Cluster, row: int
) -> Iterable[tuple[PersistentVolumeClaim, PersistentVolume]]:
    """Each claim with the volume it gets."""
    catalog = catalog_of(cluster)
    only = np.array([row], dtype=np.int64)
    node = cluster.nodes.nodes[row]
    assert node is not None, "a pod is placed on a node"
    choices: list[Choice] = []
    pairs = []
    for claim in by_size(claims):
        volume = cluster.objects.persistent_volumes.get(claim.spec.volume_name or "")
        if volume is None and selected_node(claim) is None:
            volume = _existing(claim, catalog, only, choices)
        pairs.append((claim, volume or _provisioned(claim, node, cluster)))
    return pairs


def _existing(
    claim: PersistentVolumeClaim, catalog: VolumeCatalog, only: Ints, choices: list[Choice]
) -> PersistentVolume | None:
    try:
        candidates = Candidates(claim, catalog, attributes_classes=True)
    except MatchingError:
        return None
    choice = candidates.choose(only, choices)
    choices.append(choice)
    place = int(choice.places[0])
    return None if place == NO_VOLUME else candidates.volumes[place].volume


def _bind(claim: PersistentVolumeClaim, volume: PersistentVolume, cluster: Cluster) -> None:
    """Write the binding into both objects, and let those know that count volumes."""
    reference = ObjectReference(namespace=claim.namespace, name=claim.name, uid=claim.metadata.uid)
    annotations = replace(claim.metadata.annotations or Annotations(), bind_completed="yes")
    bound = replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume.name),
        status=VolumeStatus(phase="Bound"),
    )
    taken = replace(volume, spec=replace(volume.spec, claim_ref=reference), status=VolumeStatus(phase="Bound"))
    cluster.objects.bind_claim(bound, taken)


def _provisioned(claim: PersistentVolumeClaim, node: Node, cluster: Cluster) -> PersistentVolume:
    """The volume that a provisioner would make for a claim."""
    storage_class = cluster.objects.storage_classes.get(claim_class(claim))
    name = f"pvc-{claim.namespace}-{claim.name}"
    driver = storage_class.provisioner if storage_class is not None else ""
    driver = MIGRATED[driver].driver if driver in MIGRATED else driver
    wanted = claim.spec.resources
    return PersistentVolume(
        api_version="v1",
        kind="PersistentVolume",
        metadata=ObjectMeta(name=name),
        spec=PersistentVolumeSpec(
            capacity=wanted.requests if wanted is not None else None,
            access_modes=claim.spec.access_modes,
            storage_class_name=claim_class(claim),
            volume_mode=claim.spec.volume_mode,
            node_affinity=_affinity(_topology_keys(storage_class, driver, node, cluster), node),
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
    )


def _topology_keys(storage_class: StorageClass | None, driver: str, node: Node, cluster: Cluster) -> Sequence[str]:
    """The labels in which a node has to agree with this one to reach a volume that was made for it."""
    csi_node = cluster.objects.csi_nodes.get(node.name)
    for each in (csi_node.spec.drivers or ()) if csi_node is not None else ():
        if each.name == driver:
            return each.topology_keys or ()
    terms = (storage_class.allowed_topologies if storage_class is not None else None) or ()
    allowed = list(dict.fromkeys(each.key for term in terms for each in term.match_label_expressions or ()))
    if allowed:
        return allowed
    return [HOSTNAME if driver == NO_PROVISIONER else ZONE]


def _affinity(keys: Sequence[str], node: Node) -> VolumeNodeAffinity | None:
    """Nodes that agree with this one in labels, those passed over that it does not have."""
    agree = [
        NodeSelectorRequirement(key=key, operator="In", values=[node.labels[key]]) for key in keys if key in node.labels
    ]
    if not agree:
        return None
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=[NodeSelectorTerm(match_expressions=agree)]))
