"""The domain of each node for a topology key, shared by constraints that agree on it.

Constraints agree if they have the same topology key, require the same label keys, and include the same nodes.
`domain_counts` counts pods in the domains.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol
from weakref import ref

import numpy as np

from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools, Codes, Ints, Rows, grown
from topospread.cluster.nodes import LabelColumn

OUT, WITHOUT_KEY = -1, -2
"""Codes of nodes in no domain: a node that the constraint excludes, and an included node without the key."""
_FOLLOWERS = 16
"""Dead weak references to followers are removed when there are more than twice as many as last time plus this."""


class Follower(Protocol):
    """Counts that depend on a membership."""

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        """Move a node's pods from domain ``before`` to ``after``; ``membership.nodes`` is updated already."""


class Membership:
    """The domain of each node, updated by `catch_up`. A domain exists while it has an included node.

    Attributes:
        column: label column of the key.
        member: row → domain code, `OUT` or `WITHOUT_KEY`, int32[capacity at the last `catch_up`].
        nodes: domain code → number of included nodes, int64[codes]; shorter than the column's values until `make_room`.
        domains: number of domains that exist.
    """

    def __init__(self, cluster: Cluster, column: LabelColumn, takes_part: Callable[[Rows], Bools]) -> None:
        """``takes_part``: returns whether the constraint includes nodes, apart from the check of the topology key."""
        self.column = column
        self._journal = cluster.journal
        self._table = cluster.nodes
        self._numbering = cluster.nodes.numbering
        self._takes_part = takes_part
        self._position = cluster.journal.join(self)
        self._followers: list[ref[Follower]] = []
        self._most_followers = _FOLLOWERS
        self._moved: dict[int, int] = {}
        self._by_name: tuple[Codes, Codes, Codes] | None = None
        self._names = 0
        self.member: Codes = np.full(len(column.codes), OUT, dtype=np.int32)
        everything = slice(0, cluster.nodes.size)
        self.member[everything] = self._members(everything)
        in_domains = self.member[self.member >= 0]
        self.nodes: Ints = np.bincount(in_domains, minlength=len(column.values)).astype(np.int64)
        self.domains = int(np.count_nonzero(self.nodes))

    def follow(self, follower: Follower) -> None:
        """Call the follower for each node that changes its domain. Only a weak reference to it is kept."""
        self._followers.append(ref(follower))
        if len(self._followers) > self._most_followers:
            self._followers = [each for each in self._followers if each() is not None]
            self._most_followers = 2 * len(self._followers) + _FOLLOWERS

    def catch_up(self) -> bool:
        """Apply the journal's changed nodes. Return False if a new membership must be built."""
        rows = self._journal.nodes_since(self._position, self)
        if rows is None or self._numbering != self._table.numbering:
            return False
        if rows:
            self._position = self._journal.position
            self.member = grown(self.member, len(self.column.codes), OUT)
            self.make_room()
            for row in rows:
                self._move(row)
        return True

    def rewind(self, position: int) -> None:
        """Set the position after the journal took back changes that were read."""
        self._position = position

    def by_name(self) -> tuple[Codes, Codes, Codes]:
        """Return the existing domains as three arrays. Do not change them.

        The arrays are: codes of the domains, sorted by name; number of included nodes of each; and code → index in the
        first array, −1 for a domain that does not exist.
        """
        if self._by_name is None or self._names != len(self.column.values):
            self.make_room()
            self._names, codes = len(self.column.values), self.column.by_name
            if self.domains < len(codes):
                codes = codes[self.nodes[codes] > 0]
            indexes = np.full(self._names, -1, dtype=np.int32)
            indexes[codes] = np.arange(len(codes))
            self._by_name = codes, self.nodes[codes].astype(np.int32), indexes
        return self._by_name

    @property
    def is_of_all_nodes(self) -> bool:
        """True if every node has the key and is included."""
        return int(self.nodes.sum()) == len(self._table)

    def moved_since(self, row: int, position: int) -> bool:
        """Return whether a node changed its domain after a position in the journal."""
        return self._moved.get(row, -1) >= position

    def is_stale(self, row: int) -> bool:
        """Return whether a node's domain will change with the next `catch_up`."""
        return row >= len(self.member) or self.member.item(row) != self._members(np.array([row]))[0]

    def make_room(self) -> None:
        """Extend ``nodes`` to every value that the key has now."""
        self.nodes = grown(self.nodes, len(self.column.values))

    def _members(self, rows: Rows) -> Codes:
        codes = self.column.codes[rows]
        return np.where(self._takes_part(rows), np.where(codes >= 0, codes, WITHOUT_KEY), OUT).astype(np.int32)

    def _move(self, row: int) -> None:
        before, after = self.member.item(row), int(self._members(np.array([row]))[0])
        if before == after:
            return
        self.member[row] = after
        self._moved[row] = self._journal.position
        self._by_name = None
        for code, delta in ((before, -1), (after, 1)):
            if code >= 0:
                self.nodes[code] += delta
                self.domains += int(self.nodes[code] == 1) if delta > 0 else -int(self.nodes[code] == 0)
        for each in self._followers:
            if (follower := each()) is not None:
                follower.node_moved(self, row, before, after)
