"""Pods that wait before they are tried again: for how long, and in which order they come out. It tries none.

Source: pkg/scheduler/backend/queue/backoff_queue.go. The wait doubles with every attempt that ended in a rejection, or
with every error in a row; where pods may be popped before it is over, waits end on whole seconds, and within one second
pods stand in the order of active ones (KEP-5142).
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import msgspec

from topospread.cluster.undo import UndoLog

from .keyed_heap import KeyedHeap
from .queued_pod_info import SECOND, QueuedPodInfo, queue_order, remember

NO_BACKOFF = -(1 << 62)
"""When the wait is over of a pod that need not wait."""


class BackoffSettings(msgspec.Struct, frozen=True):
    """The backoff durations of pods, in nanoseconds.

    Attributes:
        initial: after the first attempt (``podInitialBackoffSeconds``).
        maximum: at most (``podMaxBackoffSeconds``); 0 switches waiting off.
        pops_early: pods are popped before their time where nothing else is to be done (SchedulerPopFromBackoffQ).
    """

    initial: int = SECOND
    maximum: int = 10 * SECOND
    pops_early: bool = True


DEFAULT_BACKOFF = BackoffSettings()
"""kube-scheduler's without a configuration."""


class BackoffQueue:
    """Two heaps by the end of the wait: pods that plugins rejected, and pods that failed by an error."""

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
        """Number of pods that could be popped before their time."""
        return len(self._rejected)

    @property
    def infos(self) -> list[QueuedPodInfo]:
        """All of them."""
        return self._rejected.items + self._failed.items

    def get(self, key: str) -> QueuedPodInfo | None:
        """The pod of that key."""
        return self._rejected.get(key) or self._failed.get(key)

    def add(self, info: QueuedPodInfo) -> None:
        """A pod that no plugin rejected failed by an error."""
        (self._rejected if info.rejectors else self._failed).put(info.key, info)

    def changed(self, info: QueuedPodInfo) -> None:
        """The pod of one that is in here was replaced."""
        (self._rejected if info.key in self._rejected else self._failed).put(info.key, info)

    def delete(self, key: str) -> QueuedPodInfo | None:
        """Take out the pod of that key."""
        return self._rejected.delete(key) or self._failed.delete(key)

    def pop(self) -> QueuedPodInfo | None:
        """The rejected pod whose wait ends first, whether it is over or not; failed ones wait to the end."""
        return self._rejected.pop()

    def peek(self) -> QueuedPodInfo | None:
        """The pod that `pop` would give."""
        return self._rejected.peek()

    def drain(self) -> list[QueuedPodInfo]:
        """Take all out that could be popped before their time, in that order; none where that is not certain."""
        return self._rejected.drain()

    def comes_before(self, info: QueuedPodInfo) -> bool:
        """Return whether a pod in here would be popped before one that was taken out."""
        first = self.peek()
        return first is not None and self._order(first) < self._order(info)

    def pop_completed(self) -> list[QueuedPodInfo]:
        """Take out all whose wait is over."""
        completed = []
        for heap in (self._rejected, self._failed):
            while (first := heap.peek()) is not None and not self.is_backing_off(first):
                heap.pop()
                completed.append(first)
        return completed

    def is_backing_off(self, info: QueuedPodInfo) -> bool:
        """Return whether the pod has to wait still; in the second in which the wait ends, it has."""
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
        """Return the backoff after a number of attempts (``calculateBackoffDuration``); ``members``: of a pod group."""
        maximum = self.settings.maximum
        if members > 1:
            maximum = int(maximum * sqrt(members))
        return min(self.settings.initial << (count - 1), maximum)

    def _order(self, info: QueuedPodInfo) -> tuple[int, ...]:
        expiration = self.expiration(info)
        return (expiration, *queue_order(info)) if self.settings.pops_early else (expiration,)

    def _aligned(self, time: int) -> int:
        return time - time % SECOND if self.settings.pops_early else time
