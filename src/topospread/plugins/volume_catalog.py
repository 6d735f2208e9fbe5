"""The volumes of a cluster by class and size, with the nodes that reach each volume.

Data that bindings do not change is cached.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import cmp_to_key
from weakref import WeakKeyDictionary, ref

import msgspec
import numpy as np

from topospread.api.node_selection import NodeSelectorRequirement
from topospread.api.quantity import Quantity, parse_quantity
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, VolumeNodeAffinity
from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools, Rows
from topospread.cluster.nodes import LabelColumn

from .interface import length
from .node_matching import Mask
from .pod_volumes import reach_mask, storage_class_of

ZERO = parse_quantity("0")
_by_quantity = cmp_to_key(Quantity.compare)


def capacity(volume: PersistentVolume) -> Quantity:
    """Return a volume's storage; 0 if it is missing."""
    amount = (volume.spec.capacity or {}).get("storage")
    return ZERO if amount is None else parse_quantity(amount)


class Traits(msgspec.Struct, frozen=True):
    """Properties of a volume that a claim may require, except size and reachable nodes."""

    volume_mode: str
    attributes_class: str
    access_modes: frozenset[str]


def traits_of(volume: PersistentVolume) -> Traits:
    """Return the traits of a volume."""
    spec = volume.spec
    return Traits(
        spec.volume_mode or "Filesystem", spec.volume_attributes_class_name or "", frozenset(spec.access_modes or ())
    )


class ReachableNodes(msgspec.Struct, frozen=True):
    """Nodes that reach a volume whose affinity requires values of one label, as for local volumes."""

    column: LabelColumn
    values: tuple[str, ...]

    def rows(self) -> set[int]:
        """Return the rows of these nodes. Do not change the set."""
        if len(self.values) == 1:
            return self.column.rows_with(self.values[0])
        return set().union(*(self.column.rows_with(value) for value in self.values))


class CatalogEntry(msgspec.Struct):
    """A volume in the catalog, as it was when the catalog read it."""

    volume: PersistentVolume
    size: Quantity
    traits: Traits
    reachable: ReachableNodes | None


class VolumeCatalog:
    """The volumes of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = ref(cluster)  # a weak reference, because the cache of catalogs is keyed by the cluster
        self._stocked = -1
        self._free: dict[str, list[CatalogEntry]] = {}
        self._promised: dict[tuple[str, str], list[CatalogEntry]] = {}
        self._masks: dict[str, tuple[VolumeNodeAffinity | None, Mask | None]] = {}

    @property
    def cluster(self) -> Cluster:
        """The cluster of these volumes."""
        cluster = self._cluster()
        assert cluster is not None, "the catalog has outlived its cluster"
        return cluster

    def free(self, class_name: str, least: Quantity) -> Iterator[CatalogEntry]:
        """Yield unclaimed available volumes of a class that are large enough, smallest first."""
        self._refresh()
        volumes = self.cluster.objects.persistent_volumes
        listed = self._free.get(class_name, [])
        start = bisect_left(listed, _by_quantity(least), key=lambda stock: _by_quantity(stock.size))
        for stock in listed[start:]:
            if volumes[stock.volume.name].spec.claim_ref is None:
                yield stock

    def promised(self, claim: PersistentVolumeClaim) -> Iterator[CatalogEntry]:
        """Yield the volumes of the claim's class that name the claim, smallest first."""
        return (stock for stock in self.naming(claim) if storage_class_of(stock.volume) == storage_class_of(claim))

    def naming(self, claim: PersistentVolumeClaim) -> Sequence[CatalogEntry]:
        """Return the volumes of any class that name the claim, smallest first."""
        self._refresh()
        return self._promised.get((claim.namespace, claim.name), ())

    def reached(self, volume: PersistentVolume, rows: Rows) -> Bools:
        """Return whether nodes can reach the volume, bool[rows]."""
        affinity = volume.spec.node_affinity
        known = self._masks.get(volume.name)
        if known is None or known[0] is not affinity:
            known = self._masks[volume.name] = (affinity, reach_mask(affinity, self.cluster.nodes))
        mask = known[1]
        return np.ones(length(rows), dtype=np.bool_) if mask is None else mask(rows)

    def _refresh(self) -> None:
        if self._stocked == self.cluster.objects.stocked:
            return
        self._stocked = self.cluster.objects.stocked
        self._free.clear()
        self._promised.clear()
        self._masks.clear()
        for volume in self.cluster.objects.persistent_volumes.values():
            self._list(volume)
        for listed in (*self._free.values(), *self._promised.values()):
            listed.sort(key=lambda stock: _by_quantity(stock.size))

    def _list(self, volume: PersistentVolume) -> None:
        spec = volume.spec
        if volume.metadata.deletion_timestamp is not None:
            return
        stock = CatalogEntry(volume, capacity(volume), traits_of(volume), self._spot(spec.node_affinity))
        if spec.claim_ref is not None:
            key = (spec.claim_ref.namespace or "", spec.claim_ref.name or "")
            self._promised.setdefault(key, []).append(stock)
        elif volume.status is not None and volume.status.phase == "Available":
            self._free.setdefault(storage_class_of(volume), []).append(stock)

    def _spot(self, affinity: VolumeNodeAffinity | None) -> ReachableNodes | None:
        wanted = _single_label(affinity)
        if wanted is None:
            return None
        return ReachableNodes(self.cluster.nodes.labels(wanted.key), tuple(wanted.values or ()))


def _single_label(affinity: VolumeNodeAffinity | None) -> NodeSelectorRequirement | None:
    """Return the only requirement of a volume's affinity; ``None`` unless it is one label with operator In."""
    terms = affinity.required.node_selector_terms if affinity is not None and affinity.required else None
    if terms is None or len(terms) != 1 or terms[0].match_fields:
        return None
    expressions = terms[0].match_expressions or ()
    if len(expressions) != 1 or expressions[0].operator != "In" or not expressions[0].values:
        return None
    return expressions[0]


_CATALOGS: WeakKeyDictionary[Cluster, VolumeCatalog] = WeakKeyDictionary()


def catalog_of(cluster: Cluster) -> VolumeCatalog:
    """Return the catalog of a cluster, created on first use."""
    catalog = _CATALOGS.get(cluster)
    if catalog is None:
        catalog = _CATALOGS[cluster] = VolumeCatalog(cluster)
    return catalog
