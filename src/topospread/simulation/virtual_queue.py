"""The scheduling queue of a run in virtual time.

Scheduling a pod takes no time. Planned pods arrive in the order of the plan, and a pod without a node waits for an
event that may help it. Time advances only when no pod is active: to the end of backoffs, or by five minutes if the
cluster changed since a pod's last attempt. Callers with their own events limit the time (``until``).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.cluster.cluster import PodKey, pod_key
from topospread.cluster.pod_class import namespaces_asked
from topospread.config.version_rules import rules_for
from topospread.controllers.planned import QueuedPod
from topospread.plugins.cluster_event import ADD, NODE_TAINT, UPDATE, ClusterEvent, always
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.scheduling.object_changes import node_changes, taints_changed
from topospread.scheduling.pod_group_queue import UNSCHEDULED_POD_ADD, PodGroupQueue
from topospread.scheduling.queue import FLUSH_PERIOD, LONGEST_STAY, SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo, queue_order
from topospread.scheduling.requeueing import Requeueing, RequeueingRules, requeueing_of
from topospread.scheduling.verdict import Verdict

from .active_queue_batch import ActiveQueueBatch
from .batched_unschedulable_pods import BatchedUnschedulablePods, RejectionSource
from .cached_rejections import CachedRejections
from .run import PodOutcome, Run, repeated

_ASSIGNED_POD_UPDATE = ClusterEvent("AssignedPod", UPDATE)
_SOME_NODE = "some-node"
_SOME_TIME = "2006-01-02T15:04:05Z"
_HINTS_TELL_ALL = frozenset(
    {
        *("NodeAffinity", "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesFit", "NodeUnschedulable"),
        *("PodTopologySpread", "TaintToleration"),
    }
)
"""Plugins whose queueing hints miss no event of a run, in which pods are only placed and removed.

Hints of InterPodAffinity miss terms that select namespaces by labels; hints of VolumeRestrictions miss disks of pods in
other namespaces.
"""


_READ_TAINTS = frozenset({"NodeUnschedulable", "PodTopologySpread", "TaintToleration"})
"""Plugins whose hints for changed taints read only the node's taints and label keys."""


