"""The order of the pods on a node, as in kube-scheduler's list of them. Preemption depends on it.

Source: pkg/scheduler/framework/types.go, AddPodInfo and removeFromSlice; backend/cache/cache.go, updatePod.
"""

from __future__ import annotations

from itertools import islice

from .pod_class import PodClass


class PodOrder:
    """The order of a node's pods. A new pod is appended, the last pod replaces a removed pod; an update does both.

    ``on_node[row]`` has the pods in insertion order, so adding a pod needs no extra work. ``_moved[row]`` exists once a
    pod other than the last was removed: it lists the first pods in kube-scheduler's order. Pods that were added later
    follow it in insertion order.
    """

    __slots__ = ("_moved", "_on_node")

    def __init__(self, on_node: list[dict[str, PodClass]]) -> None:
        """Share ``on_node`` (row → pod key → class) with the cluster."""
        self._on_node = on_node
        self._moved: dict[int, list[str]] = {}

    def on(self, row: int) -> list[str]:
        """Return the keys of a node's pods, in order."""
        pods = self._on_node[row]
        moved = self._moved.get(row)
        return list(pods) if moved is None else [*moved, *islice(pods, len(moved), None)]

    def is_last(self, row: int, key: str) -> bool:
        """Return whether a pod is the last of its node."""
        pods = self._on_node[row]
        moved = self._moved.get(row)
        return (moved[-1] if moved is not None and len(moved) == len(pods) else next(reversed(pods))) == key

    def goes(self, row: int, key: str) -> None:
        """Update the order before a pod is removed from its node."""
        pods = self._on_node[row]
        moved = self._moved.get(row)
        newer = len(pods) if moved is None else len(pods) - len(moved)
        if newer and next(reversed(pods)) == key:
            return
        if moved is None:
            moved = self._moved[row] = list(pods)
        elif newer:
            moved += reversed([*islice(reversed(pods), newer)])
        last = moved.pop()
        if last != key:
            moved[moved.index(key)] = last
        elif not moved:
            del self._moved[row]

    def moved(self, row: int) -> list[str] | None:
        """Return the order to pass to `put_back` later."""
        moved = self._moved.get(row)
        return None if moved is None else list(moved)

    def put_back(self, row: int, moved: list[str] | None) -> None:
        """Restore the order that `moved` returned; the pods are restored too."""
        if moved is None:
            self._moved.pop(row, None)
        else:
            self._moved[row] = moved
