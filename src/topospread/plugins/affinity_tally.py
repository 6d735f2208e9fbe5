"""Sums over the pods in each domain of a topology key, for InterPodAffinity. What is summed up is not its matter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from topospread.cluster.arrays import Codes, Ints, Rows, grown
from topospread.cluster.nodes import LabelColumn

from .group_columns import MISSING, ByDomain, GroupColumn, in_domains, is_grouped_by_domain
from .interface import length


class Tally:
    """Sums over the pods in each domain of a topology key.

    Attributes:
        sums: by code of the key's column, int64[codes].
        domains: how many domains have a sum other than 0.
    """

    def __init__(self, column: LabelColumn, capacity: int) -> None:
        self.column = column
        self._is_grouped_by_domain = is_grouped_by_domain(column, capacity)
        self.sums: Ints = np.zeros(len(column.values), dtype=np.int64)
        self.domains = 0
        self._of_node: Ints = np.zeros(capacity, dtype=np.int64)
        self._member: Codes = column.codes.copy()

    def add(self, row: int, amount: int) -> None:
        """Add to the domain of a node."""
        self._grow()
        self._of_node[row] += amount
        code = int(self._member[row])
        if code >= 0:
            self._change(code, amount)

    def move(self, row: int) -> None:
        """Follow a node that changed."""
        self._grow()
        before, after = int(self._member[row]), int(self.column.codes[row])
        if before != after:
            amount = int(self._of_node[row])
            if before >= 0:
                self._change(before, -amount)
            if after >= 0:
                self._change(after, amount)
            self._member[row] = after

    def of(self, row: int) -> int:
        """Sum of a node's domain, 0 where it lacks the key."""
        code = self.column.codes.item(row)
        return self.sums.item(code) if 0 <= code < len(self.sums) else 0

    def at(self, rows: Rows) -> Ints:
        """Sums of the nodes' domains, 0 where a node lacks the key, int64[rows]."""
        self._grow()
        codes = self.column.codes[rows]
        if not len(self.sums):
            return np.zeros(length(rows), dtype=np.int64)
        return np.where(codes >= 0, self.sums[codes], 0)

    def group_column(self) -> GroupColumn:
        """Return what tells nodes apart: their domain, or its sum."""
        return ByDomain(self.column) if self._is_grouped_by_domain else _SumOfDomain(self)

    def _grow(self) -> None:
        if len(self.sums) < len(self.column.values):
            self.sums = grown(self.sums, len(self.column.values))
        if len(self._member) < len(self.column.codes):
            self._of_node = grown(self._of_node, len(self.column.codes))
            self._member = grown(self._member, len(self.column.codes), -1)

    def _change(self, code: int, amount: int) -> None:
        before = int(self.sums[code])
        self.sums[code] = before + amount
        self.domains += (before + amount != 0) - (before != 0)


class _SumOfDomain:
    """A count column: the sum of the node's domain."""

    is_fixed = False
    whole_domains = True

    def __init__(self, tally: Tally) -> None:
        self.labels = tally.column
        self.key = ("sum", tally)
        self._tally = tally

    def values(self, rows: Rows) -> Ints:
        return np.where(self.labels.codes[rows] >= 0, self._tally.at(rows), MISSING)

    def value(self, row: int) -> int:
        return self._tally.of(row) if self.labels.codes.item(row) >= 0 else MISSING

    def counted(self) -> Mapping[int, int]:
        codes = np.flatnonzero(self._tally.sums)
        return in_domains(self.labels, codes.tolist(), self._tally.sums[codes].tolist())
