"""Timed actions of a drill."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Action = Callable[[], None]


class EventSchedule:
    """A queue of actions by time. Actions at the same time run in the order they were added."""

    def __init__(self) -> None:
        self._entries: list[tuple[float, int, Action]] = []
        self._numbers = 0

    def __bool__(self) -> bool:
        return bool(self._entries)

    def add(self, time: float, action: Action) -> None:
        """Schedule an action."""
        self._numbers += 1
        heapq.heappush(self._entries, (time, self._numbers, action))

    @property
    def following(self) -> float | None:
        """Return the time of the next action; None without an action."""
        return self._entries[0][0] if self._entries else None

    def do_what_is_due(self, now: float) -> None:
        """Run all actions due at `now`, including those that these actions add."""
        while self._entries and self._entries[0][0] <= now:
            heapq.heappop(self._entries)[2]()
