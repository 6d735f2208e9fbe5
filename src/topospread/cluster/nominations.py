"""Nodes that preemption nominated for pending pods. A nomination survives if its node is deleted and recreated.

Source: pkg/scheduler/backend/queue/nominator.go.
"""

from __future__ import annotations

from .journal import ELSEWHERE, Journal
from .pod_class import PodClass
from .undo import UndoLog


class Nominations:
    """The nominated pods by node.

    Attributes:
        by_row: row → pod key → class of the pods that are nominated for an existing node.
    """

    def __init__(self, row_of: dict[str, int], journal: Journal, undo: UndoLog) -> None:
        """Share ``row_of`` (node name → row) with the node table."""
        self._row_of = row_of
        self._journal = journal
        self._undo = undo
        self.by_row: dict[int, dict[str, PodClass]] = {}
        self._by_node: dict[str, dict[str, PodClass]] = {}
        self._node_of: dict[str, str] = {}

    def add(self, key: str, pod_class: PodClass, node: str) -> None:
        """Nominate a node for a pending pod; replace the pod's earlier nomination."""
        if self._node_of.get(key) == node and self._by_node[node][key] is pod_class:
            return
        self.remove(key)
        self._put(key, pod_class, node)
        self._undo.record(self._take, key)

    def node_of(self, key: str) -> str:
        """Return the nominated node of a pod; "" without one."""
        return self._node_of.get(key, "")

    def remove(self, key: str) -> None:
        """Clear a pod's nomination after the pod is bound or deleted."""
        node = self._node_of.get(key)
        if node is not None:
            self._undo.record(self._put, key, self._by_node[node][key], node)
            self._take(key)

    def node_came(self, name: str) -> None:
        """Store the nominations for this node name under the row of the added node."""
        nominated = self._by_node.get(name)
        if nominated:
            self.by_row[self._row_of[name]] = nominated

    def node_goes(self, row: int) -> None:
        """Keep the nominations of a removed node by its name only."""
        self.by_row.pop(row, None)

    def _put(self, key: str, pod_class: PodClass, node: str) -> None:
        self._by_node.setdefault(node, {})[key] = pod_class
        self._node_of[key] = node
        if node in self._row_of:
            self.node_came(node)
        self._journal.append(ELSEWHERE)

    def _take(self, key: str) -> None:
        node = self._node_of.pop(key)
        nominated = self._by_node[node]
        del nominated[key]
        if not nominated:
            del self._by_node[node]
            row = self._row_of.get(node)
            if row is not None:
                self.by_row.pop(row, None)
        self._journal.append(ELSEWHERE)
