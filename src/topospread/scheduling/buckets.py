"""Nodes that look alike to every cluster-wide plugin, in buckets; the best node of each is found without a search.

Within a bucket only the node's own points differ, so its best node is the best of the bucket whatever the
cluster-wide plugins say. Comparing the buckets' heads compares all nodes.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterator, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topospread.cluster.arrays import Ints
from topospread.cluster.nodes import NodeTable

from .node_local import NodeLocalAnswers

GroupKey = tuple[int, ...]
Entry = tuple[int, int, int]
"""(−points, rank of the name, row): entries sort as kube-scheduler's choice does, ties by name."""

_FEW_ROWS = 8
"""Where more rows changed than these, every bucket is taken to have changed."""
_LARGEST = 1 << 62
_TRACES = 4
"""So many traces of a row that has left are kept, on average, before they are wiped out."""


class Bucket:
    """Rows of one group by their points; a level is put in the order of names when it is the best for the first time.

    A row that left, or has other points now, stays in its level until it is met there: `Buckets` knows better.

    Attributes:
        key: what the rows have in common.
        size: how many rows there are.
        levels: points → rows, of levels that were never the best and got rows since they were filled: in no order.
    """

    __slots__ = ("_all", "_best_first", "_filled", "_ordered", "key", "levels", "size")

    def __init__(self, key: GroupKey, every: Buckets) -> None:
        self.key = key
        self.size = 0
        self._all = every
        self.levels: dict[int, list[int]] = {}
        self._filled: dict[int, Ints] = {}
        self._ordered: dict[int, list[int]] = {}
        self._best_first: list[int] = []

    def fill(self, points: int, rows: Ints) -> None:
        """Put in all rows that have certain points, the last by name first, before anything else is done."""
        self.size += len(rows)
        self._filled[points] = rows
        heappush(self._best_first, -points)

    def push_beside(self, row: int, points: int) -> None:
        """Put in a row where ``levels`` has no such points: the level is in order already, as it was filled, or new."""
        if points in self._ordered:
            insort(self._ordered[points], row, key=self._all.last_first)
        elif points in self._filled:
            self.levels[points] = [*self._as_filled(points), row]
        else:
            self.levels[points] = [row]
            heappush(self._best_first, -points)

    def head(self) -> Entry | None:
        """The best row that is still here with these points."""
        bucket_of, points_of = self._all.bucket_of, self._all.points_of
        while self._best_first:
            points = -self._best_first[0]
            level = self._ordered.get(points)
            if level is None:
                level = self._ordered[points] = self._in_order(points)
            while level:
                row = level[-1]
                if points_of[row] == points and bucket_of[row] is self:
                    return (-points, self._all.ranks[row], row)
                level.pop()
            heappop(self._best_first)
            del self._ordered[points]
        return None

    def _as_filled(self, points: int) -> Iterator[int]:
        """The rows of a level that is as it was filled, and will not be so any more."""
        return map(self._all.numbers.__getitem__, self._filled.pop(points).tolist())

    def _in_order(self, points: int) -> list[int]:
        """The rows of a level, the first by name last; of one as it was filled those that left are still there."""
        if points in self._filled:
            return list(self._as_filled(points))
        bucket_of, points_of = self._all.bucket_of, self._all.points_of
        entered = dict.fromkeys(self.levels.pop(points))
        rows = [row for row in entered if points_of[row] == points and bucket_of[row] is self]
        rows.sort(key=self._all.last_first)
        return rows

    def forget_the_gone(self) -> None:
        """Keep each row once, with the points it has now."""
        every = self._all
        filled = [self._as_filled(points) for points in list(self._filled)]
        rows: set[int] = set().union(*filled, *self.levels.values(), *self._ordered.values())
        self.levels, self._ordered = {}, {}
        for row in rows:
            points = every.points_of[row]
            if every.bucket_of[row] is self and points is not None:
                self.levels.setdefault(points, []).append(row)
        self._best_first = [-points for points in self.levels]
        heapify(self._best_first)


