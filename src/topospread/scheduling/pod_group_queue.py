"""Pod groups in the scheduling queue: the pods of a PodGroup wait and are scheduled as one entity.

A group is in the active queue, in backoff, or here if PreEnqueue gates it. Pods without their PodGroup wait here, too.

Source: pkg/scheduler/backend/queue/scheduling_queue.go and plugins/gangscheduling of Kubernetes 1.37.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable

from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSpec
from topospread.api.pod_groups import PodGroup
from topospread.cluster import Cluster
from topospread.cluster.cluster import PodKey
from topospread.cluster.objects import Key
from topospread.plugins.cluster_event import ADD, UPDATE, ClusterEvent
from topospread.plugins.pod_group_members import group_key

from .object_changes import pod_changes
from .pod_groups import Member, min_count, scheduled_count
from .queue import LONGEST_STAY, SchedulingQueue
from .queued_pod_info import QueuedPodInfo, remember
from .requeueing import EventWithObjects, QueueingStrategy, Requeueing, pod_worth_requeuing
from .verdict import GANG

UNSCHEDULED_POD_ADD = ClusterEvent("UnscheduledPod", ADD)
_HEARD: tuple[ClusterEvent, ...] = (
    UNSCHEDULED_POD_ADD,
    ClusterEvent("AssignedPod", ADD),
    ClusterEvent("PodGroup", ADD),
    ClusterEvent("PodGroup", UPDATE),
)
"""Events that may end the gating of a group by GangScheduling."""


class PodGroupQueue:
    """The groups of a queue.

    Args:
        cluster: the cluster, to look up PodGroups and placed pods.
        requeueing_of: returns the plugins of a pod's profile.

    Attributes:
        gated: groups that PreEnqueue gates.
        incomplete: pods whose PodGroup does not exist.
        members: pods without nodes, in any part of the queue.
    """

    def __init__(
        self, queue: SchedulingQueue, cluster: Cluster, requeueing_of: Callable[[Pod], Requeueing | None]
    ) -> None:
        self._queue = queue
        self._cluster = cluster
        self._requeueing_of = requeueing_of
        self.gated: dict[Key, QueuedPodInfo] = {}
        self.incomplete: dict[Key, dict[PodKey, QueuedPodInfo]] = {}
        self.members: dict[Key, dict[PodKey, QueuedPodInfo]] = {}
        self._flying: Key | None = None
        self._pending: tuple[QueuedPodInfo, ...] = ()

    # Pods are added and deleted.

    def takes(self, pod: Pod) -> bool:
        """Return whether a pod belongs to a group that is scheduled together."""
        key, whole = group_key(pod), self._cluster.objects.whole_groups
        return key is not None and (whole is None or key in whole)

    def add(self, info: QueuedPodInfo) -> None:
        """Add a new pod, or a pod after an attempt."""
        self._remember()
        key = group_key(info.pod)
        assert key is not None, "it belongs to a group"
        self.members.setdefault(key, {})[info.key] = info
        self._enter(key, info)

    def _enter(self, key: Key, info: QueuedPodInfo) -> None:
        group = self._cluster.objects.pod_groups.get(key)
        if group is None:
            self.incomplete.setdefault(key, {})[info.key] = info
            return
        found, strategy = self._take(key)
        if found is not None:
            remember(found, self._queue.undo)
            found.members = _with(found.members, info)
            self._requeue(key, found, strategy)
        elif self._flying == key:
            self._pending = _with(self._pending, info)
        else:
            self._to_active(key, _entity(group, (info,)))

    def delete(self, key: Key, pod: PodKey) -> None:
        """Remove a deleted pending pod. It still counts for minCount until its group is next evaluated."""
        self._remember()
        for waiting in self.incomplete.get(key, {}), self.members.get(key, {}):
            waiting.pop(pod, None)
        found, strategy = self._take(key)
        if found is None:
            self._pending = tuple(each for each in self._pending if each.key != pod)
            return
        remember(found, self._queue.undo)
        left = tuple(each for each in found.members if each.key != pod)
        gone = len(found.members) - len(left)
        found.members = left
        if left:
            self._requeue(key, found, strategy, still_counted=gone)

    def update(self, old: Pod, new: Pod, pod: PodKey) -> bool:
        """Update a pending pod. Return False for an unknown pod."""
        key = group_key(new)
        info = None if key is None else self.members.get(key, {}).get(pod)
        if key is None or info is None:
            return False
        self._remember()
        remember(info, self._queue.undo)
        info.pod = new
        gated = self.gated.get(key)
        for event in pod_changes(old, new, is_target=True, rules=self._cluster.rules) if gated is not None else ():
            if gated is not None and self._wakes(gated, EventWithObjects(event, old, new)):
                self._requeue(key, gated, QueueingStrategy.AFTER_BACKOFF)
                break
        return True

    # PodGroups are added and deleted. The cluster has the change already.

    def group_added(self, key: Key) -> None:
        """Enqueue the pods that waited for a new PodGroup."""
        self._remember()
        for info in sorted(self.incomplete.pop(key, {}).values(), key=_order):
            self._enter(key, info)

    def group_deleted(self, key: Key) -> None:
        """Let the pods of a deleted PodGroup wait for it."""
        self._remember()
        found, _ = self._take(key)
        left = found.members if found is not None else self._pending if self._flying == key else ()
        if left:
            self.incomplete[key] = {each.key: each for each in left}
        if found is None and self._flying == key:
            self._pending = ()

    # Attempts of a group.

    def popped(self, info: QueuedPodInfo) -> tuple[PodGroup | None, list[Member]]:
        """Return the PodGroup and the pods of a popped group. The group is in flight until `tried` is called."""
        self._remember()
        self._flying = key = _key(info)
        for each in info.members:
            remember(each, self._queue.undo)
            each.attempts += 1
        members = [Member(each.key, each.pod, each.key.partition("/")[2]) for each in info.members]
        return self._cluster.objects.pod_groups.get(key), members

    def failed(self, info: QueuedPodInfo, rejectors: Iterable[str] = ()) -> None:
        """Record that a pod of the group in flight found no node."""
        self._remember()
        remember(info, self._queue.undo)
        info.unschedulable_plugins, info.pending_plugins, info.gating_plugin = frozenset(rejectors), frozenset(), ""
        if info.unschedulable_plugins:
            info.unschedulable_count += 1
            info.errors = 0
        else:
            info.errors += 1
        info.timestamp = self._queue.clock()
        self.add(info)

    def dissolve(self, info: QueuedPodInfo) -> None:
        """Queue the pods of the in-flight group one by one, because topospread does not model the group.

        The caller ensures that `takes` then returns False for them."""
        self._remember()
        self._queue.done(info.uid)
        self._flying = None
        del self.members[_key(info)]
        for each in info.members:
            self._queue.add(each.pod, each.key, each.kind, each.timestamp)

    def bound(self, key: Key, pod: PodKey) -> None:
        """Record that a pod of a group has a node."""
        self._remember()
        self.members.get(key, {}).pop(pod, None)

    def tried(self, info: QueuedPodInfo, code: str) -> None:
        """End the attempt of a group (``AddAttemptedPodGroupIfNeeded``); ``code``: code of its status."""
        self._remember()
        self._queue.done(info.uid)
        key, before = _key(info), {each.key for each in info.members}
        pending, self._pending, self._flying = self._pending, (), None
        if not pending:
            return
        remember(info, self._queue.undo)
        again = any(each.key in before for each in pending)
        info.members = pending
        if code == "Success":
            info.errors = info.unschedulable_count = 0
        elif code == "Unschedulable":
            info.unschedulable_count += 1
            info.errors = 0
        else:
            info.errors += 1
        if code != "Success":
            info.backoff_expiration = None
        if code != "Success" or not again:
            info.timestamp = self._queue.clock()
        info.flushed_at = None
        if code != "Success" and self._queue.backoff.is_backing_off(info):
            self._to_backoff(key, info)
        else:
            self._to_active(key, info)

    # Events of the cluster.

    def happened(self, happened: EventWithObjects) -> None:
        """Requeue unschedulable groups that an event may help."""
        if not self.gated:
            return
        for key, info in list(self.gated.items()):
            event = happened.event
            if (event.wildcard or self._concerns(info, event)) and self._wakes(info, happened):
                self._requeue(key, info, QueueingStrategy.AFTER_BACKOFF)

    def flush(self) -> None:
        """Reconsider groups that have been gated for more than five minutes."""
        now = self._queue.clock()
        for key, info in list(self.gated.items()):
            if now - info.waits_since > LONGEST_STAY:
                self._remember()
                remember(info, self._queue.undo)
                info.flushed_at = now
                self._requeue(key, info, QueueingStrategy.AFTER_BACKOFF)

    def _concerns(self, info: QueuedPodInfo, event: ClusterEvent) -> bool:
        if info.gating_plugin == GANG:
            return any(each.covers(event) for each in _HEARD)
        requeueing = self._requeueing_of(info.pod)
        return requeueing is not None and requeueing.concerns(info.gating_plugin, event)

    def _wakes(self, info: QueuedPodInfo, happened: EventWithObjects) -> bool:
        """Return whether an event may make any pod of a group schedulable (``isEntityWorthRequeuing``)."""
        if info.gating_plugin == GANG and self._hint(_key(info), happened):
            return True
        for each in info.members:
            if not each.rejectors:
                return True
            rejectors = (each.unschedulable_plugins, each.pending_plugins)
            if pod_worth_requeuing(self._requeueing_of(each.pod), each.pod, rejectors, happened, each.uid):
                return True
        return False

    def _hint(self, key: Key, happened: EventWithObjects) -> bool:
        """Return whether GangScheduling's hint for an event requeues a group."""
        new = happened.new
        if isinstance(new, Pod):
            return group_key(new) == key
        if not isinstance(new, PodGroup) or (new.namespace, new.name) != key:
            return False
        old = happened.old
        if not isinstance(old, PodGroup):
            return True
        gangs = old.spec.scheduling_policy.gang, new.spec.scheduling_policy.gang
        return None not in gangs and min_count(new) < min_count(old)

    # The part of the queue that a group moves to.

    def _take(self, key: Key) -> tuple[QueuedPodInfo | None, QueueingStrategy]:
        """Remove a group from its part of the queue and return it with its queueing strategy."""
        queue, name = self._queue, _name(key)
        info = queue.active.delete(name)
        if info is not None:
            return info, QueueingStrategy.IMMEDIATELY
        info = queue.backoff.delete(name)
        if info is not None:
            return info, QueueingStrategy.AFTER_BACKOFF
        return self.gated.pop(key, None), QueueingStrategy.SKIP

    def _requeue(self, key: Key, info: QueuedPodInfo, strategy: QueueingStrategy, *, still_counted: int = 0) -> None:
        if strategy == QueueingStrategy.SKIP:
            self.gated[key] = info
        elif strategy == QueueingStrategy.AFTER_BACKOFF and self._queue.backoff.is_backing_off(info):
            self._to_backoff(key, info, still_counted)
        else:
            self._to_active(key, info, still_counted)

    def _to_active(self, key: Key, info: QueuedPodInfo, still_counted: int = 0) -> None:
        if self._is_gated(key, info, still_counted):
            return
        if info.first_in_active is None:
            info.first_in_active = self._queue.clock()
        self.gated.pop(key, None)
        self._queue.active.put(info.key, info)

    def _to_backoff(self, key: Key, info: QueuedPodInfo, still_counted: int = 0) -> None:
        if self._queue.backoff.settings.pops_early and self._is_gated(key, info, still_counted):
            return
        self.gated.pop(key, None)
        self._queue.backoff.add(info)

    def _is_gated(self, key: Key, info: QueuedPodInfo, still_counted: int) -> bool:
        """Return whether a PreEnqueue plugin gates the group, which then waits here."""
        remember(info, self._queue.undo)
        info.gating_plugin = self._gate(key, info, still_counted)
        if not info.gating_plugin:
            return False
        self.gated[key] = info
        return True

    def _gate(self, key: Key, info: QueuedPodInfo, still_counted: int) -> str:
        group = self._cluster.objects.pod_groups.get(key)
        if group is None:
            return GANG
        if group.spec.scheduling_policy.gang is not None:
            count = len(self.members.get(key, ())) + still_counted
            if count < min_count(group) and count + scheduled_count(self._cluster, key) < min_count(group):
                return GANG
        requeueing = self._requeueing_of(info.pod)
        found = ""
        for each in info.members if requeueing is not None else ():
            gate = requeueing.gate(each.pod, each.gating_plugin) if requeueing is not None else ""
            if gate != each.gating_plugin:
                remember(each, self._queue.undo)
                each.gating_plugin = gate
                if gate:
                    each.unschedulable_plugins |= {gate}
            found = gate or found
        return found

    def _remember(self) -> None:
        """Record the state before a change, for an open savepoint."""
        undo = self._queue.undo
        if undo.steps is not None:
            parts = [{key: dict(pods) for key, pods in each.items()} for each in (self.incomplete, self.members)]
            undo.record(self._restore, dict(self.gated), *parts, self._flying, self._pending)

    def _restore(
        self,
        gated: dict[Key, QueuedPodInfo],
        incomplete: dict[Key, dict[PodKey, QueuedPodInfo]],
        members: dict[Key, dict[PodKey, QueuedPodInfo]],
        flying: Key | None,
        pending: tuple[QueuedPodInfo, ...],
    ) -> None:
        self.gated, self.incomplete, self.members = gated, incomplete, members
        self._flying, self._pending = flying, pending


