"""The scheduling queue of a run, in virtual time: which pod is tried next, and what becomes of it. It tries none.

To try a pod takes no time. Planned pods come in the order of the plan, one that found no node waits for what may help
it, and time passes only where nothing else is to be done: waits end and five minutes go by, as long as the cluster is
not what it was when a pod was last tried. Who knows when something else happens says how far time may pass.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property

from msgspec.structs import replace

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import PodClass
from topospread.cluster.cluster import PodKey, pod_key
from topospread.cluster.pod_class import namespaces_asked
from topospread.config.version_rules import rules_for
from topospread.plugins.cluster_event import ADD, NODE_TAINT, ClusterEvent, always
from topospread.scheduling.backoff_queue import BackoffSettings
from topospread.scheduling.object_changes import node_changes, taints_changed
from topospread.scheduling.pod_group_queue import UNSCHEDULED_POD_ADD, PodGroupQueue
from topospread.scheduling.queue import FLUSH_PERIOD, LONGEST_STAY, SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo, queue_order
from topospread.scheduling.requeueing import Requeueing, RequeueingRules, requeueing_of
from topospread.scheduling.verdict import Verdict
from topospread.workloads.planned import QueuedPod

from .active_queue_batch import ActiveQueueBatch
from .batched_unschedulable_pods import BatchedUnschedulablePods, RejectionSource
from .cached_rejections import CachedRejections
from .run import Run

_SOME_NODE = "some-node"
_SOME_TIME = "2006-01-02T15:04:05Z"
_HINTS_TELL_ALL = frozenset(
    {
        *("NodeAffinity", "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesFit", "NodeUnschedulable"),
        *("PodTopologySpread", "TaintToleration"),
    }
)
"""Plugins whose hints miss nothing of what happens in a run: pods get nodes and lose them.

