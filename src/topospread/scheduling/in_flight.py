"""Pods in flight, and the events since each was popped.

Source: pkg/scheduler/backend/queue/active_queue.go (``inFlightPods``, ``inFlightEvents``).
"""

from __future__ import annotations

from topospread.cluster.undo import UndoLog

from .requeueing import EventWithObjects


class InFlight:
    """UIDs of in-flight pods in pop order, and the events since the first of them was popped."""

    __slots__ = ("_events", "_forgotten", "_started", "_undo")

    def __init__(self, undo: UndoLog) -> None:
        self._undo = undo
        self._started: dict[str, int] = {}
        self._events: list[EventWithObjects] = []
        self._forgotten = 0

    def __len__(self) -> int:
        return len(self._started)

    def __contains__(self, uid: str) -> bool:
        return uid in self._started

    @property
    def uids(self) -> tuple[str, ...]:
        """UIDs of the pods in flight, first popped first."""
        return tuple(self._started)

    @property
    def events(self) -> tuple[EventWithObjects, ...]:
        """Events since the first pod in flight was popped."""
        return tuple(self._events)

    def start(self, uid: str) -> None:
        """Add a popped pod."""
        self._started[uid] = self._forgotten + len(self._events)
        if self._undo.steps is not None:
            self._undo.record(self._not_started, uid)

    def end(self, uid: str) -> None:
        """Remove a pod, and drop the events that no other pod in flight needs."""
        if uid not in self._started:
            return
        before = dict(self._started) if self._undo.steps is not None else self._started
        del self._started[uid]
        first = next(iter(self._started.values()), self._forgotten + len(self._events))
        forgotten = self._events[: first - self._forgotten]
        del self._events[: len(forgotten)]
        self._forgotten = first
        self._undo.record(self._remember, before, forgotten)

    def happened(self, event: EventWithObjects) -> None:
        """Record an event for pods in flight. Ignore it if no pod is in flight."""
        if self._started:
            self._events.append(event)
            if self._undo.steps is not None:
                self._undo.record(self._events.pop)

    def since(self, uid: str) -> list[EventWithObjects] | None:
        """Return the events since a pod was popped; ``None`` if it is not in flight."""
        start = self._started.get(uid)
        return None if start is None else self._events[start - self._forgotten :]

    def _not_started(self, uid: str) -> None:
        del self._started[uid]

    def _remember(self, started: dict[str, int], forgotten: list[EventWithObjects]) -> None:
        self._started = started
        self._events[:0] = forgotten
        self._forgotten -= len(forgotten)
