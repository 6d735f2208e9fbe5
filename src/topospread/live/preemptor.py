"""Carry out preemptions: evict a pod's victims and clear lower-priority nominations.

`scheduling.preemption` chooses the victims. The last victim is evicted after the other evictions succeeded. Source:
framework/preemption/executor.go (``prepareCandidateAsync``, ``PreemptPod``).
"""

from __future__ import annotations

import asyncio
from time import monotonic

import msgspec

from topospread.cluster.cluster import PodKey, pod_key
from topospread.scheduling.preemption import Candidate

from .api_error import ApiError, RequestError
from .binder import Binder
from .events import preempted
from .kinds import ReadPod
from .preempting import Preempting
from .scheduler_context import SchedulerContext, Spawn
from .statuses import Condition, condition_patch, patch_status
from .write_order import NotLeading, Write

_GONE = (404, 409)
"""Statuses for a victim that is deleted or was recreated."""


class Preemptor:
    """Evicts victims; ``binder`` cancels the binding of a victim that waits for volumes."""

    def __init__(self, parts: SchedulerContext, preempting: Preempting, binder: Binder, spawn: Spawn) -> None:
        self._parts = parts
        self._preempting = preempting
        self._binder = binder
        self._spawn = spawn
        self._tasks: set[asyncio.Task[None]] = set()

    def preempt(self, pod: ReadPod, candidate: Candidate) -> None:
        """Start evicting a pod's victims on a node."""
        parts = self._parts
        parts.observer.preempted(pod_key(pod.namespace, pod.name), candidate.node, len(candidate.victims))
        victims = [each.key for each in candidate.victims if each.pod_class.counted]
        if not victims:
            return
        self._preempting.begin(pod.metadata.uid or "")
        self._take_back_nominations(pod, candidate.node)
        task = self._spawn(self._run(pod, candidate.node, victims))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _take_back_nominations(self, pod: ReadPod, node: str) -> None:
        """Clear the nominations of lower-priority pods for the node, so that they look for another node."""
        parts = self._parts
        row = parts.cluster.nodes.row_of.get(node, -1)
        for key, each in parts.cluster.nominated.get(row, {}).items():
            other = parts.pods.waiting.get(key)
            if other is not None and each.priority < (pod.spec.priority or 0) and other.nominated_node_name:
                parts.statuses.want(other, nominated="")

    async def _run(self, pod: ReadPod, node: str, victims: list[PodKey]) -> None:
        uid, started = pod.metadata.uid or "", monotonic()
        failed = in_memory = False
        try:
            *others, last = victims
            await asyncio.gather(*[self._evict(pod, node, each) for each in others])
            self._preempting.last_victim(uid, last)
            in_memory = await self._evict(pod, node, last)
        except NotLeading:
            failed = True
        except RequestError as error:
            failed = True
            self._parts.observer.failed(f"preemption for {pod.namespace}/{pod.name}", str(error))
        finally:
            self._preempting.end(uid)
            if failed or in_memory:
                self._parts.queue.activate([(pod_key(pod.namespace, pod.name), pod)])
            self._parts.observer.preemption_ended("error" if failed else "success", monotonic() - started)

    async def _evict(self, preemptor: ReadPod, node: str, key: PodKey) -> bool:
        """Evict a victim. Return whether only its binding was cancelled, so that no deletion was needed."""
        parts = self._parts
        waiting = parts.pods.waiting.get(key)
        if waiting is not None and await self._binder.cancel(key):
            parts.events.record(preempted(waiting, preemptor, node, in_memory=True))
            return True
        uid = parts.pods.assigned.get(key) or (waiting.metadata.uid if waiting is not None else None)
        if uid is None:
            return False
        namespace, _, name = key.partition("/")
        path = f"/api/v1/namespaces/{namespace}/pods/{name}"
        try:
            victim = msgspec.json.decode(await parts.client.request("GET", path), type=ReadPod)
            if victim.metadata.uid != uid:
                return False
            await self._mark(preemptor, victim)
            async with parts.order.turn(Write.STATUS):
                body = {"preconditions": {"uid": uid}}
                await parts.client.request("DELETE", path, body=body, allowed=parts.order.may_write)
        except ApiError as error:
            if error.status in _GONE:
                return False
            raise
        parts.events.record(preempted(victim, preemptor, node, in_memory=False))
        return False

    async def _mark(self, preemptor: ReadPod, victim: ReadPod) -> None:
        """Add the condition DisruptionTarget to the victim's status."""
        name = preemptor.spec.scheduler_name or "default-scheduler"
        message = f"{name}: preempting to accommodate a higher priority pod"
        condition = Condition("DisruptionTarget", "True", "PreemptionByScheduler", message)
        changed = condition_patch(victim, condition, self._parts.now())
        if changed is None:
            return
        async with self._parts.order.turn(Write.STATUS):
            await patch_status(self._parts.client, victim, {"conditions": [changed]}, self._parts.order.may_write)
