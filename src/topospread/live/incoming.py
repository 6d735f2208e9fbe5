"""Count the pods that enter each part of the queue, by event (``queue_incoming_pods_total``)."""

from __future__ import annotations

from topospread.scheduling.queue import SchedulingQueue

from .observer import Observer


class Incoming:
    """Compares the lengths of the queue's parts before and after an event."""

    def __init__(self, queue: SchedulingQueue, observer: Observer) -> None:
        self._queue = queue
        self._observer = observer

    def now(self) -> tuple[int, int, int]:
        """Return the numbers of active, backoff and unschedulable pods."""
        queue = self._queue
        return len(queue.active), len(queue.backoff), len(queue.unschedulable)

    def tell(self, before: tuple[int, int, int], event: str) -> None:
        """Report to the observer how many pods each part of the queue gained since `before`, a result of `now`.

        ``event`` is the cause's name in kube-scheduler's metric.
        """
        after = self.now()
        if after == before:
            return
        for part, earlier, later in zip(("active", "backoff", "unschedulable"), before, after, strict=True):
            if later > earlier:
                self._observer.incoming(part, event, later - earlier)