class Buckets:
    """All rows that pass the node's own filters, by group.

    Attributes:
        bucket_of: by row, ``None`` for rows that are not here.
        points_of: by row.
        ranks: the rank of the node's name, by row: the node table's own list.
        last_first: sorts rows by name, the last one first.
        numbers: each row's own number, the node table's own list.
    """

    def __init__(self, columns: Sequence[Ints], rows: Ints, own: NodeLocalAnswers, nodes: NodeTable) -> None:
        """``columns``: what tells the groups of the rows apart. ``rows``: the last by name first."""
        self.ranks = ranks = nodes.ranks
        self.last_first = nodes.last_first.__getitem__
        self.numbers = nodes.numbers
        self.bucket_of: list[Bucket | None] = [None] * len(ranks)
        self._buckets: dict[GroupKey, Bucket] = {}
        self._entered = 0
        self._heads: dict[Bucket, Entry] = {}
        self._sizes: dict[Bucket, int] = {}
        self._touched: set[Bucket] = set()
        self.points_of: list[int | None] = own.worth[: len(ranks)]
        if len(rows):
            self._fill([*columns, own.points[rows]], rows)

    def _fill(self, columns: Sequence[Ints], rows: Ints) -> None:
        """Put every row into its bucket and level; ``columns``: the points come last."""
        numbers = _numbered(columns)
        order = np.argsort(numbers, kind="stable")
        ordered = numbers[order]
        firsts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        ends = np.append(firsts[1:], len(rows))
        levels = zip(*(column[order[firsts]].tolist() for column in columns), strict=True)
        rows = rows[order]
        owners = np.empty(len(firsts), dtype=np.object_)
        for i, ((*key, points), start, end) in enumerate(zip(levels, firsts.tolist(), ends.tolist(), strict=True)):
            owners[i] = bucket = self._bucket(tuple(key))
            bucket.fill(points, rows[start:end])
        bucket_of = np.full(len(self.bucket_of), None, dtype=np.object_)
        bucket_of[rows] = np.repeat(owners, ends - firsts)
        self.bucket_of = bucket_of.tolist()
        self._touched.update(self._buckets.values())

    def __len__(self) -> int:
        return len(self._buckets)

    def clear(self) -> None:
        """Let go of everything; buckets and their rows hold each other."""
        for each in (self._buckets, self.bucket_of, self._heads, self._sizes, self._touched):
            each.clear()

    def grow(self) -> None:
        """Make room for rows that are new."""
        more = len(self.ranks) - len(self.bucket_of)
        self.bucket_of.extend([None] * more)
        self.points_of.extend([0] * more)

    def put(self, row: int, key: GroupKey, points: int) -> None:
        """Put a row into the bucket where it now belongs."""
        before = self.bucket_of[row]
        if before is not None and before.key == key:
            if self.points_of[row] != points:
                self._enter(row, before, points)
            return
        bucket = self._buckets.get(key) or self._bucket(key)
        if before is not None:
            self._leave(before)
        bucket.size += 1
        self.bucket_of[row] = bucket
        self._enter(row, bucket, points)

    def _enter(self, row: int, bucket: Bucket, points: int) -> None:
        """Put a row into its level."""
        self.points_of[row] = points
        level = bucket.levels.get(points)
        if level is not None:
            level.append(row)
        else:
            bucket.push_beside(row, points)
        self._touched.add(bucket)
        self._entered += 1
        if self._entered > _TRACES * len(self.ranks):
            self._wipe_out_traces()

    def update(self, rows: Collection[int], worth: Sequence[int | None]) -> list[int]:
        """Rows whose group is what it was: take note of their points; those that are open and were not here.

        ``worth``: the points of every row, ``None`` where the row does not belong here.
        """
        bucket_of, points_of = self.bucket_of, self.points_of
        coming = []
        entered = 0
        touched = self._touched
        few = len(rows) < _FEW_ROWS
        if not few:
            touched.update(self._buckets.values())
        for row in rows:
            bucket = bucket_of[row]
            now = worth[row]
            if bucket is None:
                if now is not None:
                    coming.append(row)
                continue
            if few:
                touched.add(bucket)
            if now is None:
                self.drop(row)
            elif points_of[row] != now:
                points_of[row] = now
                level = bucket.levels.get(now)
                if level is not None:
                    level.append(row)
                else:
                    bucket.push_beside(row, now)
                entered += 1
        self._entered += entered
        if self._entered > _TRACES * len(self.ranks):
            self._wipe_out_traces()
        return coming

    def drop(self, row: int) -> None:
        """Take a row out: a filter of its own rejects it."""
        bucket = self.bucket_of[row]
        if bucket is not None:
            self.bucket_of[row] = None
            self._leave(bucket)

    def heads(self) -> tuple[list[Entry], list[int]]:
        """The best entry of each bucket, and how many rows the bucket has."""
        for bucket in self._touched:
            entry = bucket.head() if bucket.size else None
            if entry is None:
                self._heads.pop(bucket, None)
                self._sizes.pop(bucket, None)
            else:
                self._heads[bucket] = entry
                self._sizes[bucket] = bucket.size
        self._touched.clear()
        return list(self._heads.values()), list(self._sizes.values())

    def _wipe_out_traces(self) -> None:
        """Rows enter levels and leave traces there: when they did as often as there are rows, those are forgotten."""
        self._entered = 0
        for bucket in self._buckets.values():
            bucket.forget_the_gone()

    def _bucket(self, key: GroupKey) -> Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(key, self)
        return bucket

    def _leave(self, bucket: Bucket) -> None:
        bucket.size -= 1
        self._touched.add(bucket)
        if not bucket.size:
            del self._buckets[bucket.key]


def _numbered(columns: Sequence[Ints]) -> NDArray[np.integer[Any]]:
    """A number for what a row has in all columns, in the order of the first one, then of the second, and so on.

    Small ones where that is possible: those are sorted in one go.
    """
    numbers, span = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        values, width = column - (lowest := column.min()), int(column.max()) - int(lowest) + 1
        if span * width > _LARGEST:
            (numbers, span), (values, width) = _renumbered(numbers), _renumbered(column)
        numbers = numbers * width + values
        span *= width
    return numbers.astype(np.uint16) if span <= 1 << 16 else numbers


def _renumbered(values: Ints) -> tuple[Ints, int]:
    """The same in the same order with no number left out, and how many different ones there are."""
    different, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int64), len(different)
