"""kube-scheduler's scheduling queue: active pods, pods in backoff, and unschedulable pods.

The caller schedules the popped pods and provides the clock. `Cluster` keeps nominations, and `pod_group_queue` handles
pod groups.
Source: pkg/scheduler/backend/queue/scheduling_queue.go and active_queue.go of 1.37.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Protocol

from topospread.api.pod import Pod
from topospread.api.requests import CURRENT_RULES, RequestRules
from topospread.cluster.cluster import PodKey, pod_key
from topospread.cluster.undo import UndoLog
from topospread.plugins.cluster_event import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    UNSCHEDULABLE_TIMEOUT,
    ClusterEvent,
)

from .backoff_queue import DEFAULT_BACKOFF, BackoffQueue, BackoffSettings
from .in_flight import InFlight
from .keyed_heap import KeyedHeap
from .object_changes import pod_changes
from .queued_pod_info import SECOND, QueuedPodInfo, queue_order, remember
from .requeueing import EventWithObjects, QueueingStrategy, Requeueing, pod_worth_requeuing
from .unschedulable_pods import Group, UnschedulablePods

FLUSH_PERIOD = 30 * SECOND
"""Nanoseconds between two calls of `SchedulingQueue.flush_unschedulable_leftover`."""
LONGEST_STAY = 300 * SECOND
"""Nanoseconds after which the next flush retries an unschedulable pod without an event."""

Clock = Callable[[], int]
"""Function that returns the current time in nanoseconds."""


class KeepsGroups(Protocol):
    """A queue of pods that are scheduled together (`pod_group_queue`)."""

    def takes(self, pod: Pod) -> bool:
        """Return whether a pod belongs to a group that is scheduled together."""

    def add(self, info: QueuedPodInfo) -> None:
        """Add a new pod, or a pod after an attempt."""

    def update(self, old: Pod, new: Pod, pod: PodKey) -> bool:
        """Update a pending pod. Return False for an unknown pod."""

    def happened(self, happened: EventWithObjects) -> None:
        """Requeue the unschedulable groups that an event may help."""

    def flush(self) -> None:
        """Reconsider groups that have been gated for more than five minutes."""


class SchedulingQueue:
    """The scheduling queue. A pod is in one of its parts, or in flight between `pop` and `done`.

    Attributes:
        groups: queue of pod groups; ``None`` if pods are scheduled one by one.

    Args:
        clock: returns the current time in nanoseconds.
        requeueing_of: returns the queueing hints of a pod's profile; ``None`` if its profile does not exist.
        rules: rules to compute pod requests, used to detect an update that lowers them.
        undo: undo log. If it is the cluster's log, the cluster's savepoints also restore the queue.
    """

    def __init__(
        self,
        clock: Clock,
        requeueing_of: Callable[[Pod], Requeueing | None],
        settings: BackoffSettings = DEFAULT_BACKOFF,
        rules: RequestRules = CURRENT_RULES,
        undo: UndoLog | None = None,
    ) -> None:
        self.clock = clock
        self.cycle = 0
        self.undo = UndoLog() if undo is None else undo
        self.active: KeyedHeap[QueuedPodInfo] = KeyedHeap(queue_order, self.undo)
        self.backoff = BackoffQueue(clock, settings, self.undo)
        self.unschedulable = UnschedulablePods(self.undo)
        self.groups: KeepsGroups | None = None
        self._requeueing_of = requeueing_of
        self._settings = settings
        self._rules = rules
        self._in_flight = InFlight(self.undo)

    @property
    def is_empty(self) -> bool:
        """True if no pod is active, in backoff or unschedulable, apart from gated groups."""
        return not (len(self.active) or len(self.backoff) or len(self.unschedulable))

    @property
    def in_flight(self) -> tuple[str, ...]:
        """UIDs of the pods in flight."""
        return self._in_flight.uids

    # Changes of pending pods, and their attempts.

    def add(self, pod: Pod, key: PodKey = "", kind: Hashable = None, since: int | None = None) -> QueuedPodInfo:
        """Add a new pod.

        Args:
            key: key in the queue; the pod's ``namespace/name`` by default.
            kind: key that is equal for pods for which every hint gives equal answers; ``None`` if unknown.
            since: time of creation in nanoseconds of the clock; now by default.
        """
        key = key or pod_key(pod.namespace, pod.name)
        time = self.clock() if since is None else since
        info = QueuedPodInfo(pod, key, pod.metadata.uid or key, time, kind)
        if self.groups is not None and self.groups.takes(pod):
            self.groups.add(info)
        else:
            self._to_active(info)
        return info

    def take(self, pod: Pod, key: PodKey, kind: Hashable, since: int) -> QueuedPodInfo:
        """Add a new pod and pop it. The caller ensures that no PreEnqueue plugin holds it and that it is first."""
        info = QueuedPodInfo(pod, key, pod.metadata.uid or key, since, kind, attempts=1, first_in_active=since)
        self._fly(info)
        return info

    def pop(self) -> QueuedPodInfo | None:
        """Return the next pod, now in flight; ``None`` if no pod is active."""
        while True:
            info = self.active.pop()
            if info is None and self._settings.pops_early:
                info = self.backoff.pop()
            if info is None:
                return None
            remember(info, self.undo)
            info.attempts += 1
            if info.uid not in self._in_flight:  # else it is in two queues and already popped once: drop this copy
                break
        self._fly(info)
        return info

    def fly(self, info: QueuedPodInfo) -> None:
        """Start an attempt of a pod that was taken out of the active queue."""
        remember(info, self.undo)
        info.attempts += 1
        self._fly(info)

    def record_rejection(self, info: QueuedPodInfo, unschedulable: frozenset[str]) -> None:
        """Record a rejected attempt without an event during it: `fly` and `add_unschedulable` in one step."""
        remember(info, self.undo)
        self._next_cycle()
        info.attempts += 1
        info.unschedulable_plugins, info.pending_plugins, info.gating_plugin = unschedulable, frozenset(), ""
        self._count_rejection(info)
        self.unschedulable.put(info)

    def _fly(self, info: QueuedPodInfo) -> None:
        self._in_flight.start(info.uid)
        self._next_cycle()

    def _next_cycle(self) -> None:
        self.cycle += 1
        if self.undo.steps is not None:
            self.undo.record(setattr, self, "cycle", self.cycle - 1)

    def done(self, uid: str) -> None:
        """End the attempt of a pod. Drop the events that no other pod in flight needs."""
        self._in_flight.end(uid)

    def add_unschedulable(
        self, info: QueuedPodInfo, unschedulable: Iterable[str] = (), pending: Iterable[str] = ()
    ) -> bool:
        """Return a rejected pod to the queue (``AddUnschedulablePodIfNotPresent``).

        Args:
            unschedulable: plugins that rejected the pod. If this and ``pending`` are empty, the attempt ended with an
                error.
            pending: plugins that rejected the pod and wait for an action that they started themselves. Their hints
                requeue the pod without backoff.

        Returns:
            False if the pod is already in the queue.
        """
        try:
            return self._add_tried(info, frozenset(unschedulable), frozenset(pending))
        finally:
            self.done(info.uid)

    def _add_tried(self, info: QueuedPodInfo, unschedulable: frozenset[str], pending: frozenset[str]) -> bool:
        if info.key in self.unschedulable or info.key in self.active or info.key in self.backoff:
            return False
        remember(info, self.undo)
        info.unschedulable_plugins, info.pending_plugins, info.gating_plugin = unschedulable, pending, ""
        self._count_rejection(info)
        self._requeue(info, self._strategy_in_flight(info))
        return True

    def _count_rejection(self, info: QueuedPodInfo) -> None:
        """Count a rejection by plugins, or an error if no plugin rejected the pod."""
        if info.rejectors:
            info.unschedulable_count += 1
            info.errors = 0
        else:
            info.errors += 1
        info.timestamp = self.clock()
        info.backoff_expiration = info.flushed_at = None

    def update(self, old: Pod, new: Pod, key: PodKey = "", kind: Hashable = None) -> None:
        """Update a pending pod, or add it if it is not known."""
        key = key or pod_key(old.namespace, old.name)
        uid = new.metadata.uid or key
        if self.groups is not None and self.groups.update(old, new, key):
            return
        events = pod_changes(old, new, is_target=True, rules=self._rules)
        if uid in self._in_flight:
            for event in events:
                self._in_flight.happened(EventWithObjects(event, old, new))
            return
        for place, put in ((self.active, self._put_active), (self.backoff, self.backoff.changed)):
            info = place.get(key)
            if info is not None and info.uid == uid:
                remember(info, self.undo)
                info.pod, info.kind = new, kind
                put(info)
                return
        info = self.unschedulable.get(key)
        if info is None or info.uid != uid:
            self.add(new, key, kind)
            return
        remember(info, self.undo)
        info.pod, info.kind = new, kind
        self._update_unschedulable(info, events, old)

    def _put_active(self, info: QueuedPodInfo) -> None:
        self.active.put(info.key, info)

    def _update_unschedulable(self, info: QueuedPodInfo, events: Iterable[ClusterEvent], old: Pod) -> None:
        for event in events:
            self._requeue(info, self._strategy(info, event, old, info.pod))
            # Without SchedulerPopFromBackoffQ, kube-scheduler does not return here for a pod in backoff, which may then
            # be in two queues.
            if info.key in self.active or (self._settings.pops_early and info.key in self.backoff):
                return

    def delete(self, key: PodKey) -> None:
        """Remove a deleted pending pod."""
        if self.active.delete(key) is None and self.backoff.delete(key) is None:
            self.unschedulable.delete(key)

    def activate(self, pods: Iterable[tuple[PodKey, Pod]]) -> None:
        """Activate unschedulable pods and pods in backoff immediately, and pods in flight after their attempt."""
        for key, pod in pods:
            info, backed_off = self.unschedulable.get(key), False
            if info is None:
                info, backed_off = self.backoff.delete(key), True
            if info is not None and self._to_active(info, asks_gates=not (backed_off and self._settings.pops_early)):
                continue
            if (pod.metadata.uid or key) in self._in_flight:
                self._in_flight.happened(EventWithObjects(FORCE_ACTIVATE, None, pod))

    # Events of the cluster.

    @property
    def listens(self) -> bool:
        """True if any pod is unschedulable or in flight, so that an event may help it."""
        return len(self.unschedulable) > 0 or len(self._in_flight) > 0

    def assigned_pod_added(self, pod: Pod, alike: Hashable = None) -> None:
        """Handle a pod that was bound, or created with a node."""
        self.move_all(ASSIGNED_POD_ADD, None, pod, alike=alike)

    def assigned_pod_updated(self, old: Pod, new: Pod, alike: Hashable = None) -> None:
        """Handle an update of an assigned pod. ``alike``: as in `move_all`."""
        for event in pod_changes(old, new, rules=self._rules):
            self.move_all(event, old, new, alike=alike)

    def assigned_pod_deleted(self, pod: Pod, alike: Hashable = None) -> None:
        """Handle the deletion of an assigned pod."""
        self.move_all(ASSIGNED_POD_DELETE, pod, None, alike=alike)

    def move_all(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        check: Callable[[Pod], bool] | None = None,
        alike: Hashable = None,
    ) -> None:
        """Move the pods that an event may help (``MoveAllToActiveOrBackoffQueue``).

        Args:
            event: the event; a wildcard moves all pods.
            old: the object before, ``None`` if it was added.
            new: the object after, ``None`` if it was deleted.
            check: filter of the pods to consider.
            alike: key that is equal for events for which every hint gives equal answers. Answers are cached by it; with
                ``None`` they are not.
        """
        if len(self.unschedulable):
            if check is not None and self.unschedulable.batch is not None:
                self.unschedulable.batch.let_all_go()
            asked = None if alike is None or check is not None else (event, alike)
            happened = EventWithObjects(event, old, new)
            helped = self.unschedulable.helped(lambda group, pod: self._answer(group, pod, happened), asked)
            for strategy, infos in helped:
                for info in infos:
                    if check is None or check(info.pod):
                        self.unschedulable.delete(info.key)
                        self._requeue(info, strategy)
        if self.groups is not None:
            self.groups.happened(EventWithObjects(event, old, new))
        self._in_flight.happened(EventWithObjects(event, old, new))

    def forget_answers(self) -> None:
        """Drop cached answers of hints after a change of other objects that hints read, such as Services."""
        self.unschedulable.forget_answers()

    # Timers.

    def flush_backoff_completed(self) -> None:
        """Activate the pods whose backoff is over; call it every second (``flushBackoffQCompleted``)."""
        for info in self.backoff.pop_completed():
            self._to_active(info, asks_gates=not self._settings.pops_early)

    def flush_unschedulable_leftover(self, check: Callable[[QueuedPodInfo], bool] | None = None) -> None:
        """Retry pods that have been unschedulable for more than five minutes; call it every `FLUSH_PERIOD`.

        ``check``: filter of these pods; kube-scheduler retries all.
        """
        now = self.clock()
        stayed = [info for info in self.unschedulable.infos if now - info.waits_since > LONGEST_STAY]
        leftover = stayed if check is None else list(filter(check, stayed))
        for info in leftover:
            remember(info, self.undo)
            info.flushed_at = now
        for info in leftover:
            strategy = self._strategy(info, UNSCHEDULABLE_TIMEOUT, None, None)
            if strategy:
                self.unschedulable.delete(info.key)
                self._requeue(info, strategy)
        if self.groups is not None:
            self.groups.flush()
        if leftover:
            self._in_flight.happened(EventWithObjects(UNSCHEDULABLE_TIMEOUT, None, None))

    # The part of the queue that a pod moves to.

    def _answer(self, group: Group, pod: Pod, happened: EventWithObjects) -> QueueingStrategy:
        """Return an event's strategy for a group of pods. For gated pods, only the gating plugin's events count."""
        event = happened.event
        if group.gating and not event.wildcard:
            requeueing = self._requeueing_of(pod)
            if requeueing is None or not requeueing.concerns(group.gating, event):
                return QueueingStrategy.SKIP
        return pod_worth_requeuing(self._requeueing_of(pod), pod, (group.unschedulable, group.pending), happened)

    def _strategy(self, info: QueuedPodInfo, event: ClusterEvent, old: Any, new: Any) -> QueueingStrategy:
        happened = EventWithObjects(event, old, new)
        rejectors = (info.unschedulable_plugins, info.pending_plugins)
        return pod_worth_requeuing(self._requeueing_of(info.pod), info.pod, rejectors, happened, info.uid)

    def _strategy_in_flight(self, info: QueuedPodInfo) -> QueueingStrategy:
        """Return the best strategy of the events during an attempt (``determineSchedulingHintForInFlightPod``)."""
        events = self._in_flight.since(info.uid)
        if events is None or not info.rejectors:
            return QueueingStrategy.AFTER_BACKOFF
        requeueing = self._requeueing_of(info.pod)
        if requeueing is not None and not requeueing.rules.hints:  # ``addUnschedulableWithoutQueueingHint``
            return QueueingStrategy.AFTER_BACKOFF if events else QueueingStrategy.SKIP
        best = QueueingStrategy.SKIP
        enough = QueueingStrategy.IMMEDIATELY if info.pending_plugins else QueueingStrategy.AFTER_BACKOFF
        for happened in events:
            best = max(best, self._strategy(info, *happened))
            if best >= enough:
                break
        return best

    def _requeue(self, info: QueuedPodInfo, strategy: QueueingStrategy) -> None:
        """Move a pod by its strategy (``requeueEntityWithQueueingStrategy``)."""
        if strategy == QueueingStrategy.SKIP:
            self.unschedulable.put(info)
        elif strategy == QueueingStrategy.AFTER_BACKOFF and self.backoff.is_backing_off(info):
            self._to_backoff(info)
        else:
            self._to_active(info)

    def _to_active(self, info: QueuedPodInfo, *, asks_gates: bool = True) -> bool:
        """Activate a pod unless a PreEnqueue plugin holds it (``moveToActiveQ``). Return whether it is active."""
        if asks_gates and self._is_gated(info):
            return False
        if info.first_in_active is None:
            remember(info, self.undo)
            info.first_in_active = self.clock()
        self.unschedulable.delete(info.key)
        self.active.put(info.key, info)
        return True

    def _to_backoff(self, info: QueuedPodInfo) -> None:
        """Move a pod to backoff unless a PreEnqueue plugin holds it. Without early popping, PreEnqueue runs later."""
        if self._settings.pops_early and self._is_gated(info):
            return
        self.unschedulable.delete(info.key)
        self.backoff.add(info)

    def _is_gated(self, info: QueuedPodInfo) -> bool:
        """Return whether a PreEnqueue plugin holds the pod; a held pod becomes unschedulable."""
        requeueing = self._requeueing_of(info.pod)
        gate = requeueing.gate(info.pod, info.gating_plugin) if requeueing is not None else ""
        if gate != info.gating_plugin:
            remember(info, self.undo)
            info.gating_plugin = gate
        if not gate:
            return False
        remember(info, self.undo)
        info.unschedulable_plugins |= {gate}
        self.unschedulable.put(info)
        return True
