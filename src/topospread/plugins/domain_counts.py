"""Pods that match a selector, counted by domain of a topology key and updated with every pod.

`pod_topology_spread` decides by these counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster
from topospread.cluster.arrays import Codes, Ints, Rows, grown
from topospread.cluster.selections import Selection

from .domain_membership import OUT, Membership

_FEW = 64
NO_PODS = Selection(set()).counting()
"""Empty selection: since 1.27, a selector without requirements counts no pods."""


def matching_pods(cluster: Cluster, namespace: str, selector: Selector, *, empty_counts: bool) -> Selection:
    """Return the pods of a namespace that a selector counts; terminating pods do not count.

    Args:
        empty_counts: whether a selector without requirements counts every pod (until 1.26).
    """
    if selector.empty and not empty_counts:
        return NO_PODS
    return cluster.selections.of(namespace, selector).counting()


def pods_on(pods: Selection, rows: Rows) -> Ints:
    """Return the counted pods on each node, int64[rows]."""
    on_node = pods.on_node
    if not isinstance(rows, slice) and len(rows) <= _FEW:
        return np.array([on_node.get(row, 0) for row in rows.tolist()], dtype=np.int64)
    counted = np.fromiter(on_node, dtype=np.int64, count=len(on_node))
    last = rows.stop - 1 if isinstance(rows, slice) else int(rows.max())
    dense = np.zeros(max(last, int(counted.max(initial=-1))) + 1, dtype=np.int64)
    dense[counted] = np.fromiter(on_node.values(), dtype=np.int64, count=len(on_node))
    found: Ints = dense[rows]
    return found


class DomainCounts:
    """The number of a selection's pods in each domain.

    `add` keeps the counts up to date with pods, but nodes' changes are applied only by `catch_up`.

    Attributes:
        membership: domain of each node.
        counts: domain code → counted pods, int64[codes]; shorter than the column's values until `make_room`.
        without_key: number of pods on nodes without the key, which only `KeylessCounts` counts, in the domain "".
    """

    without_key = 0

    def __init__(self, pods: Selection, membership: Membership) -> None:
        self.pods = pods
        self.membership = membership
        self._column = membership.column
        # Count → number of existing domains with this count, without zeros. Invariant: _minimum is at most the lowest
        # key, so `minimum` only has to search upwards.
        self._domains_with: dict[int, int] = {}
        self._minimum = 0
        self.counts: Ints = self._counted(membership)
        membership.follow(self)

    @property
    def member(self) -> Codes:
        """Row → code of the node's domain, negative if the node is in no domain, int32[capacity]."""
        return self.membership.member

    @property
    def nodes(self) -> Ints:
        """Domain code → number of included nodes, int64[codes]."""
        return self.membership.nodes

    @property
    def domains(self) -> int:
        """Number of domains that exist."""
        return self.membership.domains

    @property
    def minimum(self) -> int:
        """Lowest count of an existing domain; 0 if no domain exists."""
        if self.membership.domains:
            while self._minimum not in self._domains_with:
                self._minimum += 1
            return self._minimum
        return 0

    def catch_up(self) -> None:
        """Apply changes of nodes: count pods in their nodes' current domains."""
        self.membership.catch_up()

    def add(self, row: int, delta: int) -> None:
        """Count one pod more (+1) or less (−1) on a node."""
        member = self.membership.member
        code = member.item(row) if row < len(member) else -1
        if code >= 0:
            self._change(code, delta)

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        """Move the pods of a node to its new domain."""
        self.make_room()
        pods = self.pods.on_node.get(row, 0)
        for code, delta in ((before, -pods), (after, pods)):
            if code >= 0:
                self._exists_anew(code, is_left=code == before)
                self._change(code, delta)

    def at(self, codes: Codes) -> Ints:
        """Return the counts of the domains with these codes, int64[codes]; −1 gives an arbitrary value."""
        self.make_room()
        if not len(self.counts):
            return np.zeros(len(codes), dtype=np.int64)
        if self.without_key:
            return self.counts[codes] + np.where(codes == self._column.code(""), self.without_key, 0)
        return self.counts[codes]

    def at_each(self, codes: Sequence[int]) -> list[int]:
        """Return the counts of `at` as a list, faster for a few domains."""
        known = len(self.counts)
        if known < len(self._column.values):
            self.make_room()
        counts = list(map(self.counts.item, codes)) if known or len(self.counts) else [0] * len(codes)
        if self.without_key and (empty := self._column.code("")) in codes:
            return [n + self.without_key if code == empty else n for n, code in zip(counts, codes, strict=True)]
        return counts

    def make_room(self) -> None:
        """Extend ``counts`` to every value that the key has now."""
        known = len(self._column.values)
        if len(self.counts) < known:
            self.counts = grown(self.counts, known)
            self.membership.make_room()

    def _counted(self, counted_in: Membership) -> Ints:
        """Return the number of pods in each domain, int64[codes]. Also set `_domains_with` and `_minimum`."""
        on_node, member = self.pods.on_node, counted_in.member
        counts = np.zeros(len(self._column.values), dtype=np.int64)
        if not on_node:
            self._domains_with = {0: self.membership.domains} if self.membership.domains else {}
            return counts
        last, member_of, nodes_of = len(member), member.item, self.membership.nodes.item
        pods_of: dict[int, int] = {}
        for row, pods in on_node.items():  # faster than arrays for the few nodes of most selections
            code = member_of(row) if row < last else OUT
            if code >= 0:
                pods_of[code] = pods_of.get(code, 0) + pods
        counts[list(pods_of)] = list(pods_of.values())
        domains = Counter([pods for code, pods in pods_of.items() if nodes_of(code)])
        empty = self.membership.domains - domains.total()
        self._domains_with = dict(domains) | ({0: empty} if empty else {})
        self._minimum = min(self._domains_with, default=0)
        return counts

    def _exists_anew(self, code: int, *, is_left: bool) -> None:
        """Record that the domain's last node has left it (``is_left``), or that its first node has joined it."""
        nodes = self.membership.nodes.item(code)
        if is_left and not nodes:
            self._forget(self.counts.item(code))
        elif not is_left and nodes == 1:
            self._note(self.counts.item(code))

    def _change(self, code: int, delta: int) -> None:
        count = self.counts.item(code)
        self.counts[code] = count + delta
        if delta and self.membership.nodes.item(code):
            self._forget(count)
            self._note(count + delta)

    def _note(self, count: int) -> None:
        self._domains_with[count] = self._domains_with.get(count, 0) + 1
        self._minimum = min(self._minimum, count)

    def _forget(self, count: int) -> None:
        left = self._domains_with[count] - 1
        if left:
            self._domains_with[count] = left
        else:
            del self._domains_with[count]
