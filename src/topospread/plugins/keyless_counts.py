"""Pods by domain where nodes need no key: nodes without it count together with those whose value is empty.

Source: plugins/podtopologyspread/scoring.go: under the built-in defaults PreScore reads ``node.Labels[key]``, "" for
both, and Score looks only at nodes that have the label. What the counts decide is in `pod_topology_spread`.
"""

from __future__ import annotations

from topospread.cluster.selections import Selection

from .domain_counts import DomainCounts
from .domain_membership import WITHOUT_KEY, Membership


class KeylessCounts(DomainCounts):
    """Counts of soft constraints that require no key; a domain still needs a node that has the label."""

    def __init__(self, pods: Selection, membership: Membership) -> None:
        super().__init__(pods, membership)
        member = membership.member
        self.beside = sum(
            count for row, count in pods.on_node.items() if row < len(member) and member.item(row) == WITHOUT_KEY
        )

    def add(self, row: int, delta: int) -> None:
        """Count a pod on a node."""
        member = self.membership.member
        if row < len(member) and member.item(row) == WITHOUT_KEY:
            self.beside += delta
        else:
            super().add(row, delta)

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        """Move the pods of a node to its new domain."""
        super().node_moved(membership, row, before, after)
        self.beside += self.pods.on_node.get(row, 0) * ((after == WITHOUT_KEY) - (before == WITHOUT_KEY))
