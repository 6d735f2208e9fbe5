"""Keeps a tracker fed from an API server: lists and watches each kind, works in small steps. It serves nothing."""

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

from .contact import Contact
from .tracker import Tracker

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
"""Every kind that `status` reads, but for budgets; nodes and pods have to be readable, without others less is known."""
NEEDED = ("nodes", "pods")
_STEP = 0.02
"""Seconds of work after which whoever waits is served."""
_GATHER = 0.1
"""Seconds in which changes that come together are gathered."""
_AGAIN = 5.0
"""Seconds after which a kind that may not be read is asked for again."""


class Following:
    """Feeds a tracker for as long as it runs.

    Args:
        client: of the API server.
        tracker: takes the objects.
        contact: told of what happens.

    Attributes:
        ready: everything was listed once, and is in the figures.
    """

    def __init__(self, client: ApiClient, tracker: Tracker, contact: Contact) -> None:
        self.ready = False
        self._tracker = tracker
        self._wake = asyncio.Event()
        self._reflectors = [self._reflector(client, each, contact) for each in FOLLOWED]

    def _reflector(self, client: ApiClient, watched: Watched, contact: Contact) -> Reflector:
        contact.expect(watched.name)
        sink = _Taken(watched, self._tracker, contact, self._wake)
        made = Reflector(client, watched, sink, contact)
        made.last_known, made.absent = sink.known.get, _AGAIN
        return made

    async def run(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as group:
            for each in self._reflectors:
                group.create_task(each.run())
            group.create_task(self._work())

    async def _work(self) -> None:
        for each in self._reflectors:
            await each.synced.wait()
        while True:
            self._wake.clear()
            while not self._tracker.work(time.monotonic() + _STEP):
                await asyncio.sleep(0)
            if not self.ready:
                gc.collect()
                gc.freeze()  # what was listed lives as long as this does, and need not be gone through again
                self.ready = True
            await self._wake.wait()
            await asyncio.sleep(_GATHER)

    def missing(self) -> list[str]:
        """Kinds that have not been listed yet."""
        return [each.name for each, one in zip(FOLLOWED, self._reflectors, strict=True) if not one.synced.is_set()]


class _Taken:
    """Takes the objects of a kind."""

    def __init__(self, watched: Watched, tracker: Tracker, contact: Contact, wake: asyncio.Event) -> None:
        self._watched = watched
        self._tracker = tracker
        self._contact = contact
        self._wake = wake
        self.known: dict[Key, Any] = {}

    def keys(self) -> set[Key]:
        """Namespace and name of every object."""
        return set(self.known)

    def put(self, item: Any) -> None:
        """An object came or changed; one that comes again after a list is no change."""
        key = (item.namespace, item.name)
        before = self.known.get(key)
        if before is not None and before.metadata.resource_version == item.metadata.resource_version:
            return
        self.known[key] = item
        self._contact.changed(self._watched.name, "added" if before is None else "modified")
        if self._tracker.put(item):
            self._wake.set()

    def delete(self, key: Key, item: Any) -> None:
        """An object is gone."""
        gone = self.known.pop(key, None)
        if gone is None:
            return
        self._contact.changed(self._watched.name, "deleted")
        self._tracker.delete(self._watched.struct, *key, item or gone)
        self._wake.set()
