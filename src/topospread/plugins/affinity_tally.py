"""Sums over the pods in each domain of a topology key, for InterPodAffinity. What is summed up is not its matter."""

from __future__ import annotations

import numpy as np

from topospread.cluster.arrays import Codes, Ints, Rows, grown
from topospread.cluster.nodes import LabelColumn

from .interface import length

_GROUPED_BY_DOMAIN = 32
"""Keys with up to so many values group nodes by domain; those with more by what the domain counts."""


class Tally:
    """Sums over the pods in each domain of a topology key.

    Attributes:
        sums: by code of the key's column, int64[codes].
        domains: how many domains have a sum other than 0.
        by_domain: whether nodes are grouped by domain rather than by the domain's sum.
    """

    def __init__(self, column: LabelColumn, capacity: int) -> None:
        self.column = column
        self.by_domain = len(column.values) <= _GROUPED_BY_DOMAIN
        self.sums: Ints = np.zeros(len(column.values), dtype=np.int64)
        self.domains = 0
        self._of_node: Ints = np.zeros(capacity, dtype=np.int64)
        self._member: Codes = column.codes.copy()

    def add(self, row: int, amount: int) -> int:
        """Add to the domain of a node; its code, −1 where the node lacks the key."""
        self._grow()
        self._of_node[row] += amount
        code = int(self._member[row])
        if code >= 0:
            self._change(code, amount)
        return code

    def move(self, row: int) -> tuple[int, int]:
        """Take note that the node changed; the codes of the domains it was and is in."""
        self._grow()
        before, after = int(self._member[row]), int(self.column.codes[row])
        if before != after:
            amount = int(self._of_node[row])
            if before >= 0:
                self._change(before, -amount)
            if after >= 0:
                self._change(after, amount)
            self._member[row] = after
        return before, after

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
