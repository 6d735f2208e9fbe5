"""Nodes that preemption has promised to pending pods, by name: a node that goes and comes again is still promised.

Source: pkg/scheduler/backend/queue/nominator.go.
"""

from __future__ import annotations

from .journal import ELSEWHERE, Journal
from .pod_class import PodClass
from .undo import UndoLog


class Nominations:
    """Pods by the node that they are nominated for.

    Attributes:
        by_row: row → pod key → class of the pods that a node which is there is promised to.
    """

    def __init__(self, row_of: dict[str, int], journal: Journal, undo: UndoLog) -> None:
        """``row_of``: the node table's own, name → row."""
        self._row_of = row_of
        self._journal = journal
        self._undo = undo
        self.by_row: dict[int, dict[str, PodClass]] = {}
        self._by_node: dict[str, dict[str, PodClass]] = {}
        self._node_of: dict[str, str] = {}

    def add(self, key: str, pod_class: PodClass, node: str) -> None:
        """Promise a node to a pending pod, in place of another."""
        if self._node_of.get(key) == node and self._by_node[node][key] is pod_class:
            return
        self.remove(key)
        self._put(key, pod_class, node)
        self._undo.record(self._take, key)

    def node_of(self, key: str) -> str:
        """The node that a pod is promised, "" for none."""
        return self._node_of.get(key, "")

    def remove(self, key: str) -> None:
        """Take a promise back: the pod was placed, or is gone."""
        node = self._node_of.get(key)
        if node is not None:
            self._undo.record(self._put, key, self._by_node[node][key], node)
            self._take(key)

    def node_came(self, name: str) -> None:
        """Move the nominations for this node name to the node's row."""
        promised = self._by_node.get(name)
        if promised:
            self.by_row[self._row_of[name]] = promised

    def node_goes(self, row: int) -> None:
        """Keep the nominations for a removed node until a node of its name comes."""
        self.by_row.pop(row, None)

    def _put(self, key: str, pod_class: PodClass, node: str) -> None:
        promised = self._by_node.setdefault(node, {})
        promised[key] = pod_class
        self._node_of[key] = node
        if node in self._row_of:
            self.node_came(node)
        self._journal.append(ELSEWHERE)

    def _take(self, key: str) -> None:
        node = self._node_of.pop(key)
        promised = self._by_node[node]
        del promised[key]
        if not promised:
            del self._by_node[node]
            row = self._row_of.get(node)
            if row is not None:
                self.by_row.pop(row, None)
        self._journal.append(ELSEWHERE)
