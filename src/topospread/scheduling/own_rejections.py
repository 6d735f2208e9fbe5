"""What rejects each node by itself and by what its pods use, kept until the node changes."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np

from topospread.cluster import NO_ROW, Cluster
from topospread.cluster.arrays import Codes, Ints, grown
from topospread.plugins.interface import Filter, Scope, Status

from .framework import PreparedPlugins
from .verdict import Rejection, RejectionList

OPEN, NOT_THERE = -1, -2


class Said(msgspec.Struct, frozen=True):
    """What a filter says by a code; ``order``: its place among the filters, and the code."""

    order: tuple[int, int]
    plugin: str
    status: Status

    @property
    def rejection(self) -> Rejection:
        """The same, as a verdict has it."""
        return Rejection(self.status.code, self.plugin, self.status.reasons)


class OwnRejections:
    """The first rejection of each node by filters that look at no other node, up to date row by row.

    Attributes:
        number: row → index into ``said``, `OPEN` where none of these filters rejects the node, or `NOT_THERE`,
            int32[capacity].
        said: what the filters said, in no order.
        filters: how many filters these are.
        come_first: no other filter comes before one of them.
    """

    def __init__(self, cluster: Cluster, plugins: PreparedPlugins) -> None:
        self._cluster = cluster
        self._filters = [
            (place, each.plugin, each.filter)
            for place, each in enumerate(plugins.filters)
            if each.filter.scope <= Scope.USAGE
        ]
        self.filters = len(self._filters)
        self.come_first = all(each.filter.scope <= Scope.USAGE for each in plugins.filters[: self.filters])
        self.said: list[Said] = []
        self._known: dict[tuple[int, int], int] = {}
        self._moved: dict[int, int] = {}
        self._position = cluster.journal.join(self)
        self.number: Codes = np.full(cluster.nodes.capacity, NOT_THERE, dtype=np.int32)
        self._ask(np.arange(cluster.nodes.size))

    def catch_up(self) -> bool:
        """Ask about the nodes that changed."""
        nodes, journal = self._cluster.nodes, self._cluster.journal
        changes = journal.since(self._position, self)
        self._position = journal.position
        if changes is None:
            rows: Collection[int] = range(nodes.size)
        else:
            rows = {row for row, _, _ in changes if row != NO_ROW}
        if rows:
            asked = np.fromiter(rows, dtype=np.int64)
            self.number = grown(self.number, nodes.capacity, NOT_THERE)
            said = self.number[asked]
            self._ask(asked)
            self._moved.update(dict.fromkeys(asked[self.number[asked] != said].tolist(), journal.position - 1))
        return True

    def rewind(self, position: int) -> None:
        """The journal's newest changes, which were read and undo each other, were taken back."""
        self._position = position

    def moved_since(self, row: int, position: int) -> bool:
        """Whether what is said of a node became another since a position in the journal, as far as that was read."""
        return self._moved.get(row, -1) >= position

    def blame(self, rows: Ints, rejections: RejectionList) -> Ints:
        """For each node that is there the number of its rejection in a list, −1 where there is none, int64[rows]."""
        found = self.number[rows]
        number = np.full(len(self.said) + 1, -1, dtype=np.int64)  # the last one is that of `OPEN`
        here = np.flatnonzero(np.bincount(found + 1, minlength=len(number))[1:])
        for each in sorted(here.tolist(), key=lambda each: self.said[each].order):
            number[each] = rejections.number(self.said[each].plugin, self.said[each].status)
        return number[found]

    def passes(self, row: int) -> bool:
        """Whether none of these filters rejects a node."""
        return self.number.item(row) == OPEN

    def rejection(self, row: int) -> Rejection | None:
        """What is said of a node that is there."""
        number = self.number.item(row)
        return None if number < 0 else self.said[number].rejection

    def _ask(self, rows: Ints) -> None:
        alive = self._cluster.nodes.alive[rows]
        self.number[rows] = np.where(alive, OPEN, NOT_THERE)
        left = rows[alive]
        for place, plugin, each in self._filters:
            if not len(left):
                return
            codes = each.filter(left)
            if codes.any():
                for code in set(codes[codes != 0].tolist()):
                    self.number[left[codes == code]] = self._number(place, plugin, each, code)
                left = left[codes == 0]

    def _number(self, place: int, plugin: str, asked: Filter, code: int) -> int:
        order = (place, code)
        if order not in self._known:
            self._known[order] = len(self.said)
            self.said.append(Said(order, plugin, asked.status(code)))
        return self._known[order]