class VirtualQueue:
    """The pods of a run that have no node.

    For speed, a planned pod is added to `queue` only after its first attempt failed.
    """

    def __init__(self, run: Run) -> None:
        gates = next(iter(run.scheduler.frameworks.values())).gates
        settings = BackoffSettings(pops_early=gates.enabled("SchedulerPopFromBackoffQ"))
        self._rules = rules_for(RequeueingRules, gates)
        cluster = run.cluster
        self.queue = SchedulingQueue(lambda: self._now, self.plugins_of, settings, cluster.rules, cluster.undo)
        self._run = run
        self._now = 0
        self._planned = sorted(range(len(run.queue)), key=lambda i: -run.queue[i].priority)
        self._plan_size = len(run.queue)
        self._arrived = 0
        self._seen = len(run.queue)
        self._current: tuple[int, QueuedPodInfo | None] = (0, None)
        self._entered: dict[str, QueuedPod] = {}
        self._held: dict[int, list[int]] = {}
        self._group_stamps: dict[str, int] = {}
        self.groups: PodGroupQueue | None = None
        self._plugins: dict[str | None, Requeueing] = {}
        self._with_node: dict[tuple[int, str], Pod] = {}
        self._promised = bool(run.cluster.nominated)
        self._others_changed = False
        self._turns = ActiveQueueBatch(self.queue)
        self.refusals = CachedRejections(run.scheduler)
        judge = RejectionSource(
            self._may_be_one_of_many,
            self._refused,
            lambda info: self.refusals.equivalence_class(cluster.shared_class(info.pod)),
            self.refusals.fallen,
            lambda info, last: self._repeat(self._entered[info.key], last),
            self._note_stamp,
            self._stamp,
        )
        self._batch = BatchedUnschedulablePods(self.queue, judge)

    def take_in(self, groups: PodGroupQueue, places: Mapping[int, object], gated: Iterable[QueuedPod]) -> None:
        """Add the pods of groups that are scheduled together, if their controllers have created the pods.

        Args:
            groups: queue of the groups.
            places: positions of the groups' pods in the run's queue, in order, as keys.
            gated: the groups' pods with scheduling gates.
        """
        self.groups = self.queue.groups = groups
        for queued in gated:
            self._enter(queued, self._now)
        for place in places:
            queued = self._run.queue[place]
            if queued.after is None:
                self._enter(queued, self._since(place))
            else:
                self._held.setdefault(id(queued.after), []).append(place)
        self._planned = [place for place in self._planned if place not in places]

    @property
    def group(self) -> QueuedPodInfo | None:
        """The current pod group; ``None`` while a single pod is scheduled."""
        info = self._current[1]
        return info if info is not None and info.members else None

    def member(self, key: PodKey) -> QueuedPod:
        """Return a pod of the current group."""
        return self._entered[key]

    def group_tried(self, info: QueuedPodInfo, code: str, placed: Sequence[PodKey]) -> None:
        """Record the attempt of the current group.

        Args:
            info: record of the group.
            code: code of the attempt's status.
            placed: keys of the group's pods that got nodes.
        """
        groups = self.groups
        assert groups is not None, "a group was tried"
        self._now += 1
        self._group_stamps[info.key] = self._run.cluster.journal.stamp
        groups.tried(info, code)
        for key in placed:
            queued = self._entered.pop(key)
            self._created_after(queued)
            if self.queue.listens or groups.gated:
                cluster = self._run.cluster
                pod_class = cluster.on_node[cluster.placed[key]][key]
                self.queue.assigned_pod_added(self._assigned(pod_class), pod_class.key)

    @property
    def now(self) -> int:
        """Nanoseconds since the run began."""
        return self._now

    def __len__(self) -> int:
        """Return the number of pods to schedule before time advances."""
        in_queue = len(self.queue.active) + self.queue.backoff.rejected + len(self._turns)
        return len(self._planned) - self._arrived + in_queue + self._batch.due

    @property
    def is_empty(self) -> bool:
        """True if no pod waits except the current pod, also no pod that its StatefulSet has yet to create."""
        return not len(self) and self.queue.is_empty and not self._held

    def pass_over(self) -> int:
        """Record rejections of the next pods until one must be scheduled. Return the number of rejections."""
        tried = 0
        if self._arrived < len(self._planned):
            return tried
        self.queue.unschedulable.batch = self._batch
        while True:
            before = tried
            if self._batch.due:
                together = self._batch.pass_over(self._turns.first())
                self._now += together
                tried += together
            tried += self._pass_over_one_by_one()
            if tried == before:
                return tried

    def _pass_over_one_by_one(self) -> int:
        """Record rejections of next pods outside the batch of unschedulable pods, up to a pod that must be scheduled or
        that follows a pod of the batch. Return the number of rejections.
        """
        tried = 0
        for info in self._turns.following():
            if self._batch.due and (rank := self._batch.first()) is not None and rank < (self._turns.first() or rank):
                break
            rejectors = None if info.members else self._refused_again(self._entered[info.key])
            if not rejectors:
                break
            self._turns.drop(info)
            self._now += 1
            self.queue.record_rejection(info, rejectors)
            tried += 1
        return tried

    def next(self, until: int | None = None) -> QueuedPod | None:
        """Return the next pod to schedule; ``None`` if no attempt would change anything.

        ``until``: limit of the virtual time, in nanoseconds since the run began; no limit by default.
        """
        while True:
            planned = self._next_planned()
            if planned is not None:
                return planned
            info = self._turns.pop()
            if info is not None:
                self._current = (-1, info)
                return self._entered[info.members[0].key if info.members else info.key]
            if not self._let_time_pass(until):
                return None

    def _next_planned(self) -> QueuedPod | None:
        """Return the next pod of the plan, unless a pod of the queue precedes it."""
        if self._arrived == len(self._planned):
            return None
        place = self._planned[self._arrived]
        queued = self._run.queue[place]
        first = self.queue.active.peek()
        if first is not None and queue_order(first) < (-queued.priority, self._since(place)):
            return None
        self._arrived += 1
        self._current = (place, None)
        return queued

    def hold(self, queued: QueuedPod) -> None:
        """Hold the current pod back: its StatefulSet creates it once its predecessor has a node."""
        self._held.setdefault(id(queued.after), []).append(self._current[0])

    def bound(self, queued: QueuedPod, key: PodKey) -> None:
        """Record that the current pod has a node. Move pods that this may help, and create its successors."""
        info = self._current[1]
        if info is not None:
            self.queue.done(info.uid)
            del self._entered[info.key]
        self._created_after(queued)
        if len(self.queue.unschedulable) or (self.groups is not None and self.groups.gated):
            cluster = self._run.cluster
            pod_class = cluster.on_node[cluster.placed[key]][key]
            self.queue.assigned_pod_added(self._assigned(pod_class), pod_class.key)

    def _created_after(self, queued: QueuedPod) -> None:
        """Create the StatefulSet's pods that were held until this pod had a node."""
        for place in self._held.pop(id(queued), ()) if self._held else ():
            self._enter(self._run.queue[place], self._since(place))

    def preempts(self) -> None:
        """Record that the current pod evicts pods. It stays in flight, so events of the evictions can requeue it."""
        self._promised = True
        place, info = self._current
        if info is None:
            self._current = (place, self._taken(place))

    def evicted(self, pod_class: PodClass) -> None:
        """Handle the eviction of a pod in favour of the current pod."""
        self.queue.assigned_pod_deleted(self._assigned(pod_class), pod_class.key)

    def created(self) -> None:
        """Add the pods that controllers appended to the run's queue."""
        queue = self._run.queue
        for queued in queue[self._seen :]:
            self._now += 1
            self._enter(queued, self._now)
        self._seen = len(queue)

    def withdrawn(self, queued: QueuedPod) -> None:
        """Remove a deleted pending pod."""
        key, group = pod_key(queued.namespace, queued.name), group_key(queued.pod)
        self.queue.delete(key)
        if self.groups is not None and group is not None:
            self.groups.delete(group, key)
            self._group_stamps.clear()
        self._entered.pop(key, None)

    def write_back(self) -> None:
        """Write the outcomes of pods in the batch to the run, for a caller that reads them before the run ends."""
        self._batch.let_all_go()

    def leave_out(self, placed: Collection[int]) -> None:
        """Remove planned pods that were placed before the first attempt. ``placed``: their ``id``."""
        self._planned = [place for place in self._planned if id(self._run.queue[place]) not in placed]

    def terminating(self, pod_class: PodClass) -> None:
        """Handle the deletion of an assigned pod that is still terminating: selectors no longer count it."""
        old = self._assigned(pod_class)
        new = replace(old, metadata=replace(old.metadata, deletion_timestamp=_SOME_TIME))
        self.queue.move_all(_ASSIGNED_POD_UPDATE, old, new, alike=pod_class.key if self._hints_read_updates else True)
        self._others_changed = True

    def node_changed(self, old: Node | None, new: Node) -> None:
        """Handle a node that was added or changed."""
        for event in [ClusterEvent("Node", ADD)] if old is None else node_changes(old, new):
            alike = None
            if old is not None and event.action == NODE_TAINT and self._hints_read_taints_alone:
                alike = taints_changed(old, new)
            self.queue.move_all(event, old, new, alike=alike)
        self._others_changed = True

    @cached_property
    def _hints_read_taints_alone(self) -> bool:
        """True if the hints for changed taints read only data of a node that `taints_changed` covers."""
        return self._hinting(ClusterEvent("Node", NODE_TAINT)) <= _READ_TAINTS

    @cached_property
    def _hints_read_updates(self) -> bool:
        """True if a hint may read a pod that was updated."""
        return not self._rules.hints or bool(self._hinting(_ASSIGNED_POD_UPDATE))

    def _hinting(self, event: ClusterEvent) -> frozenset[str]:
        """Return the plugins with their own hint for an event, which do not requeue on every such event."""
        found = [requeueing_of(each, self._run.cluster) for each in self._run.scheduler.frameworks.values()]
        heard = (each for plugins in found for each in plugins.interested(event))
        return frozenset(plugin for plugin, hint in heard if hint is not always)

    def at(self, now: int) -> None:
        """Advance the clock to ``now``, in ns since the run began, and activate pods whose backoff has ended."""
        self._now = max(self._now, now)
        self.queue.flush_backoff_completed()
        self._batch.flush_backoff_completed()

    def failed(self, verdict: Verdict | None) -> None:
        """Return the current pod to the queue as unschedulable, or to backoff after an error."""
        self._now += 1
        rejectors = verdict.rejectors if verdict is not None and not verdict.error else frozenset()
        place, info = self._current
        if info is None and rejectors:
            # The common case. It has the effect of `take` and `add_unschedulable` without an event between them.
            self.queue.unschedulable.put(self._new(place, rejectors))
        else:
            self.queue.add_unschedulable(self._taken(place) if info is None else info, rejectors)

    def _new(self, place: int, rejectors: frozenset[str]) -> QueuedPodInfo:
        """Return the record of a planned pod whose first attempt was rejected by plugins."""
        queued, since = self._run.queue[place], self._since(place)
        kind, key = self._run.cluster.shared_class(queued.pod).key, self._key(queued)
        return QueuedPodInfo(
            queued.pod,
            key,
            queued.pod.metadata.uid or key,
            self._now,
            kind,
            attempts=1,
            unschedulable_count=1,
            first_in_active=since,
            unschedulable_plugins=rejectors,
        )

    def _taken(self, place: int) -> QueuedPodInfo:
        queued = self._run.queue[place]
        kind = self._run.cluster.shared_class(queued.pod).key
        return self.queue.take(queued.pod, self._key(queued), kind, self._since(place))

    def _enter(self, queued: QueuedPod, since: int) -> None:
        self.queue.add(queued.pod, self._key(queued), self._run.cluster.shared_class(queued.pod).key, since)
        if self.groups is not None:
            if self.groups.takes(queued.pod):
                self._group_stamps.clear()  # a group with another pod may have another result, so try it again
            self.queue.move_all(UNSCHEDULED_POD_ADD, None, queued.pod)

    def _key(self, queued: QueuedPod) -> PodKey:
        """Return the pod's key, and store the pod under it."""
        key = pod_key(queued.namespace, queued.name)
        self._entered[key] = queued
        return key

    def _since(self, place: int) -> int:
        """Return the creation time of a planned pod: before the run, one nanosecond apart."""
        return place - self._plan_size

    def _let_time_pass(self, until: int | None) -> bool:
        """Advance time to the next flush of unschedulable pods if it may help one, else to the end of all backoffs.

        Return False if neither can change anything. The flush skips pods that would again find no node.
        """
        cluster, infos = self._run.cluster, self.queue.backoff.infos
        waits = [self.queue.backoff.expiration(each) - self._now for each in infos if each.members]
        longest = max([self.queue.backoff.settings.maximum, *(each + SECOND for each in waits)])
        failed = any(self._tried_at(info) != cluster.journal.stamp for info in infos)
        flushes = until is None or self._now + LONGEST_STAY + FLUSH_PERIOD <= until
        if not flushes and not (failed and until is not None and self._now + longest <= until):
            return False
        told_all = self._told_all()
        hopes: dict[Hashable, bool] = {}

        def may_help(info: QueuedPodInfo) -> bool:
            if info.pod.spec.scheduling_gates or info.rejectors <= told_all:
                return False
            if self._tried_at(info) == cluster.journal.stamp:
                return False
            if info.kind not in hopes:
                hopes[info.kind] = self._finds_a_node(info)
            return hopes[info.kind]

        helps = flushes and any(may_help(info) for info in self.queue.unschedulable.infos)
        if not failed and not helps:
            return False
        self._now += LONGEST_STAY + FLUSH_PERIOD if helps else longest
        self.queue.flush_backoff_completed()
        self.queue.flush_unschedulable_leftover(may_help)
        return True

    def _finds_a_node(self, info: QueuedPodInfo) -> bool:
        """Return whether a retry after five minutes may succeed."""
        scheduler = self._run.scheduler
        if not scheduler.finds_a_node(info.pod):
            return False
        if not self._others_changed:
            return True
        return bool(scheduler.pending_verdict(info.pod, info.key.partition("/")[2]).feasible)

    def _told_all(self) -> frozenset[str]:
        """Return the plugins whose hints missed no event in this run.

        Return the empty set if a nomination may have ended, or if nodes or other objects changed.
        """
        if self._promised or self._others_changed:
            return frozenset()
        cluster = self._run.cluster
        told = _HINTS_TELL_ALL
        if not self._rules.hints and not self._rules.spread_hears_of_pods:
            told -= {"PodTopologySpread"}
        by_labels = any(None in namespaces_asked(each.pod) for each in cluster.classes.values())
        return told if by_labels else told | {"InterPodAffinity"}

    def _tried_at(self, info: QueuedPodInfo) -> int:
        """Return the journal stamp of the last attempt at a pod or group."""
        if info.members:
            return self._group_stamps.get(info.key, -1)
        outcome = self._run.outcome(self._entered[info.key])
        return -1 if outcome is None else outcome.stamp

    def _may_be_one_of_many(self, info: QueuedPodInfo) -> bool:
        """Return whether the batch may hold the pod: plugins rejected it, and only its class decides that."""
        odd = info.errors or info.pending_plugins or info.gating_plugin or info.pod.spec.scheduling_gates
        if odd or info.kind is None or not info.unschedulable_count or info.first_in_active is None:
            return False
        queued = self._entered[info.key]
        outcome = self._run.outcome(queued)
        if outcome is None or not outcome.is_plain or outcome.verdict is None or outcome.verdict.error:
            return False
        return queued.after is None and queued.workload.kind != "DaemonSet"

    def _refused(self, info: QueuedPodInfo) -> PodOutcome | None:
        """Return the cached rejection of the pod's class; ``None`` if the pod must be scheduled."""
        cluster = self._run.cluster
        last = None if cluster.nominated else self.refusals.of(cluster.shared_class(info.pod))
        return None if last is None or last.verdict is None or last.verdict.error else last

    def refused_last(self, queued: QueuedPod) -> PodOutcome | None:
        """Return the outcome of the last rejected pod of a pod's class, if it still holds."""
        if queued.workload.kind == "DaemonSet":  # each of its pods requires another node
            return None
        return self.refusals.of(self._run.cluster.shared_class(queued.pod))

    def _refused_again(self, queued: QueuedPod) -> frozenset[str] | None:
        """Return the plugins that reject a pod again; ``None`` if it must be scheduled."""
        last = None if queued.after is not None else self.refused_last(queued)
        if last is None or last.verdict is None or last.verdict.error or not self._repeat(queued, last):
            return None
        return last.verdict.rejectors

    def _repeat(self, queued: QueuedPod, last: PodOutcome) -> bool:
        """Record that a pod is rejected like the last pod of its class. Return False if it must be scheduled."""
        outcome = repeated(last, self._run, queued)
        if outcome is not None:
            self._run.outcomes[id(queued)] = outcome
        return outcome is not None

    def _note_stamp(self, info: QueuedPodInfo, stamp: int) -> None:
        outcome = self._run.outcome(self._entered[info.key])
        if outcome is not None:
            outcome.stamp = stamp

    def _stamp(self) -> int:
        return self._run.cluster.journal.stamp

    def _assigned(self, pod_class: PodClass) -> Pod:
        """Return a pod of the class with a node. No hint reads which node it is."""
        pod = self._with_node.get(pod_class.key)
        if pod is None:
            spec = replace(pod_class.pod.spec, node_name=_SOME_NODE)
            pod = self._with_node[pod_class.key] = replace(pod_class.pod, spec=spec)
        return pod

    def plugins_of(self, pod: Pod) -> Requeueing:
        """Return the plugins of the pod's profile that decide when it is retried."""
        plugins = self._plugins.get(pod.spec.scheduler_name)
        if plugins is None:
            cluster = self._run.cluster
            framework = self._run.scheduler.framework_of(cluster.shared_class(pod))
            plugins = self._plugins[pod.spec.scheduler_name] = requeueing_of(framework, cluster)
        return plugins
