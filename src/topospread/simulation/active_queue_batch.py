"""The next pods of a long scheduling queue, sorted once instead of popped from a heap one by one."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import QueuedPodInfo, queue_order

Rank = tuple[int, ...]
"""Sort key of a pod: (1, −priority, time) if it is active, (2, end of backoff, −priority, time) if it is in
backoff.
"""

_MANY = 32
"""Queues with fewer pods are popped one by one."""


class ActiveQueueBatch:
    """Pods taken out of a queue in queue order. A pod that is added to the queue later and precedes them comes first.

    While the batch has pods, callers must pop pods from the batch, not from the queue.
    """

    def __init__(self, queue: SchedulingQueue) -> None:
        self._queue = queue
        self._due: list[QueuedPodInfo] = []
        self._backed_off = False

    def __len__(self) -> int:
        return len(self._due)

    def pop(self) -> QueuedPodInfo | None:
        """Return the next pod, now in flight; ``None`` if no pod is ready."""
        if not self._due or self._is_overtaken(self._due[-1]):
            return self._queue.pop()
        info = self._due.pop()
        self._queue.fly(info)
        return info

    def following(self) -> Iterator[QueuedPodInfo]:
        """Yield the next pods in order. The caller must `drop` each pod before the next iteration.

        Yield nothing if the queue is short, or if a pod that was added later comes first.
        """
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
        """Remove the pod that `following` yielded."""
        assert self._due.pop() is info, "the pod is the next one"

    def first(self) -> Rank | None:
        """Return the rank of the next pod, in the batch or in the queue; ``None`` without a pod."""
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
        """Return whether a pod that was added to the queue precedes this pod."""
        first = self._queue.active.peek()
        if first is not None:
            return self._backed_off or queue_order(first) < queue_order(info)
        return self._backed_off and self._queue.backoff.comes_before(info)
