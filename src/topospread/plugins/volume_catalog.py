"""The volumes there are, by class and size, and from which nodes each can be reached; it chooses none.

It remembers what does not change when a claim is bound, so that pods that look at the same volumes share the work.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from typing import NamedTuple
from weakref import WeakKeyDictionary, ref

import numpy as np

from topospread.api.quantity import Quantity, parse_quantity
from topospread.api.storage import PersistentVolume
from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools, Rows

from .interface import length
from .node_matching import Mask
from .pod_volumes import reach_mask, volume_class

ZERO = parse_quantity("0")


def capacity(volume: PersistentVolume) -> Quantity:
    """The storage a volume has, 0 when it does not say."""
    amount = (volume.spec.capacity or {}).get("storage")
    return ZERO if amount is None else parse_quantity(amount)


class _Sized(NamedTuple):
    size: Quantity
    name: str


class VolumeCatalog:
    """The volumes of a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = ref(cluster)  # it must not keep alive what it is remembered by
        self._loads = -1
        self._by_class: dict[str, list[_Sized]] = {}
        self._masks: dict[str, tuple[PersistentVolume, Mask | None]] = {}

    @property
    def cluster(self) -> Cluster:
        """Whose volumes these are."""
        cluster = self._cluster()
        assert cluster is not None, "a catalog is asked while its cluster is there"
        return cluster

    def of_class(self, name: str) -> Iterator[tuple[Quantity, PersistentVolume]]:
        """Volumes of a StorageClass as they now are, smallest first, each after its capacity.

        Volumes made for a claim that a pod brought are left out: they are nobody else's.
        """
        if self._loads != self.cluster.objects.loads:
            self._read()
        volumes = self.cluster.objects.persistent_volumes
        for size, each in self._by_class.get(name, ()):
            yield size, volumes[each]

    def reached(self, volume: PersistentVolume, rows: Rows) -> Bools:
        """Whether nodes can reach the volume, bool[rows]."""
        known = self._masks.get(volume.name)
        if known is None or known[0].spec.node_affinity is not volume.spec.node_affinity:
            known = self._masks[volume.name] = (volume, reach_mask(volume.spec.node_affinity, self.cluster.nodes))
        mask = known[1]
        return np.ones(length(rows), dtype=np.bool_) if mask is None else mask(rows)

    def few_rows(self, volume: PersistentVolume) -> set[int] | None:
        """The rows that can reach it, where it asks for values of a single label as local volumes do; else ``None``."""
        affinity = volume.spec.node_affinity
        terms = affinity.required.node_selector_terms if affinity is not None and affinity.required else None
        if terms is None or len(terms) != 1 or terms[0].match_fields:
            return None
        expressions = terms[0].match_expressions or ()
        if len(expressions) != 1 or expressions[0].operator != "In" or not expressions[0].values:
            return None
        column = self.cluster.nodes.labels(expressions[0].key)
        return set().union(*(column.rows_with(value) for value in expressions[0].values))

    def _read(self) -> None:
        self._loads = self.cluster.objects.loads
        self._by_class.clear()
        for volume in self.cluster.objects.persistent_volumes.values():
            self._by_class.setdefault(volume_class(volume), []).append(_Sized(capacity(volume), volume.name))
        for volumes in self._by_class.values():
            volumes.sort(key=cmp_to_key(_compare))


_CATALOGS: WeakKeyDictionary[Cluster, VolumeCatalog] = WeakKeyDictionary()


def catalog_of(cluster: Cluster) -> VolumeCatalog:
    """The catalog of a cluster, made when it is first asked for."""
    catalog = _CATALOGS.get(cluster)
    if catalog is None:
        catalog = _CATALOGS[cluster] = VolumeCatalog(cluster)
    return catalog


def _compare(one: _Sized, other: _Sized) -> int:
    return one.size.compare(other.size)
