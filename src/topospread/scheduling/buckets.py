"""Nodes that look alike to every cluster-wide plugin, in buckets; the best node of each is found without a search.

Within a bucket only the node's own points differ, so its best node is the best of the bucket whatever the
cluster-wide plugins say. Comparing the buckets' heads compares all nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

import numpy as np

from topospread.cluster.arrays import Ints

GroupKey = tuple[int, ...]
Entry = tuple[int, int, int]
"""(−points, rank of the name, row): entries sort as kube-scheduler's choice does, ties by name."""


class Bucket:
    """Rows of one group, best first: a sorted run from when it was filled, and a heap of what changed since."""

    __slots__ = ("_head", "_heap", "_known", "_next", "_order", "_points", "_ranks", "key", "size")

    def __init__(self, key: GroupKey, order: Ints, points: Ints, ranks: Ints) -> None:
        self.key = key
        self.size = len(order)
        self._order: list[int] = order.tolist()
        self._points: list[int] = points.tolist()
        self._ranks: list[int] = ranks.tolist()
        self._next = 0
        self._heap: list[Entry] = []
        self._head: Entry | None = None
        self._known = False

    def push(self, entry: Entry) -> None:
        """Put in a row, or a row's new points."""
        heappush(self._heap, entry)
        self._known = False

    def changed(self) -> None:
        """A row left, or has other points now."""
        self._known = False

    def head(self, place_of: dict[int, tuple[Bucket, int]]) -> Entry | None:
        """The best row that is still here with these points; ``place_of`` says where rows now are."""
        if not self._known:
            self._head = self._find(place_of)
            self._known = True
        return self._head

    def _find(self, place_of: dict[int, tuple[Bucket, int]]) -> Entry | None:
        while self._next < len(self._order):
            row, points = self._order[self._next], self._points[self._next]
            if place_of.get(row) == (self, points):
                break
            self._next += 1
        while self._heap and place_of.get(self._heap[0][2]) != (self, -self._heap[0][0]):
            heappop(self._heap)
        first = self._heap[0] if self._heap else None
        if self._next < len(self._order):
            i = self._next
            entry = (-self._points[i], self._ranks[i], self._order[i])
            return entry if first is None or entry < first else first
        return first


class Buckets:
    """All rows that pass the node's own filters, by group.

    Attributes:
        place_of: row → its bucket and points.
    """

    def __init__(self, columns: Sequence[Ints], rows: Ints, points: Ints, rank: Ints) -> None:
        self.place_of: dict[int, tuple[Bucket, int]] = {}
        self._buckets: dict[GroupKey, Bucket] = {}
        if not len(rows):
            return
        order = np.lexsort((rank[rows], -points, *reversed(columns)))
        changes = np.zeros(len(rows), dtype=np.bool_)
        changes[0] = True
        for column in columns:
            ordered = column[order]
            changes[1:] |= ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(changes).tolist()
        for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
            members = order[start:end]
            key = tuple(int(column[members[0]]) for column in columns)
            bucket = Bucket(key, rows[members], points[members], rank[rows[members]])
            self._buckets[key] = bucket
            self.place_of.update(
                zip(rows[members].tolist(), [(bucket, p) for p in points[members].tolist()], strict=True)
            )

    def __len__(self) -> int:
        return len(self._buckets)

    def key_of(self, row: int) -> GroupKey | None:
        """The group of a row that is here, ``None`` for one that is not."""
        place = self.place_of.get(row)
        return None if place is None else place[0].key

    def put(self, row: int, key: GroupKey, points: int, rank: int) -> None:
        """Put a row where it now belongs."""
        place = self.place_of.get(row)
        if place is not None and place[1] == points and place[0].key == key:
            return
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(key, *(np.zeros(0, dtype=np.int64) for _ in range(3)))
        if place is None:
            bucket.size += 1
        elif place[0] is not bucket:
            self._leave(place[0])
            bucket.size += 1
        self.place_of[row] = (bucket, points)
        bucket.push((-points, rank, row))

    def drop(self, row: int) -> None:
        """Take a row out: a filter of its own rejects it."""
        place = self.place_of.pop(row, None)
        if place is not None:
            self._leave(place[0])

    def heads(self) -> tuple[list[Entry], list[int]]:
        """The best entry of each bucket, and how many rows the bucket has."""
        entries, sizes = [], []
        for bucket in self._buckets.values():
            entry = bucket.head(self.place_of)
            if entry is not None:
                entries.append(entry)
                sizes.append(bucket.size)
        return entries, sizes

    def _leave(self, bucket: Bucket) -> None:
        bucket.changed()
        bucket.size -= 1
        if not bucket.size:
            del self._buckets[bucket.key]
