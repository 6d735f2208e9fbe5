"""The latest time that any object tells of: what "now" is for a controller, kept up to date object by object."""

from __future__ import annotations

from collections.abc import Hashable
from heapq import heapify, heappop, heappush

_SLACK = 1024
"""So many outdated entries, beside as many as there are objects, are kept before they are sorted out."""


class LatestTime:
    """The highest of the times that objects have now."""

    def __init__(self) -> None:
        self._of: dict[Hashable, float] = {}
        self._heap: list[tuple[float, Hashable]] = []

    def put(self, key: Hashable, seconds: float | None) -> None:
        """An object tells of a time now, or of none."""
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
        """It, in seconds since 1970; ``None`` where no object tells of any."""
        heap = self._heap
        while heap and self._of.get(heap[0][1]) != -heap[0][0]:
            heappop(heap)
        return -heap[0][0] if heap else None
