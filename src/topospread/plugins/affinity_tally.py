"""Sums over the pods in each domain of a topology key, for InterPodAffinity."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.nodes import LabelColumn

from .group_columns import MISSING, ByDomain, GroupColumn, in_domains, is_grouped_by_domain

_FEW = 32


class Tally:
    """Sums over the pods in each domain of a topology key. Most sums are 0 and not stored.

    Attributes:
        sums: domain code → sum, without zeros.
    """

    def __init__(self, column: LabelColumn, capacity: int) -> None:
        self.column = column
        self._is_grouped_by_domain = is_grouped_by_domain(column, capacity)
        self.sums: dict[int, int] = {}
        # Row → (sum over its pods, domain code under which `sums` has it, −1 for none); rows with sum 0 are missing.
        # Between a node's change and `move`, the code is the node's former domain.
        self._of_node: dict[int, tuple[int, int]] = {}

    @property
    def domains(self) -> int:
        """Number of domains with a sum other than 0."""
        return len(self.sums)

    def add(self, row: int, amount: int) -> None:
        """Add an amount to the sum of a node's domain."""
        before, code = self._of_node.get(row) or (0, self.column.codes.item(row))
        if before + amount:
            self._of_node[row] = before + amount, code
        else:
            self._of_node.pop(row, None)
        self._change(code, amount)

    def move(self, row: int) -> None:
        """Move the amount of a changed node to its current domain."""
        known = self._of_node.get(row)
        if known is not None:
            amount, before = known
            after = self.column.codes.item(row)
            self._of_node[row] = amount, after
            self._change(before, -amount)
            self._change(after, amount)

    def of(self, row: int) -> int:
        """Return the sum of a node's domain, 0 if it lacks the key."""
        return self.sums.get(self.column.codes.item(row), 0)

    def at(self, rows: Rows) -> Ints:
        """Return the sums of the nodes' domains, 0 where a node lacks the key, int64[rows]."""
        if not isinstance(rows, slice) and len(rows) <= _FEW:
            return np.array([self.of(row) for row in rows.tolist()], dtype=np.int64)
        sums = np.zeros(len(self.column.values) + 1, dtype=np.int64)  # code −1 reads the last element, 0
        number = len(self.sums)
        sums[np.fromiter(self.sums, np.int64, number)] = np.fromiter(self.sums.values(), np.int64, number)
        return sums[self.column.codes[rows]]

    def group_column(self) -> GroupColumn:
        """Return the column that groups nodes: by domain if there are few domains, else by the domain's sum."""
        return ByDomain(self.column) if self._is_grouped_by_domain else _SumOfDomain(self)

    def _change(self, code: int, amount: int) -> None:
        if code < 0:
            return
        total = self.sums.get(code, 0) + amount
        if total:
            self.sums[code] = total
        else:
            self.sums.pop(code, None)


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
        sums = self._tally.sums
        codes = sorted(sums)
        return in_domains(self.labels, codes, [sums[code] for code in codes])