def _order(info: QueuedPodInfo) -> tuple[int, int, int, str]:
    """Return the sort key of a pod within its group (``PodGroupMemberPodsOrderingFunc``)."""
    return -info.priority, -info.attempts, info.timestamp, info.key


def _with(infos: tuple[QueuedPodInfo, ...], new: QueuedPodInfo) -> tuple[QueuedPodInfo, ...]:
    at = bisect_right(infos, _order(new), key=_order)
    return (*infos[:at], new, *infos[at:])


def _entity(group: PodGroup, members: tuple[QueuedPodInfo, ...]) -> QueuedPodInfo:
    """Return the queue entry of a group. Its pod is a placeholder with the group's name and priority."""
    first = members[0]
    spec = PodSpec(priority=group.spec.priority or 0, scheduler_name=first.pod.spec.scheduler_name)
    pod = Pod(metadata=ObjectMeta(name=group.name, namespace=group.namespace), spec=spec)
    name = _name((group.namespace, group.name))
    return QueuedPodInfo(pod, name, name, first.timestamp, members=members)


def _name(key: Key) -> str:
    """Return a group's key in the queue. No pod has such a key."""
    return f"podgroup/{key[0]}/{key[1]}"


def _key(info: QueuedPodInfo) -> Key:
    return info.pod.namespace, info.pod.name
