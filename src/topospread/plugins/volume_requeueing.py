"""VolumeBinding's queueing hints: events that may help a pod that waits for volumes.

Source: plugins/volumebinding/volume_binding.go (``EventsToRegister``, ``isSchedulableAfter…``).
"""

from __future__ import annotations

from topospread.api.pod import Pod
from topospread.api.quantity import parse_quantity
from topospread.api.storage import CSIDriver, CSINode, CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from topospread.cluster.volume_use import claim_name

from .cluster_event import ADD, NODE_LABEL, UPDATE, ClusterEvent, Registration


def names_claim(pod: Pod, claim: PersistentVolumeClaim) -> bool:
    """Return whether a volume of the pod, possibly ephemeral, uses the claim."""
    names = (claim_name(pod, volume) for volume in pod.spec.volumes or ())
    return claim.namespace == pod.namespace and claim.name in names


def _after_storage_class_change(pod: Pod, old: StorageClass | None, new: StorageClass) -> bool:
    return old is None or (old.allowed_topologies or []) != (new.allowed_topologies or [])


def _after_csi_node_change(pod: Pod, old: CSINode | None, new: CSINode) -> bool:
    return old is None or _migrated(old) != _migrated(new)


def _migrated(node: CSINode) -> str:
    annotations = node.metadata.annotations
    return (annotations.migrated_plugins or "") if annotations is not None else ""


def _after_csi_driver_change(pod: Pod, old: CSIDriver, new: CSIDriver) -> bool:
    if not old.spec.storage_capacity or new.spec.storage_capacity:
        return False
    return any(each.csi is not None and each.csi.driver == new.name for each in pod.spec.volumes or ())


def _after_capacity_change(pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> bool:
    if old is None:
        return True
    before, after = _limit(old), _limit(new)
    return after is not None and (before is None or after > before)


def _limit(capacity: CSIStorageCapacity) -> int | None:
    limit = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return None if limit is None else parse_quantity(limit).value()


VOLUME_REGISTRATIONS = (
    Registration(ClusterEvent("StorageClass", ADD | UPDATE), _after_storage_class_change),
    Registration(ClusterEvent("PersistentVolumeClaim", ADD | UPDATE), lambda pod, old, new: names_claim(pod, new)),
    Registration(ClusterEvent("PersistentVolume", ADD | UPDATE)),
    Registration(ClusterEvent("Node", ADD | NODE_LABEL)),
    Registration(ClusterEvent("CSINode", ADD | UPDATE), _after_csi_node_change),
    Registration(ClusterEvent("CSIDriver", UPDATE), _after_csi_driver_change),
    Registration(ClusterEvent("CSIStorageCapacity", ADD | UPDATE), _after_capacity_change),
)
