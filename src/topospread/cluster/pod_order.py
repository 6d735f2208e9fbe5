"""In which order a node has its pods: as kube-scheduler's list of them has it. What they are is not its matter.

Source: pkg/scheduler/framework/types.go, AddPodInfo and removeFromSlice; backend/cache/cache.go, updatePod.
"""

from __future__ import annotations

from itertools import islice

from .pod_class import PodClass


class PodOrder:
    """The order of a node's pods: a new pod is appended, a removed one is replaced by the last, an update does both.

    Pods are kept as they came, so that to come costs nothing here. Once one went that was not the last, the order of
    those that were there then is kept beside them.
    """

    __slots__ = ("_moved", "_on_node")

    def __init__(self, on_node: list[dict[str, PodClass]]) -> None:
        """``on_node``: row → pod key → class, the cluster's own."""
        self._on_node = on_node
        self._moved: dict[int, list[str]] = {}

    def on(self, row: int) -> list[str]:
        """The keys of a node's pods."""
        pods = self._on_node[row]
        moved = self._moved.get(row)
        return list(pods) if moved is None else [*moved, *islice(pods, len(moved), None)]

    def is_last(self, row: int, key: str) -> bool:
        """Return whether a pod of a node stands last."""
        pods = self._on_node[row]
        moved = self._moved.get(row)
        return (moved[-1] if moved is not None and len(moved) == len(pods) else next(reversed(pods))) == key

    def goes(self, row: int, key: str) -> None:
        """A pod is about to be taken off its node."""
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
        """Return the argument for `put_back`."""
        moved = self._moved.get(row)
        return None if moved is None else list(moved)

    def put_back(self, row: int, moved: list[str] | None) -> None:
        """The order is again what it was when `moved` said so, as are the pods."""
        if moved is None:
            self._moved.pop(row, None)
        else:
            self._moved[row] = moved
