"""Pods whose ``spec.nodeName`` names a node that is not known yet. They are placed when the node is added."""

from __future__ import annotations

from .pod_class import PodClass
from .undo import UndoLog

Found = tuple[PodClass, str]
"""The class of a pod, and its ``status.startTime``."""


class PodsOnMissingNodes:
    """Pods by the name of their missing node. The last pod takes the position of a removed pod, as in `PodOrder`."""

    def __init__(self, undo: UndoLog) -> None:
        self._undo = undo
        self._by_node: dict[str, dict[str, Found]] = {}
        self._node_of: dict[str, str] = {}

    def __contains__(self, key: str) -> bool:
        return key in self._node_of

    def find(self, key: str) -> tuple[str, Found] | None:
        """Return a pod's missing node, class and start time; ``None`` for a pod that is not stored here."""
        node = self._node_of.get(key)
        return None if node is None else (node, self._by_node[node][key])

    def put(self, key: str, pod_class: PodClass, started: str, node: str) -> None:
        """Add a pod as the last of its node."""
        self._note(node)
        self._by_node.setdefault(node, {})[key] = (pod_class, started)
        self._node_of[key] = node

    def delete(self, key: str) -> None:
        """Remove a pod."""
        node = self._node_of[key]
        self._note(node)
        del self._node_of[key]
        pods = self._by_node[node]
        last, found = pods.popitem()
        if last != key:
            self._by_node[node] = {last if each == key else each: pods[each] for each in pods} | {last: found}
        elif not pods:
            del self._by_node[node]

    def take_all(self, node: str) -> dict[str, Found]:
        """Remove and return all pods of a node that was added."""
        self._note(node)
        pods = self._by_node.pop(node, {})
        for key in pods:
            del self._node_of[key]
        return pods

    def _note(self, node: str) -> None:
        """Record the pods of a node for undo."""
        if self._undo.steps is not None:
            self._undo.record(self._put_back, node, dict(self._by_node.get(node, {})))

    def _put_back(self, node: str, before: dict[str, Found]) -> None:
        for key in self._by_node.pop(node, {}):
            del self._node_of[key]
        if before:
            self._by_node[node] = before
            self._node_of.update(dict.fromkeys(before, node))