InterPodAffinity's pass over terms that select namespaces by labels, VolumeRestrictions' over disks of pods in others.
"""


_READ_TAINTS = frozenset({"NodeUnschedulable", "PodTopologySpread", "TaintToleration"})
"""Plugins that ask of a node with other taints for these, and for which keys it has labels."""


class VirtualQueue:
    """The pods of a run that have no node.

    A planned pod enters `queue` only where its first attempt fails: added and popped at once, it would leave no trace
    there.
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
        self._again: Callable[[Sequence[QueuedPod]], frozenset[str] | None] = lambda alike: None
        judge = RejectionSource(
            self._may_be_one_of_many,
            self._refused,
            lambda info: self.refusals.equivalence_class(cluster.shared_class(info.pod)),
            self.refusals.fallen,
            self._refused_again,
            self._note_stamp,
            self._stamp,
        )
        self._batch = BatchedUnschedulablePods(self.queue, judge)

    def take_in(self, groups: PodGroupQueue, places: Mapping[int, object]) -> None:
        """Pods that are tried together stand in the queue from the beginning, if their controllers have made them.

        ``places``: of the pods in the run's queue, in order.
        """
        self.groups = self.queue.groups = groups
        for place in places:
            queued = self._run.queue[place]
            if queued.after is None:
                self._enter(queued, self._since(place))
            else:
                self._held.setdefault(id(queued.after), []).append(place)
        self._planned = [place for place in self._planned if place not in places]

    @property
    def group(self) -> QueuedPodInfo | None:
        """The pod group at hand, ``None`` while a pod is."""
        info = self._current[1]
        return info if info is not None and info.members else None

    def member(self, key: PodKey) -> QueuedPod:
        """A pod of the group at hand."""
        return self._entered[key]

    def group_tried(self, info: QueuedPodInfo, code: str, placed: Sequence[PodKey]) -> None:
        """The group at hand was tried; ``code``: of its status, ``placed``: its pods that have nodes."""
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
        """Time in nanoseconds since the run began."""
        return self._now

    def __len__(self) -> int:
        """Return how many pods are tried before time passes."""
        in_queue = len(self.queue.active) + self.queue.backoff.rejected + len(self._turns)
        return len(self._planned) - self._arrived + in_queue + self._batch.due

    def pass_over(self, again: Callable[[Sequence[QueuedPod]], frozenset[str] | None]) -> int:
        """Let pods whose turn it is be tried in vain, until one comes for which that is not certain; how many were.

        ``again``: the plugins that reject pods of a class as they did before; ``None`` where they have to be tried.
        """
        tried = 0
        if self._arrived < len(self._planned):
            return tried
        self._again = again
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
        """Pass over pods of the queue itself, up to one that comes after a pod of the crowd; return how many."""
        tried = 0
        for info in self._turns.following():
            if self._batch.due and (rank := self._batch.first()) is not None and rank < (self._turns.first() or rank):
                break
            rejectors = None if info.members else self._again([self._entered[info.key]])
            if not rejectors:
                break
            self._turns.drop(info)
            self._now += 1
            self.queue.record_rejection(info, rejectors)
            tried += 1
        return tried

    def next(self, until: int | None = None) -> QueuedPod | None:
        """The pod to try now; ``None`` where trying any would change nothing.

        ``until``: how far time may pass, in nanoseconds since the run began; by default as far as it changes anything.
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
        """The next pod of the plan, unless one in the queue comes before it."""
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
        """The pod at hand is not created before the one that it comes after has a node."""
        self._held.setdefault(id(queued.after), []).append(self._current[0])

    def bound(self, queued: QueuedPod, key: PodKey) -> None:
        """The pod at hand has a node: those that it may help are moved, and what waited for it is created."""
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
        """Create the pods that waited for this one to have a node."""
        for place in self._held.pop(id(queued), ()) if self._held else ():
            self._enter(self._run.queue[place], self._since(place))

    def preempts(self) -> None:
        """The pod at hand evicts others: what happens from now on counts when it comes back, nominated."""
        self._promised = True
        place, info = self._current
        if info is None:
            self._current = (place, self._taken(place))

    def evicted(self, pod_class: PodClass) -> None:
        """A pod lost its node for the sake of the one at hand."""
        self.queue.assigned_pod_deleted(self._assigned(pod_class), pod_class.key)

    def created(self) -> None:
        """Pods were put at the end of the run's queue: controllers create them now."""
        queue = self._run.queue
        for queued in queue[self._seen :]:
            self._now += 1
            self._enter(queued, self._now)
        self._seen = len(queue)

    def withdrawn(self, queued: QueuedPod) -> None:
        """A pod that waits is deleted."""
        key = pod_key(queued.namespace, queued.name)
        self.queue.delete(key)
        self._entered.pop(key, None)

    def terminating(self, pod_class: PodClass) -> None:
        """A pod that has a node is being deleted, and stays there for now: it is not counted any more."""
        old = self._assigned(pod_class)
        metadata = replace(old.metadata, deletion_timestamp=_SOME_TIME)
        self.queue.assigned_pod_updated(old, replace(old, metadata=metadata), (pod_class.key, _SOME_TIME))
        self._others_changed = True

    def node_changed(self, old: Node | None, new: Node) -> None:
        """A node came, or is in another state."""
        for event in [ClusterEvent("Node", ADD)] if old is None else node_changes(old, new):
            alike = None
            if old is not None and event.action == NODE_TAINT and self._hints_read_taints_alone:
                alike = taints_changed(old, new)
            self.queue.move_all(event, old, new, alike=alike)
        self._others_changed = True

    @cached_property
    def _hints_read_taints_alone(self) -> bool:
        """True if who hears of a node's new taints asks for no more of the node than `taints_changed` says."""
        found = [requeueing_of(each, self._run.cluster) for each in self._run.scheduler.frameworks.values()]
        heard = [each for plugins in found for each in plugins.interested(ClusterEvent("Node", NODE_TAINT))]
        return all(hint is always or plugin in _READ_TAINTS for plugin, hint in heard)

    def at(self, now: int) -> None:
        """Advance the clock to ``now``, in ns since the run began, and activate pods whose backoff has ended."""
        self._now = max(self._now, now)
        self.queue.flush_backoff_completed()
        self._batch.flush_backoff_completed()

    def failed(self, verdict: Verdict | None) -> None:
        """The pod at hand found no node: it waits for what may help it, or, after an error, for its time."""
        self._now += 1
        rejectors = verdict.rejectors if verdict is not None and not verdict.error else frozenset()
        place, info = self._current
        if info is None and rejectors:
            # What `take` and `add_unschedulable` come to where nothing happened in between, as of most pods of a plan.
            self.queue.unschedulable.put(self._new(place, rejectors))
        else:
            self.queue.add_unschedulable(self._taken(place) if info is None else info, rejectors)

    def _new(self, place: int, rejectors: frozenset[str]) -> QueuedPodInfo:
        """A pod of the plan whose first attempt plugins rejected."""
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
            self.queue.move_all(UNSCHEDULED_POD_ADD, None, queued.pod)

    def _key(self, queued: QueuedPod) -> PodKey:
        """The pod's key, under which it is remembered from now on."""
        key = pod_key(queued.namespace, queued.name)
        self._entered[key] = queued
        return key

    def _since(self, place: int) -> int:
        """Return when a pod of the plan was created: all before the run, one after the other."""
        return place - len(self._planned)

    def _let_time_pass(self, until: int | None) -> bool:
        """Wait until every wait is over and five minutes have passed; False where that can change nothing.

        Of the pods that five minutes bring back, those are left where they are that would find no node again.
        """
        if until is not None and self._now + LONGEST_STAY + FLUSH_PERIOD > until:
            return False
        cluster = self._run.cluster
        told_all = self._told_all()
        hopes: dict[Hashable, bool] = {}

        def may_help(info: QueuedPodInfo) -> bool:
            if info.rejectors <= told_all:
                return False
            if self._tried_at(info) == cluster.journal.stamp:
                return False
            if info.kind not in hopes:
                hopes[info.kind] = self._finds_a_node(info)
            return hopes[info.kind]

        failed = any(self._tried_at(info) != cluster.journal.stamp for info in self.queue.backoff.infos)
        helps = any(may_help(info) for info in self.queue.unschedulable.infos)
        if not failed and not helps:
            return False
        waits = [self.queue.backoff.expiration(each) - self._now for each in self.queue.backoff.infos if each.members]
        longest = max([self.queue.backoff.settings.maximum, *(each + SECOND for each in waits)])
        self._now += LONGEST_STAY + FLUSH_PERIOD if helps else longest
        self.queue.flush_backoff_completed()
        self.queue.flush_unschedulable_leftover(may_help)
        return True

    def _finds_a_node(self, info: QueuedPodInfo) -> bool:
        """Return whether there is hope for a pod; where time matters to somebody none passes for a vain one."""
        scheduler = self._run.scheduler
        if not scheduler.finds_a_node(info.pod):
            return False
        return not self._others_changed or bool(scheduler.verdict(info.pod, info.key.partition("/")[2]).feasible)

    def _told_all(self) -> frozenset[str]:
        """Plugins whose hints have missed nothing in this run; none where a promise of a node may have lapsed, or where
        more happened than that pods got nodes and lost them."""
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
        """Return whether a pod that waits was refused by plugins as pods mostly are, and its class says all of it."""
        odd = info.errors or info.pending_plugins or info.gating_plugin or info.pod.spec.scheduling_gates
        if odd or info.kind is None or not info.unschedulable_count or info.first_in_active is None:
            return False
        queued = self._entered[info.key]
        outcome = self._run.outcome(queued)
        if outcome is None or not outcome.is_plain or outcome.verdict is None or outcome.verdict.error:
            return False
        return queued.after is None and queued.workload.kind != "DaemonSet"

    def _refused(self, info: QueuedPodInfo) -> Verdict | None:
        """The verdict on pods like this one that would be refused as the last was; ``None``: they have to be tried."""
        cluster = self._run.cluster
        last = None if cluster.nominated else self.refusals.of(cluster.shared_class(info.pod))
        return None if last is None or last.verdict is None or last.verdict.error else last.verdict

    def _refused_again(self, infos: Sequence[QueuedPodInfo]) -> None:
        self._again([self._entered[info.key] for info in infos])

    def _note_stamp(self, info: QueuedPodInfo, stamp: int) -> None:
        outcome = self._run.outcome(self._entered[info.key])
        if outcome is not None:
            outcome.stamp = stamp

    def _stamp(self) -> int:
        return self._run.cluster.journal.stamp

    def _assigned(self, pod_class: PodClass) -> Pod:
        """A pod of the class that has a node; on which it is matters to no hint."""
        pod = self._with_node.get(pod_class.key)
        if pod is None:
            spec = replace(pod_class.pod.spec, node_name=_SOME_NODE)
            pod = self._with_node[pod_class.key] = replace(pod_class.pod, spec=spec)
        return pod

    def plugins_of(self, pod: Pod) -> Requeueing:
        """The plugins of a pod's profile, as far as waiting pods are concerned."""
        plugins = self._plugins.get(pod.spec.scheduler_name)
        if plugins is None:
            cluster = self._run.cluster
            framework = self._run.scheduler.framework_of(cluster.shared_class(pod))
            plugins = self._plugins[pod.spec.scheduler_name] = requeueing_of(framework, cluster)
        return plugins
