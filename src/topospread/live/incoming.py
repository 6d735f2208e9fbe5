"""Counts which pods come into which part of the queue, and by what (``queue_incoming_pods_total``). Moves none."""

from __future__ import annotations

from topospread.scheduling.queue import SchedulingQueue

from .observer import Observer

_PARTS = ("active", "backoff", "unschedulable")


class Incoming:
    """Compares how long the parts of the queue are before and after something happens."""

    def __init__(self, queue: SchedulingQueue, observer: Observer) -> None:
        self._queue = queue
        self._observer = observer

    def now(self) -> tuple[int, int, int]:
        """Return the lengths."""
        queue = self._queue
        return len(queue.active), len(queue.backoff), len(queue.unschedulable)

    def tell(self, before: tuple[int, int, int], event: str) -> None:
        """Tell what came in since; ``event``: what happened, as kube-scheduler's metric calls it."""
        after = self.now()
        if after == before:
            return
        for part, earlier, later in zip(_PARTS, before, after, strict=True):
            if later > earlier:
                self._observer.incoming(part, event, later - earlier)
