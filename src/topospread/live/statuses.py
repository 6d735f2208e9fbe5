"""Writes to the status of waiting pods: the condition PodScheduled and the nominated node.

Only the newest state of each pod is written, and only if it differs from the stored state. Source:
pkg/scheduler/schedule_one.go (``updatePod``), pkg/api/v1/pod/util.go (``UpdatePodCondition``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from topospread.api.timestamps import timestamp
from topospread.cluster.cluster import PodKey, pod_key

from .api_error import ApiError, ApiUnreachable
from .client import ApiClient
from .kinds import ReadCondition, ReadPod
from .observer import Observer
from .retry import is_retriable_or_conflict, retry_on_error
from .write_order import NotLeading, Write, WriteOrder

STRATEGIC = "application/strategic-merge-patch+json"
_WRITERS = 8
_BETWEEN = 1.0

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition to write into a pod's status."""

    type: str
    status: str
    reason: str
    message: str


def condition_patch(pod: ReadPod, condition: Condition, now: float) -> Json | None:
    """Return the condition for a patch; ``None`` if the pod has it already."""
    there = (pod.status.conditions if pod.status is not None else None) or []
    old = next((each for each in there if each.type == condition.type), None)
    if old is not None and _same(old, condition):
        return None
    changed: Json = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastProbeTime": None,
    }
    if old is None or old.status != condition.status:
        changed["lastTransitionTime"] = timestamp(now)
    if pod.metadata.generation:
        changed["observedGeneration"] = pod.metadata.generation
    return changed


def _same(old: ReadCondition, new: Condition) -> bool:
    return (old.status, old.reason or "", old.message or "") == (new.status, new.reason, new.message)


@dataclass(slots=True)
class _Wanted:
    """The status to write for a pod; ``nominated`` None keeps the nomination."""

    pod: ReadPod
    condition: Condition | None
    nominated: str | None


async def patch_status(client: ApiClient, pod: ReadPod, status: Json, allowed: Callable[[], bool]) -> None:
    """Patch the status of the pod with this uid (``PatchPodStatus``).

    Args:
        allowed: called before every attempt; returns whether this process may still write.

    Raises:
        RequestError: if the last attempt fails.
    """
    path = f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/status"
    body = {"metadata": {"uid": pod.metadata.uid}, "status": status}

    async def send() -> None:
        await client.request("PATCH", path, body=body, content_type=STRATEGIC, allowed=allowed)

    await retry_on_error(is_retriable_or_conflict, send)


class Statuses:
    """Writes pod statuses one at a time."""

    def __init__(self, client: ApiClient, order: WriteOrder, now: Callable[[], float], observer: Observer) -> None:
        self._client = client
        self._order = order
        self._now = now
        self._observer = observer
        self._wanted: dict[PodKey, _Wanted] = {}
        self._some = asyncio.Event()
        self._writing: set[PodKey] = set()
        self._sent: dict[PodKey, asyncio.Event] = {}
        self._closed: set[PodKey] = set()

    def want(self, pod: ReadPod, condition: Condition | None = None, nominated: str | None = None) -> None:
        """Request a condition or nominated node ("" for none) to be written, unless the pod already has it."""
        key = pod_key(pod.namespace, pod.name)
        before = self._wanted.get(key)
        if before is not None and before.pod.metadata.uid == pod.metadata.uid:
            condition = condition or before.condition
            nominated = before.nominated if nominated is None else nominated
        self._wanted[key] = _Wanted(pod, condition, nominated)
        self._closed.discard(key)
        self._some.set()

    def drop(self, key: PodKey) -> None:
        """Drop the pending status of a pod that is no longer pending."""
        self._wanted.pop(key, None)
        self._closed.discard(key)

    async def close(self, key: PodKey) -> None:
        """Drop a pod's pending status before its binding, and wait for one that is being sent.

        Otherwise the condition "no node" could overwrite the condition "scheduled".
        """
        self._wanted.pop(key, None)
        self._closed.add(key)
        sent = self._sent.get(key)
        if sent is not None:
            await sent.wait()

    @property
    def waiting(self) -> int:
        """Number of pods whose status is not written yet."""
        return len(self._wanted) + len(self._writing)

    async def run(self) -> None:
        """Write until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_WRITERS):
                group.create_task(self._write_all())

    async def _write_all(self) -> None:
        while True:
            key = next((each for each in self._wanted if each not in self._writing), None)
            if key is None:
                self._some.clear()
                await self._some.wait()
                continue
            self._writing.add(key)
            wanted = None
            try:
                async with self._order.turn(Write.STATUS):
                    wanted = self._wanted.pop(key, None)
                    if wanted is not None:
                        await self._send(key, wanted)
            except NotLeading:
                self._wanted.clear()
            except ApiUnreachable:
                if wanted is not None and key not in self._closed:
                    self._wanted.setdefault(key, wanted)
                await asyncio.sleep(_BETWEEN)
            finally:
                self._writing.discard(key)
                self._some.set()

    async def _send(self, key: PodKey, wanted: _Wanted) -> None:
        """Write a status. `close` waits for its end."""
        self._sent[key] = asyncio.Event()
        try:
            await self._write(wanted)
        finally:
            self._sent.pop(key).set()

    async def _write(self, wanted: _Wanted) -> None:
        status: Json = {}
        if wanted.condition is not None:
            changed = condition_patch(wanted.pod, wanted.condition, self._now())
            if changed is not None:
                status["conditions"] = [changed]
        if wanted.nominated is not None and wanted.nominated != wanted.pod.nominated_node_name:
            status["nominatedNodeName"] = wanted.nominated or None
        if status:
            await self.patch(wanted.pod, status)

    async def patch(self, pod: ReadPod, status: Json) -> None:
        """Patch the status of this pod; log the API server's refusal. Raise ApiUnreachable without an answer."""
        try:
            await patch_status(self._client, pod, status, self._order.may_write)
        except ApiError as error:
            if error.status not in (404, 409):
                self._observer.failed(f"status of {pod.namespace}/{pod.name}", str(error))
