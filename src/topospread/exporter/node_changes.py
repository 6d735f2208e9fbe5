"""Changes of nodes that matter beyond their own pods: labels, taints, nodes added or removed.

Whether a node is open, has room or has images matters to pods on it alone: no pod is placed here. It asks nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from topospread.api.node import Node
from topospread.cluster import Cluster


@dataclass(slots=True)
class NodeChanges:
    """Nodes that came, went, or changed in what decides on the domains of others.

    Attributes:
        before: name → the node as it was at first, ``None`` where there was none.
    """

    before: dict[str, Node | None] = field(default_factory=dict)

    def note(self, name: str, before: Node | None, after: Node | None) -> bool:
        """A node changed; whether in anything that others than its own pods may rest on."""
        matters = before is None or after is None or not _is_alike(before, after)
        if matters:
            self.before.setdefault(name, before)
        return matters

    @property
    def any(self) -> bool:
        """True if there are any."""
        return bool(self.before)

    def were(self) -> list[Node]:
        """Return the changed nodes as they were before."""
        return [each for each in self.before.values() if each is not None]

    def are(self, cluster: Cluster) -> list[int]:
        """Rows of those that are there."""
        rows = cluster.nodes.row_of
        return [rows[name] for name in self.before if name in rows]

    def brings_or_takes_a_key(self, keys: Iterable[str], cluster: Cluster) -> bool:
        """Return whether one of some keys is on nodes now and was on none, or the other way round."""
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
