"""Keeps a tracker fed from an API server: list and watch each kind, and update metrics in small steps."""

from __future__ import annotations

import asyncio
import gc
import time
from dataclasses import replace
from typing import Any

from topospread.api.pod import Pod
from topospread.api.policy import LimitRange, PodDisruptionBudget, PriorityClass, RuntimeClass
from topospread.api.workload import DaemonSet, Deployment, HorizontalPodAutoscaler, Job
from topospread.live.client import ApiClient
from topospread.live.kinds import WATCHED, ReadPod, Watched
from topospread.live.reflector import Key, Reflector

from .tracker import Tracker
from .watch_health import WatchHealth

FOLLOWED: tuple[Watched, ...] = (
    *(
        replace(each, optional=each.name != "nodes")
        for each in WATCHED
        if each.struct not in (ReadPod, PodDisruptionBudget)
    ),
    Watched(Deployment, "/apis/apps/v1/deployments", optional=True),
    Watched(DaemonSet, "/apis/apps/v1/daemonsets", optional=True),
    Watched(Job, "/apis/batch/v1/jobs", optional=True),
    Watched(HorizontalPodAutoscaler, "/apis/autoscaling/v2/horizontalpodautoscalers", optional=True),
    Watched(PriorityClass, "/apis/scheduling.k8s.io/v1/priorityclasses", optional=True),
    Watched(RuntimeClass, "/apis/node.k8s.io/v1/runtimeclasses", optional=True),
    Watched(LimitRange, "/api/v1/limitranges", optional=True),
    Watched(Pod, "/api/v1/pods"),
)
"""Kinds that `status` reads, except PodDisruptionBudgets. Nodes and pods must be readable; other kinds are optional."""
NEEDED = ("nodes", "pods")
_STEP = 0.02
"""Maximum seconds of work before requests are served."""
_GATHER = 0.1
"""Pause in seconds in which changes can gather."""
_AGAIN = 5.0
"""Seconds before an unreadable kind is requested again."""


class Following:
    """Feeds a tracker while it runs; ``ready`` once all kinds were listed and are included in the metrics."""

    def __init__(self, client: ApiClient, tracker: Tracker, contact: WatchHealth) -> None:
        self.ready = False
        self._tracker = tracker
        self._wake = asyncio.Event()
        self._reflectors = [self._reflector(client, each, contact) for each in FOLLOWED]

    def _reflector(self, client: ApiClient, watched: Watched, contact: WatchHealth) -> Reflector:
        contact.expect(watched.name)
        sink = _Taken(watched, self._tracker, contact, self._wake)
        made = Reflector(client, watched, sink, contact)
        made.last_known, made.absent = sink.known.get, _AGAIN
        return made

    async def run(self) -> None:
        """Watch until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in self._reflectors:
                group.create_task(each.run())
            group.create_task(self._work())

    async def _work(self) -> None:
        for each in self._reflectors:
            await each.synced.wait()
        gc.freeze()  # the listed objects live as long as the process: exclude them from garbage collection
        while True:
            self._wake.clear()
            while not self._tracker.work(time.monotonic() + _STEP):
                await asyncio.sleep(0)
            if not self.ready:
                gc.collect()
                gc.freeze()  # and what was computed about them
                self.ready = True
            await self._wake.wait()
            await asyncio.sleep(_GATHER)

    def missing(self) -> list[str]:
        """Return the kinds that have not been listed yet."""
        return [each.name for each, one in zip(FOLLOWED, self._reflectors, strict=True) if not one.synced.is_set()]


class _Taken:
    def __init__(self, watched: Watched, tracker: Tracker, contact: WatchHealth, wake: asyncio.Event) -> None:
        self._watched = watched
        self._tracker = tracker
        self._contact = contact
        self._wake = wake
        self.known: dict[Key, Any] = {}

    def keys(self) -> set[Key]:
        """Namespace and name of every object."""
        return set(self.known)

    def put(self, item: Any) -> None:
        """Add or update an object. An unchanged object from a new list does not count as a change."""
        key = (item.namespace, item.name)
        before = self.known.get(key)
        if before is not None and before.metadata.resource_version == item.metadata.resource_version:
            return
        self.known[key] = item
        self._contact.changed(self._watched.name, "added" if before is None else "modified")
        if self._tracker.put(item):
            self._wake.set()

    def delete(self, key: Key, item: Any) -> None:
        """Delete an object."""
        gone = self.known.pop(key, None)
        if gone is None:
            return
        self._contact.changed(self._watched.name, "deleted")
        self._tracker.delete(self._watched.struct, *key, item or gone)
        self._wake.set()
