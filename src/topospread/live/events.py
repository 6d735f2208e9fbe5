"""Write Kubernetes events like client-go's recorder: ``Scheduled``, ``FailedScheduling``, ``Preempted``.

Events wait in a bounded queue. Events that do not fit, or fail several times, are dropped. A repeated event for the
same state of an object becomes a series. Source: client-go/tools/events (event_recorder.go, event_broadcaster.go),
pkg/scheduler/schedule_one.go.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from topospread.api.pod import Pod

from .api_error import ApiError, ApiUnreachable
from .client import ApiClient
from .observer import Observer
from .write_order import NotLeading, Write, WriteOrder

NOTE_LENGTH_LIMIT = 1024
"""Maximum length of a note in bytes (pkg/apis/core/validation/events.go)."""
LONGEST_NAME = 253
"""Maximum length of a DNS subdomain."""
_LONGEST_QUEUE = 10_000
SERIES_KEPT = 4096
_SERIES_ENDS = 6 * 60
"""Seconds without a repetition that end a series."""
_TRIES = 12
_BETWEEN = 10.0
_WRITERS = 4
_TOGETHER = 16
"""Maximum number of new events sent together."""
_GATHERING = 0.02
"""Pause in seconds in which events can gather. Sending many together takes less than half the CPU time."""

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PodEvent:
    """An event about a pod.

    No event has a related object: since 1.37 client-go cannot create a reference to kube-scheduler's preemptor
    (preemption/executor.go: ``podExecutorPreemptor.Obj``).
    """

    pod: Pod
    type: str
    reason: str
    action: str
    note: str


def scheduled(pod: Pod, node: str) -> PodEvent:
    """Return the event of a bound pod (``finishBinding``)."""
    return PodEvent(
        pod, "Normal", "Scheduled", "Binding", f"Successfully assigned {pod.namespace}/{pod.name} to {node}"
    )


def failed_scheduling(pod: Pod, message: str, reason: str = "FailedScheduling") -> PodEvent:
    """Return the event of a pod that found no node, was not judged, or failed (``handleSchedulingFailure``)."""
    return PodEvent(pod, "Warning", reason, "Scheduling", truncated(message))


def skipped(pod: Pod) -> PodEvent:
    """Return the event of a pod that is being deleted (``skipPodSchedule``)."""
    return failed_scheduling(pod, f"skip schedule deleting pod: {pod.namespace}/{pod.name}")


def preempted(victim: Pod, preemptor: Pod, node: str, *, in_memory: bool) -> PodEvent:
    """Return the event of a preempted pod (preemption/executor.go)."""
    note = f"Preempted by pod {preemptor.metadata.uid} on node {node}"
    note += " (in kube-scheduler memory)." if in_memory else ""
    return PodEvent(victim, "Normal", "Preempted", "Preempting", note)


def truncated(message: str) -> str:
    """Return a message cut to the maximum length of a note in bytes (``truncateMessage``)."""
    data = message.encode()
    if len(data) <= NOTE_LENGTH_LIMIT:
        return message
    return data[: NOTE_LENGTH_LIMIT - 4].decode(errors="ignore") + " ..."


def reference(pod: Pod) -> Json:
    """Return the reference to a pod in an event (client-go/tools/reference)."""
    metadata = pod.metadata
    named = {"kind": "Pod", "namespace": pod.namespace, "name": pod.name, "uid": metadata.uid, "apiVersion": "v1"}
    return named | ({"resourceVersion": metadata.resource_version} if metadata.resource_version else {})


@dataclass(slots=True)
class _Series:
    """A written event, and its number of repetitions."""

    body: Json
    count: int
    seen: float
    told: int = 1


class Events:
    """Writes events with the lowest priority of all writes.

    Args:
        host: host of this process, part of the reporting instance.
        now: seconds since 1970.
    """

    def __init__(
        self, client: ApiClient, order: WriteOrder, host: str, now: Callable[[], float], observer: Observer
    ) -> None:
        self._client = client
        self._order = order
        self._host = host
        self._now = now
        self._observer = observer
        self._queue: deque[tuple[Json, bool]] = deque()
        self._series: OrderedDict[tuple[object, ...], _Series] = OrderedDict()
        self._some = asyncio.Event()
        self._taking = asyncio.Lock()
        self._writing = 0

    def record(self, event: PodEvent) -> None:
        """Queue an event, or count it if it repeats an event for the same state of the object."""
        now = self._now()
        controller = event.pod.spec.scheduler_name or "default-scheduler"
        regarding = reference(event.pod)
        key = (event.type, event.action, event.reason, controller, *regarding.values())
        series = self._series.get(key)
        if series is not None and now - series.seen < _SERIES_ENDS:
            series.count += 1
            series.seen = now
            if series.count == 2:
                self._put(series.body | {"series": _told(series)}, again=True)
                series.told = 2
            return
        body = {
            "apiVersion": "events.k8s.io/v1",
            "kind": "Event",
            "metadata": {"name": _name(event.pod.name, now), "namespace": event.pod.namespace},
            "eventTime": _micro(now),
            "reportingController": controller,
            "reportingInstance": f"{controller}-{self._host}"[:128],
            "action": event.action,
            "reason": event.reason,
            "regarding": regarding,
            "note": event.note,
            "type": event.type,
        }
        if event.reason != "Scheduled":  # a pod is bound only once
            self._series[key] = _Series(body, 1, now)
            self._series.move_to_end(key)
            if len(self._series) > SERIES_KEPT:
                self._series.popitem(last=False)
        self._put(body, again=False)

    def _put(self, body: Json, *, again: bool) -> None:
        if len(self._queue) >= _LONGEST_QUEUE:
            self._observer.dropped(1, "too many wait to be written")
            return
        self._queue.append((body, again))
        self._some.set()

    @property
    def waiting(self) -> int:
        """Number of events not written yet."""
        return len(self._queue) + self._writing

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._end_series())
            for _ in range(_WRITERS):
                group.create_task(self._write_all())

    async def _write_all(self) -> None:
        while True:
            async with self._taking:
                some = await self._some_of_one_kind()
            self._writing += len(some)
            try:
                await self._write_some(some)
            finally:
                self._writing -= len(some)

    async def _some_of_one_kind(self) -> list[tuple[Json, bool]]:
        """Return the next event, and following events that can be sent with it."""
        queue = self._queue
        while not queue:
            self._some.clear()
            await self._some.wait()
        if len(queue) < _TOGETHER:
            await asyncio.sleep(_GATHERING)
        some = [queue.popleft()]
        while queue and len(some) < _TOGETHER and not some[0][1] and not queue[0][1]:
            some.append(queue.popleft())
        return some

    async def _write_some(self, some: list[tuple[Json, bool]]) -> None:
        """Write new events together, and failed ones one by one."""
        taken = [False] * len(some)
        if len(some) > 1:
            with suppress(NotLeading):
                async with self._order.turn(Write.EVENT):
                    taken = await self._client.create_all([(_path(body), body) for body, _ in some])
        for (body, again), done in zip(some, taken, strict=True):
            if not done:
                await self._write(body, again=again)

    async def _write(self, body: Json, *, again: bool) -> None:
        """Write one event, with retries while the API server cannot be reached."""
        path, name = _path(body), body["metadata"]["name"]
        why = "the API server could not be reached"
        for _ in range(_TRIES):
            try:
                async with self._order.turn(Write.EVENT):
                    if again:
                        patch = {"series": body["series"]}
                        await self._client.request(
                            "PATCH", f"{path}/{name}", body=patch, content_type="application/merge-patch+json"
                        )
                    else:
                        await self._client.request("POST", path, body=body)
                return
            except ApiError as error:
                if again and error.status == 404:
                    again = False
                    continue
                if error.status not in (404, 409):
                    self._observer.failed("event", str(error))
                return
            except NotLeading:
                why = "this process does not hold the lease any more"
                break
            except ApiUnreachable:
                await asyncio.sleep(_BETWEEN)
        self._observer.dropped(1, why)

    async def _end_series(self) -> None:
        """Write the final counts of series that have ended."""
        while True:
            await asyncio.sleep(_SERIES_ENDS)
            now = self._now()
            for key, series in list(self._series.items()):
                if now - series.seen >= _SERIES_ENDS:
                    del self._series[key]
                    if series.count > series.told:
                        self._put(series.body | {"series": _told(series)}, again=True)


def _name(pod: str, now: float) -> str:
    """Return an event's name (client-go/tools/record/util: ``GenerateEventName``)."""
    name = f"{pod}.{int(now * 1e9):x}"
    return name if len(name) <= LONGEST_NAME else str(uuid.uuid4())


def _path(body: Json) -> str:
    return f"/apis/events.k8s.io/v1/namespaces/{body['metadata']['namespace']}/events"


def _told(series: _Series) -> Json:
    return {"count": series.count, "lastObservedTime": _micro(series.seen)}


def _micro(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
