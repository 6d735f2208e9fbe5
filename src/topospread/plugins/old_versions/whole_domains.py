"""Hard spread constraints of 1.19 to 1.23, which also count pods on the excluded nodes of a domain.

Source: plugins/podtopologyspread/filtering.go of these versions. The rule since then is in `domain_counts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from topospread.cluster.arrays import Codes, Ints
from topospread.cluster.selections import Selection
from topospread.plugins.domain_counts import DomainCounts
from topospread.plugins.domain_membership import OUT, WITHOUT_KEY, Membership


class WholeDomainCounts(DomainCounts):
    """Counts of matching pods on all nodes of a domain. A domain exists while the constraint includes one of its nodes.

    Args:
        labelled: domains of all nodes by their labels, including excluded nodes.
    """

    def __init__(self, pods: Selection, membership: Membership, labelled: Membership) -> None:
        super().__init__(pods, membership)
        self._labelled = labelled
        self.counts = self._counted(labelled)
        # Code of the domain "", −1 without one. kube-scheduler reads ``node.Labels[key]``, so it counts pods on nodes
        # without the key in the domain "" if it exists.
        self._empty = -1
        member = labelled.member
        self._keyless = sum(
            count for row, count in pods.on_node.items() if row < len(member) and member.item(row) == WITHOUT_KEY
        )
        self._join_empty()
        labelled.follow(self)

    def catch_up(self) -> None:
        """Move pods to their nodes' current domains."""
        super().catch_up()
        self._labelled.catch_up()

    def add(self, row: int, delta: int) -> None:
        """Count one matching pod more (+1) or less (−1) on a node."""
        member = self._labelled.member
        self._count(member.item(row) if row < len(member) else OUT, delta)

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        """Move the node's pods if its label changed. Record domains that now exist or no longer exist."""
        self.make_room()
        pods = self.pods.on_node.get(row, 0)
        for code, delta in ((before, -pods), (after, pods)):
            if membership is self._labelled:
                self._count(code, delta)
            elif code >= 0:
                self._exists_anew(code, is_left=code == before)
        self._join_empty()

    def _count(self, code: int, delta: int) -> None:
        if code == WITHOUT_KEY:
            self._keyless += delta
            code = self._empty
        if code >= 0:
            self._change(code, delta)

    def _join_empty(self) -> None:
        """Count the pods on nodes without the key in the domain "", once this domain exists."""
        code = self._column.code("")
        if self._empty < 0 <= code:
            self.make_room()
            self._empty = code
            self._change(code, self._keyless)

    def at(self, codes: Codes) -> Ints:
        """Return the counts of the domains with these codes, 0 for a domain that does not exist."""
        counts = super().at(codes)
        return np.where(self.nodes[codes] > 0, counts, 0) if len(self.nodes) else counts

    def at_each(self, codes: Sequence[int]) -> list[int]:
        """Return the counts of `at` for a few domains."""
        counts: list[int] = self.at(np.array(codes, dtype=np.int32)).tolist()
        return counts


def whole_domains(pods: Selection, membership: Membership, labelled: Callable[[], Membership]) -> DomainCounts:
    """Return counts of matching pods on all nodes of a domain."""
    return WholeDomainCounts(pods, membership, labelled())
