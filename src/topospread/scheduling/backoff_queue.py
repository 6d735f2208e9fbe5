"""Pods in backoff: its duration and the order in which pods leave.

The duration doubles with every rejected attempt, or with every error in a row. If pods may be popped early, backoff
ends on whole seconds, and pods of the same second are in the order of the active queue (KEP-5142). Source:
pkg/scheduler/backend/queue/backoff_queue.go.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import msgspec

from topospread.cluster.undo import UndoLog

from .keyed_heap import KeyedHeap
from .queued_pod_info import SECOND, QueuedPodInfo, queue_order, remember

NO_BACKOFF = -(1 << 62)
"""Expiration time of a pod without backoff."""


class BackoffSettings(msgspec.Struct, frozen=True):
    """The backoff durations of pods, in nanoseconds.

    Attributes:
        initial: duration after the first attempt (``podInitialBackoffSeconds``).
        maximum: longest duration (``podMaxBackoffSeconds``); 0 disables backoff.
        pops_early: whether pods are popped before their backoff ends if no pod is active (SchedulerPopFromBackoffQ).
    """

    initial: int = SECOND
    maximum: int = 10 * SECOND
    pops_early: bool = True


DEFAULT_BACKOFF = BackoffSettings()
"""kube-scheduler's defaults."""


class BackoffQueue:
    """Two heaps by the end of backoff: pods that plugins rejected, and pods whose attempt ended with an error."""

    def __init__(self, clock: Callable[[], int], settings: BackoffSettings, undo: UndoLog) -> None:
        self.settings = settings
        self._clock = clock
        self._undo = undo
        self._rejected: KeyedHeap[QueuedPodInfo] = KeyedHeap(self._order, undo)
        self._failed: KeyedHeap[QueuedPodInfo] = KeyedHeap(lambda info: (self.expiration(info),), undo)

    def __len__(self) -> int:
        return len(self._rejected) + len(self._failed)

    def __contains__(self, key: str) -> bool:
        return key in self._rejected or key in self._failed

    @property
    def rejected(self) -> int:
        """Number of pods that can be popped early."""
        return len(self._rejected)

    @property
    def infos(self) -> list[QueuedPodInfo]:
        """All pods."""
        return self._rejected.items + self._failed.items

    def get(self, key: str) -> QueuedPodInfo | None:
        """Return the pod of a key."""
        return self._rejected.get(key) or self._failed.get(key)

    def add(self, info: QueuedPodInfo) -> None:
        """Add a pod to the heap of rejected pods if a plugin rejected it, else to the heap of errors."""
        (self._rejected if info.rejectors else self._failed).put(info.key, info)

    def changed(self, info: QueuedPodInfo) -> None:
        """Update the position of a pod whose object was replaced."""
        (self._rejected if info.key in self._rejected else self._failed).put(info.key, info)

    def delete(self, key: str) -> QueuedPodInfo | None:
        """Remove and return the pod of a key."""
        return self._rejected.delete(key) or self._failed.delete(key)

    def pop(self) -> QueuedPodInfo | None:
        """Remove and return the rejected pod whose backoff ends first, even before its end.

        Pods whose attempt ended with an error are not popped early.
        """
        return self._rejected.pop()

    def peek(self) -> QueuedPodInfo | None:
        """Return the pod that `pop` would return."""
        return self._rejected.peek()

    def drain(self) -> list[QueuedPodInfo]:
        """Remove and return all pods that can be popped early, in the order of `pop`.

        Return an empty list and remove nothing if some pods have equal sort keys.
        """
        return self._rejected.drain()

    def comes_before(self, info: QueuedPodInfo) -> bool:
        """Return whether `pop` would return a pod of this queue before ``info``, which is not in the queue."""
        first = self.peek()
        return first is not None and self._order(first) < self._order(info)

    def pop_completed(self) -> list[QueuedPodInfo]:
        """Remove and return all pods whose backoff is over."""
        completed = []
        for heap in (self._rejected, self._failed):
            while (first := heap.peek()) is not None and not self.is_backing_off(first):
                heap.pop()
                completed.append(first)
        return completed

    def is_backing_off(self, info: QueuedPodInfo) -> bool:
        """Return whether the pod's backoff is not over. It includes the second in which it expires, if aligned."""
        return self.expiration(info) >= self._aligned(self._clock())

    def expiration(self, info: QueuedPodInfo) -> int:
        """Return when the pod's backoff ends (``getBackoffTime``)."""
        count = info.errors or info.unschedulable_count
        if self.settings.maximum == 0 or count == 0:
            return NO_BACKOFF
        if info.backoff_expiration is None:
            remember(info, self._undo)
            info.backoff_expiration = self._aligned(info.timestamp + self.duration(count, len(info.members)))
        return info.backoff_expiration

    def duration(self, count: int, members: int = 0) -> int:
        """Return nanoseconds of backoff after ``count`` attempts (``calculateBackoffDuration``).

        ``members``: number of pods of a pod group; 0 for a single pod.
        """
        maximum = self.settings.maximum
        if members > 1:
            maximum = int(maximum * sqrt(members))
        return min(self.settings.initial << (count - 1), maximum)

    def _order(self, info: QueuedPodInfo) -> tuple[int, ...]:
        expiration = self.expiration(info)
        return (expiration, *queue_order(info)) if self.settings.pops_early else (expiration,)

    def _aligned(self, time: int) -> int:
        return time - time % SECOND if self.settings.pops_early else time
