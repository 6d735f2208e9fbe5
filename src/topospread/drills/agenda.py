"""The events due at later times of a drill."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Action = Callable[[], None]


class Agenda:
    """Actions by time; those of one time in the order in which they were put down."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Action]] = []
        self._numbers = 0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, time: float, action: Action) -> None:
        """Let something happen then."""
        self._numbers += 1
        heapq.heappush(self._entries, (time, self._numbers, action))

    @property
    def following(self) -> float | None:
        """Time of the next event; ``None`` if there is none."""
        return self._entries[0][0] if self._entries else None

    def do_what_is_due(self, now: float) -> None:
        """Do what is to happen by then, what that puts down for then included."""
        while self._entries and self._entries[0][0] <= now:
            heapq.heappop(self._entries)[2]()
