"""Nodes where a new volume still fits by the CSIStorageCapacities of its driver: a part of VolumeBinding.

Nothing is taken off as volumes are provisioned in a simulation: only the driver knows its pools.

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
from .node_matching import AllOf, LabelMask, Mask
from .volume_matching import requested


class Pool(msgspec.Struct, frozen=True):
    """Storage of one class that some nodes reach; ``size``: what is left of it, in bytes."""

    nodes: Mask
    size: int


class EnoughCapacity:
    """The pools that a claim's volume fits into; of several that a node reaches the first counts.

    kube-scheduler takes any of them: the choice decides points, and no filter.
    """

    def __init__(self, pools: Sequence[Pool]) -> None:
        self._pools = pools

    def enough(self, rows: Rows) -> Bools:
        """Return whether nodes reach a pool, bool[rows]."""
        return self.size(rows) >= 0

    def size(self, rows: Rows) -> Ints:
        """The size of the pool that a node reaches, −1 where there is none, int64[rows]."""
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
    """Return the capacity that the class's driver publishes for the claim's size; ``None`` if it publishes none at all.

    A driver takes part by ``storageCapacity: true`` in its CSIDriver. ``maximum_size``: maximumVolumeSize decides
    where it is given.
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
    """Nodes that the pool is for; ``None`` when it is for none."""
    if capacity.node_topology is None:
        return None
    try:
        selector = Selector.from_label_selector(capacity.node_topology)
    except InvalidSelectorError:
        return None
    return AllOf([LabelMask(requirement, nodes) for requirement in selector.requirements])
