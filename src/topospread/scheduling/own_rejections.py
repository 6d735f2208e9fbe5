"""Each node's first rejection by filters that read only the node and its pods' sums, cached until the node changes."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from topospread.cluster import NO_ROW, Cluster
from topospread.cluster.arrays import Codes, Ints, distinct, grown
from topospread.plugins.interface import Scope, Status

from .framework import PreparedPlugins
from .verdict import Rejection, RejectionList

_OPEN, _NOT_THERE = -1, -2


class OwnRejections:
    """The first rejection of each node by filters of scopes NODE and USAGE, updated row by row.

    Attributes:
        filters: number of these filters.
        come_first: whether all of these filters run before the profile's other filters.
    """

    def __init__(self, cluster: Cluster, plugins: PreparedPlugins) -> None:
        self._cluster = cluster
        self._named = plugins.filters
        self._filters = [
            (place, each.filter) for place, each in enumerate(plugins.filters) if each.filter.scope <= Scope.USAGE
        ]
        self.filters = len(self._filters)
        self.come_first = [place for place, _ in self._filters] == list(range(self.filters))
        # (index of the filter in the profile, its code) → rejection number, an index into `_said`. Status texts are
        # made only on demand, because some filters fail while they make one.
        self._numbers: dict[tuple[int, int], int] = {}
        self._said: list[tuple[int, int]] = []
        self._moved: dict[int, int] = {}
        self._position = cluster.journal.join(self)
        self._number: Codes = np.full(cluster.nodes.capacity, _NOT_THERE, dtype=np.int32)
        self._ask(np.arange(cluster.nodes.size))

    def catch_up(self) -> bool:
        """Run the filters again for changed nodes."""
        nodes, journal = self._cluster.nodes, self._cluster.journal
        changes = journal.since(self._position, self)
        self._position = journal.position
        if changes is None:
            rows: Collection[int] = range(nodes.size)
        else:
            rows = {row for row, _, _ in changes if row != NO_ROW}
        if rows:
            asked = np.fromiter(rows, dtype=np.int64)
            self._number = grown(self._number, nodes.capacity, _NOT_THERE)
            before = self._number[asked]
            self._ask(asked)
            self._moved.update(dict.fromkeys(asked[self._number[asked] != before].tolist(), journal.position - 1))
        return True

    def rewind(self, position: int) -> None:
        """Set the position after the journal removed changes that this object had read and that cancel out."""
        self._position = position

    def moved_since(self, row: int, position: int) -> bool:
        """Return whether a node's rejection changed between a journal position and the last `catch_up`."""
        return self._moved.get(row, -1) >= position

    def blame(self, rows: Ints, rejections: RejectionList) -> Ints:
        """Add the nodes' rejections to the list. Return their indexes in it, −1 without a rejection, int64[rows]."""
        found = self._number[rows]
        number = np.full(len(self._said) + 1, -1, dtype=np.int64)  # index −1 (`_OPEN`) reads the last element
        here = np.flatnonzero(np.bincount(found + 1, minlength=len(number))[1:]).tolist()
        for each in sorted(here, key=self._said.__getitem__):
            number[each] = rejections.number(*self._words(each))
        return number[found]

    def passes(self, row: int) -> bool:
        """Return whether none of these filters rejects a node."""
        return self._number.item(row) == _OPEN

    def rejection(self, row: int) -> Rejection | None:
        """Return the rejection of a node that exists."""
        number = self._number.item(row)
        if number < 0:
            return None
        plugin, status = self._words(number)
        return Rejection(status.code, plugin, status.reasons)

    def _words(self, number: int) -> tuple[str, Status]:
        place, code = self._said[number]
        named = self._named[place]
        return named.plugin, named.filter.status(code)

    def _ask(self, rows: Ints) -> None:
        alive = self._cluster.nodes.alive[rows]
        self._number[rows] = np.where(alive, _OPEN, _NOT_THERE)
        left = rows[alive]
        for place, each in self._filters:
            if not len(left):
                return
            codes = each.filter(left)
            if codes.any():
                for code in distinct(codes):
                    self._number[left[codes == code]] = self._numbered((place, code))
                left = left[codes == 0]

    def _numbered(self, said: tuple[int, int]) -> int:
        if said not in self._numbers:
            self._numbers[said] = len(self._said)
            self._said.append(said)
        return self._numbers[said]
