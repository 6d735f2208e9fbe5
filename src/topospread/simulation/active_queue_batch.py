"""The order of many waiting pods: sorted once, not popped from a heap one by one."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import QueuedPodInfo, queue_order

Rank = tuple[int, ...]
"""The place of a pod that is to be tried: active ones are (1, −priority, time), and after them all come those that back
off, (2, end of the wait, −priority, time)."""

_MANY = 32
"""Fewer are left in the queue."""


class ActiveQueueBatch:
    """Pods that were taken out of a queue in the order in which it would give them, as long as none comes before them.

    Nobody looks for pods in the queue while there are any here: all are tried before anything else happens.
    """

    def __init__(self, queue: SchedulingQueue) -> None:
        self._queue = queue
        self._due: list[QueuedPodInfo] = []
        self._backed_off = False

    def __len__(self) -> int:
        return len(self._due)

    def pop(self) -> QueuedPodInfo | None:
        """The pod to try next, now in flight; ``None`` where there is none to be tried yet."""
        if not self._due or self._is_overtaken(self._due[-1]):
            return self._queue.pop()
        info = self._due.pop()
        self._queue.fly(info)
        return info

    def following(self) -> Iterator[QueuedPodInfo]:
        """Pods in their turns, of which each has to be dropped before the next; none where they are few."""
        if not self._due:
            queue = self._queue
            self._backed_off = not len(queue.active)
            if not self._backed_off and len(queue.active) >= _MANY:
                self._due = queue.active.drain()[::-1]
            elif self._backed_off and queue.backoff.settings.pops_early and queue.backoff.rejected >= _MANY:
                self._due = queue.backoff.drain()[::-1]
        if self._due and not self._is_overtaken(self._due[-1]):
            while self._due:
                yield self._due[-1]

    def drop(self, info: QueuedPodInfo) -> None:
        """It had its turn."""
        assert self._due.pop() is info, "it was the next one"

    def first(self) -> Rank | None:
        """The rank of the pod to try next; ``None`` where there is none."""
        found = [self._rank(self._due[-1], backs_off=self._backed_off)] if self._due else []
        active, waiting = self._queue.active.peek(), self._queue.backoff.peek()
        if active is not None:
            found.append(self._rank(active, backs_off=False))
        if waiting is not None:
            found.append(self._rank(waiting, backs_off=True))
        return min(found, default=None)

    def _rank(self, info: QueuedPodInfo, *, backs_off: bool) -> Rank:
        return (2, self._queue.backoff.expiration(info), *queue_order(info)) if backs_off else (1, *queue_order(info))

    def _is_overtaken(self, info: QueuedPodInfo) -> bool:
        """Return whether a pod that came meanwhile is tried first."""
        first = self._queue.active.peek()
        if first is not None:
            return self._backed_off or queue_order(first) < queue_order(info)
        return self._backed_off and self._queue.backoff.comes_before(info)
