"""Pods that match a selector, counted by domain of a topology key, kept up to date pod by pod.

What the counts decide is not known here: that is in `pod_topology_spread` and `inter_pod_affinity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools, Codes, Ints, grown
from topospread.cluster.nodes import LabelColumn


class MatchingPods:
    """Pods of a namespace that a selector matches, by node; terminating pods are not counted.

    ``empty_counts``: a selector without requirements counts every pod (until 1.26), else none.

    Attributes:
        per_node: matching pods on each node, int64[capacity].
    """

    def __init__(self, cluster: Cluster, namespace: str, selector: Selector, *, empty_counts: bool = False) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._selector = selector
        self._selection = cluster.selections.of(namespace, selector)
        self._counts_nothing = selector.empty and not empty_counts
        self.per_node: Ints = np.zeros(cluster.nodes.capacity, dtype=np.int64)
        # All classes at once: where each pod has a claim of its own, there are as many as pods.
        occupancies = [each.occupancy for each in self.classes]
        rows = np.fromiter(chain.from_iterable(occupancies), dtype=np.int64)
        counts = np.fromiter(chain.from_iterable(each.values() for each in occupancies), dtype=np.int64)
        np.add.at(self.per_node, rows, counts)

    @property
    def classes(self) -> Iterable[PodClass]:
        """Classes whose pods count, in no order."""
        return () if self._counts_nothing else (each for each in self._selection.classes if each.counted)

    def matches(self, pod_class: PodClass) -> bool:
        """Whether pods of the class count."""
        return pod_class.counted and not self._counts_nothing and self.matches_labels(pod_class)

    def matches_labels(self, pod_class: PodClass) -> bool:
        """Whether the selector matches pods of the class, be they terminating or the selector empty."""
        if pod_class.label_set is None:  # its cluster has let go of it, and its last pod's going is read only now
            return pod_class.namespace == self._namespace and self._selector.matches(pod_class.labels)
        return pod_class.label_set in self._selection.sets

    def add(self, row: int, delta: int) -> None:
        """Count a pod that matches."""
        self.per_node[row] += delta

    def on_node(self, row: int) -> None:
        """Make room for a row that is new."""
        if row >= len(self.per_node):
            self.per_node = grown(self.per_node, self._cluster.nodes.capacity)


class DomainCounts:
    """Matching pods in each domain of a key, over those nodes that take part.

    A domain exists while some node of it takes part; ``minimum`` is over the domains that exist.

    Attributes:
        counts: matching pods by code of the key's column, int64[codes].
        nodes: nodes that take part, by code, int64[codes].
        member: row → code of the domain it is counted in, −1 where it takes no part, int32[capacity].
        beside: matching pods that count in the domain whose value is empty, though their nodes are not of it.
    """

    beside = 0

    def __init__(self, column: LabelColumn, pods: MatchingPods, taking_part: Bools) -> None:
        self._column = column
        self.pods = pods
        size = len(taking_part)
        self.member: Codes = np.full(len(column.codes), -1, dtype=np.int32)
        self.member[:size] = np.where(taking_part, column.codes[:size], -1)
        counted = np.flatnonzero(self.member >= 0)
        codes = self.member[counted]
        codes_known = len(column.values)
        self.nodes: Ints = np.bincount(codes, minlength=codes_known).astype(np.int64)
        weights = pods.per_node[counted]
        self.domains = int(np.count_nonzero(self.nodes))
        self._recount(np.bincount(codes, weights=weights, minlength=codes_known).astype(np.int64))

    def _recount(self, counts: Ints) -> None:
        self.counts: Ints = counts
        domains = np.bincount(counts[self.nodes > 0])
        found = np.flatnonzero(domains)
        self._domains_with: dict[int, int] = dict(zip(found.tolist(), domains[found].tolist(), strict=True))
        self._minimum = min(self._domains_with, default=0)

    @property
    def minimum(self) -> int:
        """Matching pods in the domain that has the fewest; 0 when there is no domain."""
        if self.domains:
            while self._minimum not in self._domains_with:
                self._minimum += 1
            return self._minimum
        return 0

    def add(self, row: int, delta: int) -> int:
        """Count a matching pod on a node; the code of the domain it counts in, −1 for none."""
        code: int = self.member.item(row) if row < len(self.member) else -1
        if code >= 0:
            self._change(code, delta)
        else:
            self._count_beside(row, delta)
        return code

    def _count_beside(self, row: int, delta: int) -> None:
        """A matching pod on a node that is in no domain: here it does not count."""

    def set_member(self, row: int, taking_part: bool) -> tuple[int, int]:
        """Put a row, as its node now is, where it belongs; the codes it was and is counted in, −1 for none.

        The row's pods move along.
        """
        self.member = grown(self.member, len(self._column.codes), -1)
        self.make_room()
        before = int(self.member[row])
        after = int(self._column.codes[row]) if taking_part else -1
        if before == after:
            return before, after
        pods = self._moving(row)
        if before >= 0:
            self._change(before, -pods)
            self.nodes[before] -= 1
            if not self.nodes[before]:
                self._forget(int(self.counts[before]))
                self.domains -= 1
        if after >= 0:
            if not self.nodes[after]:
                self._note(int(self.counts[after]))
                self.domains += 1
            self.nodes[after] += 1
            self._change(after, pods)
        self.member[row] = after
        return before, after

    def at(self, codes: Codes) -> Ints:
        """Counts of the domains with these codes, int64[codes]; −1 gives an arbitrary value."""
        self.make_room()
        if not len(self.counts):
            return np.zeros(len(codes), dtype=np.int64)
        if self.beside:
            return self.counts[codes] + np.where(codes == self._column.code(""), self.beside, 0)
        return self.counts[codes]

    def at_each(self, codes: Sequence[int]) -> list[int]:
        """`at`, for a handful of domains."""
        known = len(self.counts)
        if known < len(self._column.values):
            self.make_room()
        counts = list(map(self.counts.item, codes)) if known or len(self.counts) else [0] * len(codes)
        if self.beside and (empty := self._column.code("")) in codes:
            return [n + self.beside if code == empty else n for n, code in zip(counts, codes, strict=True)]
        return counts

    def _moving(self, row: int) -> int:
        """How many pods change their domain with a row."""
        return int(self.pods.per_node[row])

    def make_room(self) -> None:
        """Have a count for every value that the key has by now."""
        known = len(self._column.values)
        if len(self.counts) < known:
            self.counts = grown(self.counts, known)
            self.nodes = grown(self.nodes, known)

    def _change(self, code: int, delta: int) -> None:
        count = self.counts.item(code)
        self.counts[code] = count + delta
        if delta and self.nodes.item(code):
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
