"""The volume that a provisioner would create for a claim.

Assumption: the new volume is reachable from all nodes that have the chosen node's values of these labels:

1. the driver's topology keys, if CSINode lists the driver (without keys, all nodes reach the volume);
2. else the keys of the class's allowedTopologies;
3. else the zone label, if the node has it;
4. else no label, so all nodes reach the volume.

Without a chosen node (immediate binding), all nodes in the class's allowedTopologies reach it.
"""

from __future__ import annotations

from collections.abc import Sequence

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
    TopologySelectorTerm,
    VolumeNodeAffinity,
)
from topospread.api.well_known_labels import ZONE
from topospread.cluster.objects import ClusterObjects

from .csi_migration import MIGRATED, NEVER_MIGRATED
from .pod_volumes import NO_PROVISIONER, claim_uid, storage_class_of

DELETE = "Delete"


def provisions(storage_class: StorageClass | None) -> bool:
    """Return whether a class provisions volumes dynamically."""
    return storage_class is not None and storage_class.provisioner not in ("", NO_PROVISIONER)


def reference_to(claim: PersistentVolumeClaim) -> ObjectReference:
    """Return the reference to a claim in the volume that is bound to it."""
    return ObjectReference(
        kind="PersistentVolumeClaim", namespace=claim.namespace, name=claim.name, uid=claim_uid(claim)
    )


def provisioned(claim: PersistentVolumeClaim, node: Node | None, objects: ClusterObjects) -> PersistentVolume:
    """Return the volume that is created for a claim. ``node``: node of its pod, ``None`` if the claim needs no pod.

    Its name is the external provisioner's: ``pvc-`` and the claim's uid.
    """
    storage_class = objects.storage_classes.get(storage_class_of(claim))
    name = f"pvc-{claim_uid(claim)}"
    driver = storage_class.provisioner if storage_class is not None else ""
    driver = MIGRATED[driver].driver if driver in MIGRATED else NEVER_MIGRATED.get(driver, driver)
    wanted = claim.spec.resources
    policy = storage_class.reclaim_policy if storage_class is not None else None
    return PersistentVolume(
        api_version="v1",
        kind="PersistentVolume",
        metadata=ObjectMeta(name=name, annotations=Annotations(provisioned_by=driver)),
        spec=PersistentVolumeSpec(
            capacity=wanted.requests if wanted is not None else None,
            access_modes=claim.spec.access_modes,
            persistent_volume_reclaim_policy=policy or DELETE,
            storage_class_name=storage_class_of(claim),
            volume_mode=claim.spec.volume_mode,
            volume_attributes_class_name=claim.spec.volume_attributes_class_name,
            claim_ref=reference_to(claim),
            node_affinity=_reach(storage_class, driver, node, objects),
            csi=CSIPersistentVolumeSource(driver=driver, volume_handle=name),
        ),
    )


def _reach(
    storage_class: StorageClass | None, driver: str, node: Node | None, objects: ClusterObjects
) -> VolumeNodeAffinity | None:
    """Return the node affinity of the volume; ``None`` if all nodes reach it."""
    allowed = (storage_class.allowed_topologies if storage_class is not None else None) or ()
    if node is None:
        terms = [_allowed(term) for term in allowed]
    else:
        keys = _topology_keys(allowed, driver, objects, node)
        agree = [_one_of(key, [node.labels[key]]) for key in keys if key in node.labels]
        terms = [NodeSelectorTerm(match_expressions=agree)] if agree else []
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms)) if terms else None


def _allowed(term: TopologySelectorTerm) -> NodeSelectorTerm:
    asked = [_one_of(each.key, list(each.values or ())) for each in term.match_label_expressions or ()]
    return NodeSelectorTerm(match_expressions=asked)


def _one_of(key: str, values: list[str]) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator="In", values=values)


def _topology_keys(
    allowed: Sequence[TopologySelectorTerm], driver: str, objects: ClusterObjects, node: Node
) -> Sequence[str]:
    """Return the keys of the labels that a node must share with ``node`` to reach a volume created for it."""
    csi_node = objects.csi_nodes.get(node.name)
    for each in (csi_node.spec.drivers or ()) if csi_node is not None else ():
        if each.name == driver:
            return each.topology_keys or ()
    keys = dict.fromkeys(each.key for term in allowed for each in term.match_label_expressions or ())
    return list(keys) or [ZONE]
