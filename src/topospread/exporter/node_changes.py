"""Collect node changes that affect pods on other nodes: labels, taints, and added or removed nodes.

Cordons, free resources and images affect only the node's own pods, because the exporter places no pods.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from topospread.api.node import Node
from topospread.cluster import Cluster


@dataclass(slots=True)
class NodeChanges:
    """Nodes that were added, removed, or changed in fields that affect other nodes' domains.

    Attributes:
        before: name → the node before the first change; None if it did not exist.
    """

    before: dict[str, Node | None] = field(default_factory=dict)

    def note(self, name: str, before: Node | None, after: Node | None) -> bool:
        """Record a node change. Return whether it can affect pods on other nodes."""
        matters = before is None or after is None or not _is_alike(before, after)
        if matters:
            self.before.setdefault(name, before)
        return matters

    @property
    def any(self) -> bool:
        """True if there are any changes."""
        return bool(self.before)

    def were(self) -> list[Node]:
        """Return the changed nodes as they were before."""
        return [each for each in self.before.values() if each is not None]

    def are(self, cluster: Cluster) -> list[int]:
        """Return the rows of the changed nodes that exist."""
        rows = cluster.nodes.row_of
        return [rows[name] for name in self.before if name in rows]

    def brings_or_takes_a_key(self, keys: Iterable[str], cluster: Cluster) -> bool:
        """Return whether one of the keys appeared on its first node or disappeared from its last."""
        nodes, were, are = cluster.nodes, self.were(), self.are(cluster)
        for key in keys:
            column = nodes.labels(key)
            now = len(nodes) - column.missing
            stayed = now - sum(bool(column.codes.item(row) >= 0) for row in are)
            before = stayed + sum(key in each.labels for each in were)
            if bool(now) != bool(before):
                return True
        return False


def _is_alike(before: Node, after: Node) -> bool:
    return before.labels == after.labels and (before.spec.taints or []) == (after.spec.taints or [])
