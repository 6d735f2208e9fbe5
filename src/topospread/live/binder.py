"""Run binding cycles concurrently: bind volumes, then create the pod's ``binding``.

A binding without an answer, or with a conflict, may have succeeded. So the pod is read before it is forgotten. Source:
pkg/scheduler/schedule_one.go (``bindingCycle``, ``handleBindingCycleError``), plugins/defaultbinder/default_binder.go,
pkg/registry/core/pod/storage (``assignPod``).
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from time import monotonic

import msgspec

from topospread.cluster.cluster import PodKey
from topospread.scheduling.queued_pod_info import QueuedPodInfo

from .api_error import ApiError, ApiUnreachable, RequestError
from .events import scheduled
from .failures import Failure
from .kinds import ReadPod
from .pods import Assumption
from .retry import is_retriable, retry_on_error
from .scheduler_context import SchedulerContext, Spawn
from .volumes import VolumeReservation, VolumesNotBound
from .write_order import NotLeading, Write

_BETWEEN = 0.5
_LONGEST_BETWEEN = 5.0
_REFUSED = range(400, 500)
_CONFLICT = 409


class NotBound(Exception):  # noqa: N818 - it says what is the case
    """Raised if the pod has no node; the message is the reason."""


class BindConflict(Exception):  # noqa: N818 - it says what is the case
    """Raised if the pod was bound to another node or recreated. The watch will report it."""


@dataclass(slots=True, eq=False)
class Placed:
    """A placed pod, to be bound.

    Attributes:
        reservation: reserved volumes; None without volumes.
        started: start of the attempt, in seconds of a monotonic clock.
        volumes_timeout: time limit for binding volumes, in seconds.
        measured: whether its plugins' durations are reported.
    """

    info: QueuedPodInfo
    assumption: Assumption
    profile: str
    reservation: VolumeReservation | None
    started: float
    volumes_timeout: float
    measured: bool = False

    @property
    def pod(self) -> ReadPod:
        """The pod at the time of the attempt."""
        return self.assumption.pod


class _PodSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _PodMeta(msgspec.Struct):
    uid: str = ""


class _PodRead(msgspec.Struct):
    metadata: _PodMeta
    spec: _PodSpec


class Binder:
    """Binds pods.

    Attributes:
        room: set while fewer than ``at_once`` pods are being bound, not counting pods that wait for volumes
            or longer than `write_order.PATIENCE` for an answer.
    """

    def __init__(self, parts: SchedulerContext, at_once: int, spawn: Spawn) -> None:
        self._parts = parts
        self._spawn = spawn
        self._at_once = at_once
        self._tasks: dict[asyncio.Task[None], Placed] = {}
        self._sending = 0
        self._waiting_for_volumes: dict[PodKey, asyncio.Task[None]] = {}
        self._cancelled: set[PodKey] = set()
        self.room = asyncio.Event()
        self.room.set()

    @property
    def in_flight(self) -> int:
        """Number of running binding cycles."""
        return len(self._tasks)

    @property
    def left(self) -> int:
        """Number of binding cycles that may still start."""
        return max(0, self._at_once - self._sending)

    def start(self, placed: Placed) -> None:
        """Start a binding cycle."""
        task = self._spawn(self._run(placed))
        self._tasks[task] = placed
        self._count(1)
        task.add_done_callback(self._ended)

    async def cancel(self, key: PodKey) -> bool:
        """Cancel the binding of a pod that waits for volumes (``CancelPod``). Return False if no binding waits.

        It returns once the pod is forgotten, so that a preemptor does not see the pod again.
        """
        task = self._waiting_for_volumes.get(key)
        if task is None:
            return False
        self._cancelled.add(key)
        task.cancel()
        await asyncio.wait([task])
        return True

    async def finish(self, deadline: float) -> bool:
        """Wait at most ``deadline`` seconds for bindings being sent. Return whether all ended.

        Pods that wait for volumes are not awaited; the next leader will schedule them again.
        """
        for task in self._waiting_for_volumes.values():
            task.cancel()
        if not self._tasks:
            return True
        _, left = await asyncio.wait(list(self._tasks), timeout=deadline)
        for task in left:
            task.cancel()
        return not left

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        self._count(-1)

    def _count(self, change: int) -> None:
        self._sending += change
        if self._sending < self._at_once:
            self.room.set()
        else:
            self.room.clear()

    async def _run(self, placed: Placed) -> None:
        parts = self._parts
        try:
            if placed.reservation is not None and not placed.reservation.nothing_to_do:
                with self._measuring(placed, "PreBind", "VolumeBinding"):
                    await self._bind_volumes(placed, placed.reservation)
            await parts.statuses.close(placed.assumption.key)
            with self._measuring(placed, "Bind", "DefaultBinder"):
                await self._bind(placed)
        except NotBound as error:
            self._failed(placed, str(error))
        except NotLeading:
            if self._forget(placed):
                parts.failures.put_back(placed.info)
        except BindConflict:
            if placed.reservation is not None:
                parts.volumes.unreserve(placed.reservation)
        else:
            self._succeeded(placed)

    def _measuring(self, placed: Placed, point: str, plugin: str) -> AbstractContextManager[None]:
        return self._parts.times.point(point, plugin, placed.profile) if placed.measured else nullcontext()

    async def _bind_volumes(self, placed: Placed, reservation: VolumeReservation) -> None:
        """Run PreBind. Set nominatedNodeName first, so that cluster-autoscaler knows the pod's future node."""
        parts, key = self._parts, placed.assumption.key
        parts.statuses.want(placed.pod, nominated=placed.assumption.node)
        task = asyncio.current_task()
        assert task is not None, "a binding cycle is a task"
        self._waiting_for_volumes[key] = task
        self._count(-1)
        try:
            await parts.volumes.bind(
                reservation, lambda: self._is_there(placed), placed.pod.name, placed.volumes_timeout
            )
        except VolumesNotBound as error:
            raise NotBound(f'running PreBind plugin "VolumeBinding": {error}') from error
        except asyncio.CancelledError:
            if key not in self._cancelled:
                raise
            self._cancelled.discard(key)
            task.uncancel()
            raise NotBound(
                'running PreBind plugin "VolumeBinding": binding volumes: preempted by DefaultPreemption'
            ) from None
        finally:
            del self._waiting_for_volumes[key]
            self._count(1)

    def _is_there(self, placed: Placed) -> bool:
        pod = self._parts.pods.waiting.get(placed.assumption.key)
        return pod is not None and pod.metadata.uid == placed.pod.metadata.uid

    async def _bind(self, placed: Placed) -> None:
        """Send the binding (``BindPod``). Each attempt waits for its write turn."""
        parts, pod, node = self._parts, placed.pod, placed.assumption.node
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.metadata.uid},
            "target": {"kind": "Node", "name": node},
        }

        async def send() -> None:
            async with parts.order.turn(Write.BINDING, self._count):
                await parts.client.request("POST", f"{_path(pod)}/binding", body=body, allowed=parts.order.may_write)

        try:
            await retry_on_error(is_retriable, send)
        except ApiError as error:
            words = f'running Bind plugin "DefaultBinder": {error.message or error}'
            if error.status in _REFUSED and error.status != _CONFLICT:
                raise NotBound(words) from error
            await self._look(placed, words)
        except ApiUnreachable as error:
            await self._look(placed, f'running Bind plugin "DefaultBinder": {error}')

    async def _look(self, placed: Placed, words: str) -> None:
        """Read the pod. Return normally if it is bound to its node.

        Raises:
            NotBound: if it has no node, or is deleted.
            BindConflict: if it has another node.
        """
        delay = _BETWEEN
        while True:
            try:
                read = await self._parts.client.request("GET", _path(placed.pod))
                break
            except RequestError as error:
                if isinstance(error, ApiError) and error.status == 404:
                    raise NotBound(words) from error
                await asyncio.sleep(delay)
                delay = min(delay * 2, _LONGEST_BETWEEN)
        pod = msgspec.json.decode(read, type=_PodRead)
        if pod.metadata.uid != placed.pod.metadata.uid or not pod.spec.node_name:
            raise NotBound(words)
        if pod.spec.node_name != placed.assumption.node:
            raise BindConflict

    def _succeeded(self, placed: Placed) -> None:
        parts, assumption, info = self._parts, placed.assumption, placed.info
        assumption.bound = True
        parts.events.record(scheduled(placed.pod, assumption.node))
        parts.observer.attempted(placed.profile, "scheduled", monotonic() - placed.started)
        since = info.first_in_active if info.first_in_active is not None else parts.clock()
        waited = (parts.clock() - since) / 1e9
        parts.observer.bound(assumption.key, assumption.node, placed.profile, info.attempts, waited)
        if info.flushed_at is not None:
            parts.observer.bound_after_flush()

    def _forget(self, placed: Placed) -> bool:
        """Unreserve and forget the pod (``unreserveAndForget``). The queue treats that as a deletion."""
        parts = self._parts
        if placed.reservation is not None:
            parts.volumes.unreserve(placed.reservation)
        if not parts.pods.forget(placed.assumption):
            return False
        parts.pods.released(placed.assumption)
        return True

    def _failed(self, placed: Placed, words: str) -> None:
        parts = self._parts
        parts.observer.binding_failed(placed.assumption.key, placed.assumption.node, words)
        parts.observer.attempted(placed.profile, "error", monotonic() - placed.started)
        self._forget(placed)
        parts.failures.handle(placed.info, Failure("SchedulerError", words))


def _path(pod: ReadPod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
