"""Feasible nodes in groups; the best node of a group is its *head*.

Pod classes that group nodes by the same columns share the groups. The nodes of a group are equal for every cluster-wide
plugin, so only their node-local scores differ. Comparing all heads therefore finds the best node. If only few nodes
have pods that the class counts, `heads_beside` compares these nodes next to the groups of the other nodes.
docs/explanation/engine.md has a picture.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from topospread.cluster.arrays import Ints
from topospread.cluster.nodes import NodeTable
from topospread.plugins.group_columns import CountColumn, GroupColumn
from topospread.plugins.interface import offers

Heads: TypeAlias = "tuple[array[int], array[int]]"
"""(best row, number of feasible rows) of each group, both int64[groups]; a group without rows has number 0."""

_CLOSED = -1
_LARGEST = 1 << 62


class Groups:
    """All rows that pass their node-local filters; rows with equal values in all columns form a group.

    Attributes:
        columns: columns that define the groups.
        read: position in `NodeLocalAnswers`' log of changed rows up to which the groups are updated.
    """

    def __init__(
        self, columns: Sequence[GroupColumn], worth: Sequence[int | None], points: Ints, nodes: NodeTable
    ) -> None:
        """Args:
        worth: row → node-local score, ``None`` for a row that is not feasible. The owner updates it in place.
                    points: node-local scores, int64[capacity].
        """
        self.columns = columns
        self.read = 0
        self._worth = worth
        self._nodes = nodes
        self._are_fixed = all(each.is_fixed for each in columns)
        self._whole_domains = [each for each in columns if offers(each, CountColumn) and each.whole_domains]
        # Per row, [nodes.size]: its group's number or _CLOSED, and the score under which `_levels` has it. Between a
        # change of `worth` and `update`, this score is older than `worth`.
        self._group_of = array("i", [_CLOSED]) * nodes.size
        self._points_of = array("q", [0]) * nodes.size
        # Per group, all of equal length: _heads (best row), _sizes (number of rows), _levels (score → rows sorted by
        # name) and _best (negated keys of _levels, ascending). A group without rows has size 0; its number is reused.
        self._heads, self._sizes = array("q"), array("q")
        self._levels: list[dict[int, array[int]]] = []
        self._best: list[list[int]] = []
        self._values: list[tuple[int, ...]] = []
        self._number_of: dict[tuple[int, ...], int] = {}
        self._free: list[int] = []
        self._fill(points)

    def update(self, changed: Iterable[int]) -> bool:
        """Move changed rows to their groups; ``~row`` means that the row's node changed.

        Return False if new groups must be built.
        """
        rows = dict.fromkeys(changed)
        renamed = [~each for each in rows if each < 0] if min(rows) < 0 else []
        if self._whole_domains:
            if renamed:
                return False
            for column in self._whole_domains:
                codes = {column.labels.codes.item(row) for row in rows} - {-1}
                rows = dict.fromkeys((*rows, *(row for code in codes for row in column.labels.rows(code))))
        if missing := self._nodes.size - len(self._group_of):
            self._group_of.extend([_CLOSED] * missing)
            self._points_of.extend([0] * missing)
        for row in renamed:  # names may sort differently now, so take out all of these rows before any is put back
            self._move(row, _CLOSED, 0)
        for each in rows:
            row = each if each >= 0 else ~each
            points = self._worth[row]
            group = self._group_of[row]
            if points is None:
                group = _CLOSED
            elif group < 0 or not self._are_fixed:
                group = self._number(tuple([column.value(row) for column in self.columns]))
            self._move(row, group, points or 0)
        return True

    def heads(self) -> Heads:
        """Return the head of each group; do not change the arrays."""
        return self._heads, self._sizes

    def heads_beside(self, counts: Sequence[Mapping[int, int]]) -> Heads:
        """Return the heads after rows with counts are taken out of their groups.

        Rows of one group with equal counts form an additional group with its own head.

        Args:
            counts: for each column that counts pods, row → count. Rows without counts stay in their group.
        """
        heads, sizes = self._heads[:], self._sizes[:]
        group_of, points_of, ranks = self._group_of, self._points_of, self._nodes.ranks
        apart: Mapping[int, Hashable] = counts[0]
        if len(counts) > 1:
            rows = {row for each in counts for row in each}
            apart = {row: tuple([each.get(row, 0) for each in counts]) for row in rows}
        place_of: dict[tuple[int, Hashable], int] = {}
        for row, counted in apart.items():
            group = group_of[row]
            if group < 0:
                continue
            sizes[group] -= 1
            key = (group, counted)
            place = place_of.get(key)
            if place is None:
                place_of[key] = len(heads)
                heads.append(row)
                sizes.append(1)
                continue
            sizes[place] += 1
            head = heads[place]
            better = points_of[row] - points_of[head]
            if better > 0 or (not better and ranks[row] < ranks[head]):
                heads[place] = row
        for group in {key[0] for key in place_of}:
            if sizes[group] and heads[group] in apart:
                levels = self._levels[group]
                heads[group] = next(
                    row for below_zero in self._best[group] for row in levels[-below_zero] if row not in apart
                )
        return heads, sizes

    def _move(self, row: int, group: int, points: int) -> None:
        """Move a row to a group, or out of all groups. Rows with the same score stay sorted by name."""
        before, ranks = self._group_of[row], self._nodes.ranks
        if before == group and (group < 0 or self._points_of[row] == points):
            return
        if before >= 0:
            self._take_out(row, before)
        self._group_of[row], self._points_of[row] = group, points
        if group >= 0:
            levels = self._levels[group]
            level = levels.get(points)
            if level is None:
                levels[points] = array("i", [row])
                insort(self._best[group], -points)
            elif ranks[level[-1]] < ranks[row]:  # fast path: rows often change in the order of their names
                level.append(row)
            else:
                insort(level, row, key=ranks.__getitem__)
            self._sizes[group] += 1
            self._heads[group] = levels[-self._best[group][0]][0]
        if before >= 0 and before != group and not self._sizes[before]:
            self._free.append(before)
            del self._number_of[self._values[before]]

    def _take_out(self, row: int, group: int) -> None:
        ranks, levels, best = self._nodes.ranks, self._levels[group], self._best[group]
        points = self._points_of[row]
        level = levels[points]
        place = 0 if level[0] == row else bisect_left(level, ranks[row], key=ranks.__getitem__)
        if place == len(level) or level[place] != row:  # the row's name changed since it was inserted
            place = level.index(row)
        del level[place]
        if not level:
            del levels[points]
            del best[bisect_left(best, -points)]
        self._sizes[group] -= 1
        if best:
            self._heads[group] = levels[-best[0]][0]

    def _number(self, values: tuple[int, ...]) -> int:
        """Return the number of the group with these values; make the group if it does not exist."""
        number = self._number_of.get(values)
        if number is None:
            if self._free:
                number = self._free.pop()
                self._values[number] = values
            else:
                number = len(self._values)
                self._values.append(values)
                self._levels.append({})
                self._best.append([])
                self._heads.append(0)
                self._sizes.append(0)
            self._number_of[values] = number
        return number

    def _fill(self, points: Ints) -> None:
        """Put all feasible rows into groups, sorted once by group, score and name."""
        by_name = self._nodes.by_name
        rows = by_name[[self._worth[row] is not None for row in by_name.tolist()]]
        if not len(rows):
            return
        columns = [*(each.values(rows) for each in self.columns), points[rows]]
        numbers = _numbered(columns)
        order = np.argsort(numbers, kind="stable")
        ordered, rows = numbers[order], rows[order].astype(np.int32)
        firsts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        ends = [*firsts[1:].tolist(), len(rows)]
        group_of, points_of = np.frombuffer(self._group_of, np.int32), np.frombuffer(self._points_of, np.int64)
        levels = zip(*(column[order[firsts]].tolist() for column in columns), strict=True)
        for (*values, level_points), first, end in zip(levels, firsts.tolist(), ends, strict=True):
            group = self._number(tuple(values))
            level = array("i", rows[first:end].tobytes())
            self._levels[group][level_points] = level
            self._best[group].insert(0, -level_points)  # scores come in ascending order
            self._heads[group] = level[0]
            self._sizes[group] += len(level)
            group_of[rows[first:end]] = group
            points_of[rows[first:end]] = level_points


def _numbered(columns: Sequence[Ints]) -> NDArray[np.integer[Any]]:
    """Return one number per row, [rows]. Numbers sort like the tuples of the row's column values.

    The dtype is small if possible, because NumPy sorts small integers in linear time.
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
    """Return numbers in the same order without gaps, and the count of distinct numbers."""
    different, numbers = np.unique(values, return_inverse=True)
    return numbers.astype(np.int64), len(different)
