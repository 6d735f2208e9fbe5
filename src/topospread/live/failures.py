"""The handling of a pod that found no node: back to the queue, a condition, an event.

Source: pkg/scheduler/schedule_one.go (``handleSchedulingFailure``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import QueuedPodInfo

from .events import Events, failed_scheduling
from .incoming import Incoming
from .pods import Pods
from .statuses import Condition, Statuses

Reason = Literal["Unschedulable", "SchedulerError"]


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a pod was not bound.

    Attributes:
        message: message of the condition; the event has a shortened copy.
        rejectors: plugins that rejected it; empty for an error.
        nominated: new nominated node; "" to clear it, None to keep the current one.
        event: reason of the event. ``NotJudged`` if topospread does not model a part of the pod.
    """

    reason: Reason
    message: str
    rejectors: Iterable[str] = ()
    nominated: str | None = ""
    event: Literal["FailedScheduling", "NotJudged"] = "FailedScheduling"


class Failures:
    """Handles pods that were not placed."""

    def __init__(
        self, queue: SchedulingQueue, pods: Pods, statuses: Statuses, events: Events, incoming: Incoming
    ) -> None:
        self._queue = queue
        self._incoming = incoming
        self._pods = pods
        self._statuses = statuses
        self._events = events

    def put_back(self, info: QueuedPodInfo, rejectors: Iterable[str] = ()) -> bool:
        """Put the pod's current state back into the queue. Return False if it is deleted or has a node."""
        pod = self._pods.waiting.get(info.key)
        if pod is None or (pod.metadata.uid or info.key) != info.uid:
            self._queue.done(info.uid)
            return False
        info.pod, info.kind = pod, self._pods.kind_of(pod)
        before = self._incoming.now()
        self._queue.add_unschedulable(info, rejectors)
        self._incoming.tell(before, "ScheduleAttemptFailure")
        return True

    def handle(self, info: QueuedPodInfo, failure: Failure) -> None:
        """Put a pod back into the queue, and write its condition and event."""
        if not self.put_back(info, failure.rejectors):
            return
        self._pods.promise(info.key, failure.nominated)
        pod = self._pods.waiting[info.key]
        self._events.record(failed_scheduling(pod, failure.message, failure.event))
        condition = Condition("PodScheduled", "False", failure.reason, failure.message)
        self._statuses.want(pod, condition, failure.nominated)
