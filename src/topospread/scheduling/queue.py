"""kube-scheduler's scheduling queue: active pods, pods that back off, and pods that wait for something to happen.

It says which pod is tried next; who tries it, and what time it is, is handed in. Source:
pkg/scheduler/backend/queue/scheduling_queue.go and active_queue.go of 1.37. Promised nodes stand in the cluster, and
what is said of pod groups alone in `pod_group_queue`.
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
"""How often `SchedulingQueue.flush_unschedulable_leftover` is due."""
LONGEST_STAY = 300 * SECOND
"""How long a pod waits for an event before it is tried without one."""

Clock = Callable[[], int]
"""Says what time it is, in nanoseconds."""


class KeepsGroups(Protocol):
    """A keeper of pods that are tried together (`pod_group_queue`)."""

    def takes(self, pod: Pod) -> bool:
        """Return whether a pod is tried together with others."""

    def add(self, info: QueuedPodInfo) -> None:
        """A new pod, or one that was tried."""

    def update(self, old: Pod, new: Pod, pod: PodKey) -> bool:
        """A pod without a node changed; False if it is not known here."""

    def happened(self, happened: EventWithObjects) -> None:
        """Look again at the groups that are kept out, where an event may let them in."""


class SchedulingQueue:
    """The queue. A pod is in one of its parts, or in flight between `pop` and `done`.

    Attributes:
        groups: pod groups, ``None`` where pods are tried one by one.

    Args:
        clock: what time it is.
        requeueing_of: the plugins of the profile that a pod names; ``None`` where there is no such profile.
        settings: how long pods back off.
        rules: how requests are counted, to tell whether an updated pod requests less.
        undo: with the cluster's own, the cluster's savepoints put the queue back, too.
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
    def in_flight(self) -> tuple[str, ...]:
        """Uids of the pods that are being tried."""
        return self._in_flight.uids

    # Pods come, are tried, and go.

    def add(self, pod: Pod, key: PodKey = "", kind: Hashable = None, since: int | None = None) -> QueuedPodInfo:
        """A new pod.

        ``key``: by default its own; ``kind``: pods of one kind are alike to every hint; ``since``: by default now.
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
        """A new pod that is popped at once: nothing keeps it out, and it comes before all that are active."""
        info = QueuedPodInfo(pod, key, pod.metadata.uid or key, since, kind, attempts=1, first_in_active=since)
        self._fly(info)
        return info

    def pop(self) -> QueuedPodInfo | None:
        """The pod to try next, now in flight; ``None`` where there is none to be tried yet."""
        while True:
            info = self.active.pop()
            if info is None and self._settings.pops_early:
                info = self.backoff.pop()
            if info is None:
                return None
            remember(info, self.undo)
            info.attempts += 1
            if info.uid not in self._in_flight:  # else it is tracked twice, and this one is dropped
                break
        self._fly(info)
        return info

    def fly(self, info: QueuedPodInfo) -> None:
        """A pod that was taken out of the queue for its turn is tried."""
        remember(info, self.undo)
        info.attempts += 1
        self._fly(info)

    def tried_in_vain(self, info: QueuedPodInfo, unschedulable: frozenset[str]) -> None:
        """`fly` and `add_unschedulable` at once, where nothing happened in between."""
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
        """The pod was bound, or given up: it is no longer in flight. What happened before others were popped is
        forgotten."""
        self._in_flight.end(uid)

    def add_unschedulable(
        self, info: QueuedPodInfo, unschedulable: Iterable[str] = (), pending: Iterable[str] = ()
    ) -> bool:
        """A popped pod found no node (``AddUnschedulablePodIfNotPresent``); False where it is here again already.

        Args:
            info: what was popped.
            unschedulable: the plugins that rejected it; neither these nor ``pending``: it failed by an error.
            pending: plugins that wait for something of their own; their hints spare the pod the backoff.
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
        """By plugins, or an error where none rejected it; it waits from now on."""
        if info.rejectors:
            info.unschedulable_count += 1
            info.errors = 0
        else:
            info.errors += 1
        info.timestamp = self.clock()
        info.backoff_expiration = info.flushed_at = None

    def update(self, old: Pod, new: Pod, key: PodKey = "", kind: Hashable = None) -> None:
        """A pod without a node changed, or one that was not known before is there."""
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
            # Without early popping a pod that backs off goes on, and may come to stand in two places, as there.
            if info.key in self.active or (self._settings.pops_early and info.key in self.backoff):
                return

    def delete(self, key: PodKey) -> None:
        """A pod without a node is gone."""
        if self.active.delete(key) is None and self.backoff.delete(key) is None:
            self.unschedulable.delete(key)

    def activate(self, pods: Iterable[tuple[PodKey, Pod]]) -> None:
        """Try pods at once that wait or back off; those in flight when they come back."""
        for key, pod in pods:
            info, backed_off = self.unschedulable.get(key), False
            if info is None:
                info, backed_off = self.backoff.delete(key), True
            if info is not None and self._to_active(info, asks_gates=not (backed_off and self._settings.pops_early)):
                continue
            if (pod.metadata.uid or key) in self._in_flight:
                self._in_flight.happened(EventWithObjects(FORCE_ACTIVATE, None, pod))

    # Something happens in the cluster.

    @property
    def listens(self) -> bool:
        """True if there are pods that an event may help, now or when they have been tried in vain."""
        return len(self.unschedulable) > 0 or len(self._in_flight) > 0

    def assigned_pod_added(self, pod: Pod, alike: Hashable = None) -> None:
        """A pod got a node, or one that has a node came."""
        self.move_all(ASSIGNED_POD_ADD, None, pod, alike=alike)

    def assigned_pod_updated(self, old: Pod, new: Pod, alike: Hashable = None) -> None:
        """A pod that has a node changed; ``alike``: equal where both states are alike to every hint."""
        for event in pod_changes(old, new, rules=self._rules):
            self.move_all(event, old, new, alike=alike)

    def assigned_pod_deleted(self, pod: Pod, alike: Hashable = None) -> None:
        """A pod that had a node is gone."""
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
            event: what happened; a wildcard moves all.
            old: the object before, ``None`` where it was not there.
            new: the object after, ``None`` where it is gone.
            check: which pods to look at at all.
            alike: equal for events whose objects are alike to every hint, so that hints are asked once for all.
        """
        if len(self.unschedulable):
            if check is not None and self.unschedulable.crowd is not None:
                self.unschedulable.crowd.let_all_go()
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
        """Forget answers after a change of what hints look up besides the event: Services, owners, classes."""
        self.unschedulable.forget_answers()

    # Time passes.

    def flush_backoff_completed(self) -> None:
        """Activate the pods whose wait is over; due every whole second (``flushBackoffQCompleted``)."""
        for info in self.backoff.pop_completed():
            self._to_active(info, asks_gates=not self._settings.pops_early)

    def flush_unschedulable_leftover(self, check: Callable[[QueuedPodInfo], bool] | None = None) -> None:
        """Try pods again that waited for more than five minutes; due every `FLUSH_PERIOD`.

        ``check``: which of them; kube-scheduler tries all.
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
        if leftover:
            self._in_flight.happened(EventWithObjects(UNSCHEDULABLE_TIMEOUT, None, None))

    # Where a pod goes.

    def _answer(self, group: Group, pod: Pod, happened: EventWithObjects) -> QueueingStrategy:
        """Return what an event means for a group of unschedulable pods; for gated pods only the gate's events count."""
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
        """The best of what happened while the pod was tried (``determineSchedulingHintForInFlightPod``)."""
        happenings = self._in_flight.since(info.uid)
        if happenings is None or not info.rejectors:
            return QueueingStrategy.AFTER_BACKOFF
        requeueing = self._requeueing_of(info.pod)
        if requeueing is not None and not requeueing.rules.hints:  # ``addUnschedulableWithoutQueueingHint``
            return QueueingStrategy.AFTER_BACKOFF if happenings else QueueingStrategy.SKIP
        best = QueueingStrategy.SKIP
        enough = QueueingStrategy.IMMEDIATELY if info.pending_plugins else QueueingStrategy.AFTER_BACKOFF
        for happened in happenings:
            best = max(best, self._strategy(info, *happened))
            if best >= enough:
                break
        return best

    def _requeue(self, info: QueuedPodInfo, strategy: QueueingStrategy) -> None:
        """Put a pod where the strategy says (``requeueEntityWithQueueingStrategy``)."""
        if strategy == QueueingStrategy.SKIP:
            self.unschedulable.put(info)
        elif strategy == QueueingStrategy.AFTER_BACKOFF and self.backoff.is_backing_off(info):
            self._to_backoff(info)
        else:
            self._to_active(info)

    def _to_active(self, info: QueuedPodInfo, *, asks_gates: bool = True) -> bool:
        """Make a pod active unless PreEnqueue keeps it out (``moveToActiveQ``); whether it is."""
        if asks_gates and self._is_gated(info):
            return False
        if info.first_in_active is None:
            remember(info, self.undo)
            info.first_in_active = self.clock()
        self.unschedulable.delete(info.key)
        self.active.put(info.key, info)
        return True

    def _to_backoff(self, info: QueuedPodInfo) -> None:
        """Let a pod back off unless PreEnqueue keeps it out; without early popping that is asked later."""
        if self._settings.pops_early and self._is_gated(info):
            return
        self.unschedulable.delete(info.key)
        self.backoff.add(info)

    def _is_gated(self, info: QueuedPodInfo) -> bool:
        """Ask the PreEnqueue plugins; a pod that one keeps out waits with the unschedulable ones."""
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
