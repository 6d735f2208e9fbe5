"""The latest time in any object, updated incrementally. Controllers use it as the current time."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush

_SLACK = 1024
"""Outdated entries are removed once they outnumber the objects by this number."""


class LatestTime:
    """The maximum of all objects' current times."""

    def __init__(self) -> None:
        self._of: dict[Hashable, float] = {}
        self._heap: list[tuple[float, Hashable]] = []

    def put(self, key: Hashable, seconds: float | None) -> None:
        """Set or remove an object's time."""
        if self._of.get(key) == seconds:
            return
        if seconds is None:
            self._of.pop(key, None)
            return
        self._of[key] = seconds
        heappush(self._heap, (-seconds, key))
        if len(self._heap) > 2 * len(self._of) + _SLACK:
            self._heap = [(-each, key) for key, each in self._of.items()]
            heapify(self._heap)

    @property
    def seconds(self) -> float | None:
        """Return the maximum in Unix seconds; None without any time."""
        heap = self._heap
        while heap and self._of.get(heap[0][1]) != -heap[0][0]:
            heappop(heap)
        return -heap[0][0] if heap else None
