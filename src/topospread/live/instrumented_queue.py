"""The scheduling queue with metrics: the events that moved pods, and their durations.

Source: pkg/scheduler/eventhandlers.go (``EventHandlingLatency``), backend/queue/scheduling_queue.go
(``SchedulerQueueIncomingPods``), k8s.io/kube-scheduler/framework/types.go (``ClusterEvent.Label``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from time import perf_counter
from typing import Any

from topospread.api.pod import Pod
from topospread.api.requests import RequestRules
from topospread.cluster.cluster import PodKey
from topospread.plugins.cluster_event import (
    ADD,
    ALL,
    ASSIGNED_POD_ADD,
    DELETE,
    NODE_ALLOCATABLE,
    NODE_ANNOTATION,
    NODE_CONDITION,
    NODE_DECLARED_FEATURE,
    NODE_LABEL,
    NODE_PREEMPTION_POLICY,
    NODE_TAINT,
    POD_CLAIM,
    POD_GATES_ELIMINATED,
    POD_LABEL,
    POD_SCALE_DOWN,
    POD_SCALE_UP,
    POD_TOLERATION,
    UPDATE,
    ClusterEvent,
)
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.scheduling.queue import Clock, SchedulingQueue
from topospread.scheduling.queued_pod_info import QueuedPodInfo
from topospread.scheduling.requeueing import Requeueing

from .incoming import Incoming
from .observer import Observer

_POPPED = "PodPopped"
_ADDED = ClusterEvent("UnscheduledPod", ADD)
_UPDATED = ClusterEvent("UnscheduledPod", UPDATE)
_DELETED = ClusterEvent("UnscheduledPod", DELETE)
_ASSIGNED_UPDATED = ClusterEvent("AssignedPod", UPDATE)
_ACTIONS = {
    ADD: "Add",
    DELETE: "Delete",
    UPDATE: "Update",
    ALL: "All",
    NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    NODE_LABEL: "UpdateNodeLabel",
    NODE_TAINT: "UpdateNodeTaint",
    NODE_CONDITION: "UpdateNodeCondition",
    NODE_ANNOTATION: "UpdateNodeAnnotation",
    NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    NODE_PREEMPTION_POLICY: "UpdateNodePreemptionPolicy",
    POD_LABEL: "UpdatePodLabel",
    POD_SCALE_DOWN: "UpdatePodScaleDown",
    POD_SCALE_UP: "UpdatePodScaleUp",
    POD_TOLERATION: "UpdatePodToleration",
    POD_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    POD_CLAIM: "UpdatePodGeneratedResourceClaim",
}
_GROUPS = {
    "CSINode": "storage.k8s.io/",
    "CSIDriver": "storage.k8s.io/",
    "CSIStorageCapacity": "storage.k8s.io/",
    "StorageClass": "storage.k8s.io/",
    "VolumeAttachment": "storage.k8s.io/",
    "DeviceClass": "resource.k8s.io/",
}


@cache
def label(event: ClusterEvent) -> str:
    """Return the name of an event in kube-scheduler's metrics: ``NodeAdd``, ``AssignedPodUpdatePodLabel``."""
    if event.wildcard:
        return "UnschedulableTimeout"
    return f"{_GROUPS.get(event.resource, '')}{event.resource}{_ACTIONS.get(event.action, '')}"


class InstrumentedQueue(SchedulingQueue):
    """A scheduling queue that reports to an observer.

    Attributes:
        incoming: counts pods that enter each part of the queue.
        began: arrival time of the current event; None without one.
    """

    def __init__(
        self,
        clock: Clock,
        requeueing_of: Callable[[Pod], Requeueing | None],
        settings: BackoffSettings,
        rules: RequestRules,
        observer: Observer,
    ) -> None:
        super().__init__(clock, requeueing_of, settings, rules)
        self._observer = observer
        self.incoming = Incoming(self, observer)
        self.began: float | None = None

    @property
    def may_give(self) -> bool:
        """True if a pod may be ready to attempt, because not all pods in the queue are unschedulable."""
        return len(self.active) > 0 or len(self.backoff) > 0

    def add(self, pod: Pod, key: PodKey = "", kind: Hashable = None, since: int | None = None) -> QueuedPodInfo:
        """See SchedulingQueue."""
        info = super().add(pod, key, kind, since)
        self._observer.incoming("unschedulable" if info.gating_plugin else "active", label(_ADDED), 1)
        self._handled(_ADDED)
        return info

    def update(self, old: Pod, new: Pod, key: PodKey = "", kind: Hashable = None) -> None:
        """See SchedulingQueue."""
        super().update(old, new, key, kind)
        self._handled(_UPDATED)

    def delete(self, key: PodKey) -> None:
        """See SchedulingQueue."""
        super().delete(key)
        self._handled(_DELETED)

    def assigned_pod_added(self, pod: Pod, alike: Hashable = None) -> None:
        """Count the event; see SchedulingQueue.

        Without unschedulable pods, as during the first list, do nothing else.
        """
        if self.listens:
            super().assigned_pod_added(pod, alike)
        else:
            self._handled(ASSIGNED_POD_ADD)

    def assigned_pod_updated(self, old: Pod, new: Pod, alike: Hashable = None) -> None:
        """See SchedulingQueue."""
        super().assigned_pod_updated(old, new, alike)
        self._handled(_ASSIGNED_UPDATED)

    def move_all(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        check: Callable[[Pod], bool] | None = None,
        alike: Hashable = None,
    ) -> None:
        """See SchedulingQueue."""
        if len(self.unschedulable):
            before = self.incoming.now()
            super().move_all(event, old, new, check, alike)
            self.incoming.tell(before, label(event))
        elif len(self._in_flight):  # no pod is moved, but pods in flight may need the event
            super().move_all(event, old, new, check, alike)
        if event != _ASSIGNED_UPDATED:  # reported once, as part of the whole update
            self._handled(event)

    def in_flight_events(self) -> Counter[str]:
        """Return the numbers of events and pods kept for pods in flight, by kind."""
        found = Counter(label(each.event) for each in self._in_flight.events)
        found[_POPPED] = len(self._in_flight)
        return found

    def _update_unschedulable(self, info: QueuedPodInfo, events: Iterable[ClusterEvent], old: Pod) -> None:
        before, all_of_it = self.incoming.now(), list(events)
        super()._update_unschedulable(info, all_of_it, old)
        self.incoming.tell(before, label(all_of_it[0]))

    def _handled(self, event: ClusterEvent) -> None:
        if self.began is not None:
            self._observer.event_handled(label(event), perf_counter() - self.began)
