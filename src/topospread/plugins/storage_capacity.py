"""Nodes for which the driver's CSIStorageCapacities have room for a new volume: a part of VolumeBinding.

A simulation does not reduce the published capacity when it provisions, because only the driver knows the effect.
Source: plugins/volumebinding/binder.go (``hasEnoughCapacity``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.quantity import parse_quantity
from topospread.api.storage import CSIStorageCapacity, PersistentVolumeClaim, StorageClass
from topospread.cluster import NodeTable
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.cluster.objects import ClusterObjects

from .interface import length
from .node_matching import LabelMask, Mask, all_of
from .volume_matching import requested


class Pool(msgspec.Struct, frozen=True):
    """A CSIStorageCapacity: free bytes (``size``) of one StorageClass, and the nodes that can use them."""

    nodes: Mask
    size: int


class EnoughCapacity:
    """The pools that have room for a claim's volume. If a node reaches several, the first one counts.

    kube-scheduler may use any of these; this affects only the score.
    """

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools

    def enough(self, rows: Rows) -> Bools:
        """Return whether nodes reach a pool, bool[rows]."""
        return self.size(rows) >= 0

    def size(self, rows: Rows) -> Ints:
        """Return the size of the pool that a node reaches, −1 if it reaches none, int64[rows]."""
        sizes = np.full(length(rows), -1, dtype=np.int64)
        for pool in reversed(self._pools):
            sizes[pool.nodes(rows)] = pool.size
        return sizes


def published_capacity(
    claim: PersistentVolumeClaim,
    storage_class: StorageClass,
    objects: ClusterObjects,
    nodes: NodeTable,
    *,
    maximum_size: bool = True,
) -> EnoughCapacity | None:
    """Return the pools that have room for a claim; ``None`` if kube-scheduler does not check capacity.

    It checks if the class's CSIDriver has ``storageCapacity: true`` and the claim requests storage.
    ``maximum_size``: whether to compare maximumVolumeSize, if set, instead of capacity.
    """
    driver = objects.csi_drivers.get(storage_class.provisioner)
    if driver is None or not driver.spec.storage_capacity or not _asks_for_storage(claim):
        return None
    size = requested(claim).value()
    return EnoughCapacity(list(_pools(size, storage_class.name, objects, nodes, maximum_size=maximum_size)))


def _asks_for_storage(claim: PersistentVolumeClaim) -> bool:
    resources = claim.spec.resources
    return resources is not None and (resources.requests or {}).get("storage") is not None


def _pools(
    size: int, class_name: str, objects: ClusterObjects, nodes: NodeTable, *, maximum_size: bool
) -> Iterable[Pool]:
    for each in objects.csi_storage_capacities.values():
        limit = each.maximum_volume_size if maximum_size and each.maximum_volume_size is not None else each.capacity
        if each.storage_class_name != class_name or limit is None or parse_quantity(limit).value() < size:
            continue
        reached = _reached(each, nodes)
        if reached is not None:
            yield Pool(reached, 0 if each.capacity is None else parse_quantity(each.capacity).value())


def _reached(capacity: CSIStorageCapacity, nodes: NodeTable) -> Mask | None:
    """Return the nodes that reach the pool; ``None`` if no node does."""
    if capacity.node_topology is None:
        return None
    try:
        selector = Selector.from_label_selector(capacity.node_topology)
    except InvalidSelectorError:
        return None
    return all_of([LabelMask(requirement, nodes) for requirement in selector.requirements])
