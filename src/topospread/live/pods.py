"""The pods of a live scheduler: pending, assumed on a node, or assigned to it by the API server.

A pod's change becomes changes of the cluster and events of the queue, in kube-scheduler's order
(pkg/scheduler/eventhandlers.go, backend/cache/cache.go, backend/queue/nominator.go). The cluster holds the requests of
assigned pods, so this module keeps only their uid. A pod's identity is its uid: names are used again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from msgspec.structs import replace

from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey, pod_key
from topospread.plugins.cluster_event import ASSIGNED_POD_DELETE
from topospread.scheduling.queue import SchedulingQueue

from .kinds import ReadPod
from .reflector import Key


class State(Enum):
    """The scheduler's knowledge of the pod with a given name.

    ABSENT pods are unknown, finished, or pending for another scheduler. WAITING pods are in the queue, also gated and
    terminating pods. ASSUMED pods were placed here, but the API server has not reported their node yet. ASSIGNED pods
    have a node in the API server.
    """

    ABSENT = 0
    WAITING = 1
    ASSUMED = 2
    ASSIGNED = 3


@dataclass(slots=True, eq=False)
class Assumption:
    """A pod that was placed here, but that the API server has not reported on its node.

    Attributes:
        bound: whether the API server accepted the binding. Until then the pod may still be forgotten.
    """

    key: PodKey
    pod: ReadPod
    pod_class: PodClass
    node: str
    bound: bool = False


class Pods:
    """Processes all changes of pods.

    Args:
        is_ours: whether a pod's ``spec.schedulerName`` names one of the profiles.
        opts_in: called for a pod that opts in to soft constraints (`fallback`).

    Attributes:
        waiting: our pending pods, according to the API server.
        assigned: uids of the pods with a node.
        gets_labels: whether the API server added node labels to the last pod that we bound.
        tells_of_promises: whether losing a nomination requeues other pods (since 1.33).
    """

    def __init__(
        self,
        cluster: Cluster,
        queue: SchedulingQueue,
        is_ours: Callable[[Pod], bool],
        gone: Callable[[PodKey], None] = lambda key: None,
        opts_in: Callable[[ReadPod], None] = lambda pod: None,
    ) -> None:
        self._cluster = cluster
        self._queue = queue
        self._is_ours = is_ours
        self._gone = gone
        self._opts_in = opts_in
        self.waiting: dict[PodKey, ReadPod] = {}
        self.assigned: dict[PodKey, str] = {}
        self.assumed: dict[PodKey, Assumption] = {}
        self._promised: dict[PodKey, str] = {}
        self.gets_labels = False
        self.tells_of_promises = True

    # Sink of a reflector.

    def keys(self) -> set[Key]:
        """Return namespace and name of all known pods."""
        found = set()
        for key in (*self.waiting, *self.assigned):
            namespace, _, name = key.partition("/")
            found.add((namespace, name))
        return found

    def put(self, item: Any) -> None:
        """Process a pod's newest state. The watch may have missed states in between."""
        pod: ReadPod = item
        if pod.metadata.annotations is not None and pod.metadata.annotations.fallback is not None:
            self._opts_in(pod)
        key = pod_key(pod.namespace, pod.name)
        before, uid = self._known(key)
        after = self._state_of(pod)
        if uid is not None and uid != (pod.metadata.uid or ""):
            _TRANSITIONS[before, State.ABSENT](self, key, None)
            before = State.ABSENT
        _TRANSITIONS[before, after](self, key, pod)

    def delete(self, key: Key, item: Any) -> None:
        """Process the deletion of a pod. Ignore it if a new pod has the name."""
        name = pod_key(*key)
        before, uid = self._known(name)
        if item is None or (item.metadata.uid or "") == uid:
            _TRANSITIONS[before, State.ABSENT](self, name, item)

    def identity(self, key: Key) -> tuple[str, str] | None:
        """Return the uid and the confirmed node of a known pod; the node of a pending pod is ""."""
        name = pod_key(*key)
        state, uid = self._known(name)
        if uid is None:
            return None
        return uid, self._cluster.assigned_node(name) if state is State.ASSIGNED else ""

    def expected_identity(self, pod: ReadPod) -> tuple[str, str] | None:
        """Return the `identity` of a pod if this is its newest state."""
        return None if self._state_of(pod) is State.ABSENT else (pod.metadata.uid or "", pod.spec.node_name or "")

    def _known(self, key: PodKey) -> tuple[State, str | None]:
        """Return the state and the uid of the pod that has this name."""
        if key in self.assigned:
            return State.ASSIGNED, self.assigned[key]
        pod = self.waiting.get(key)
        if pod is None:
            return State.ABSENT, None
        return State.ASSUMED if key in self.assumed else State.WAITING, pod.metadata.uid or ""

    def _state_of(self, pod: ReadPod) -> State:
        """Return the state that the API server gives the pod."""
        if pod.phase in FINISHED_PHASES:
            return State.ABSENT
        if pod.spec.node_name:
            return State.ASSIGNED
        return State.WAITING if self._is_ours(pod) else State.ABSENT

    def _ignore(self, key: PodKey, pod: ReadPod | None) -> None:
        """Drop a pod that is finished, or pending for another scheduler."""

    # Pods with a node.

    def class_of(self, key: PodKey) -> PodClass | None:
        """Return the class of a pod that is assumed or assigned to a node, which may be missing."""
        return self._cluster.assigned_class(key)

    def _add_assigned(self, key: PodKey, pod: ReadPod) -> None:
        """Add a pod that has a node (``addAssignedPodToCache``)."""
        self._cluster.put_pod(pod, key)
        self.assigned[key] = pod.metadata.uid or ""
        pod_class = self.class_of(key) if self._queue.listens else None
        self._queue.assigned_pod_added(pod, pod_class.key if pod_class is not None else None)

    def _confirm(self, key: PodKey, pod: ReadPod) -> None:
        """Process a pending pod that now has a node. Another scheduler may have bound it."""
        assumption = self.assumed.pop(key, None)
        if assumption is not None and assumption.node == pod.spec.node_name:
            self.gets_labels = pod.labels != assumption.pod.labels
        self._promised.pop(key, None)
        self._add_assigned(key, pod)
        del self.waiting[key]
        self._queue.delete(key)
        self._gone(key)

    def _update_assigned(self, key: PodKey, pod: ReadPod) -> None:
        """Process a change of a pod that has a node (``updateAssignedPodInCache``)."""
        before = self.class_of(key)
        self._cluster.put_pod(pod, key)
        after = self.class_of(key)
        if before is not None and after is not None and before is not after:
            self._queue.assigned_pod_updated(_on_node(before, pod.spec.node_name or ""), pod)

    def _delete_assigned(self, key: PodKey, item: Pod | None) -> None:
        """Delete a pod that has a node (``deleteAssignedPodFromCache``)."""
        pod_class = self.class_of(key)
        del self.assigned[key]
        self._cluster.delete_pod(key)
        if pod_class is not None:
            self._queue.assigned_pod_deleted(item or _on_node(pod_class, "some-node"), pod_class.key)

    def _unbind(self, key: PodKey, pod: ReadPod) -> None:
        """Queue a pod whose node the API server no longer reports."""
        self._delete_assigned(key, None)
        self._add_waiting(key, pod)

    # Pending pods.

    def _add_waiting(self, key: PodKey, pod: ReadPod) -> None:
        """Add a pending pod (``addPodToSchedulingQueue``)."""
        self.waiting[key] = pod
        self._promise(key, pod, pod.nominated_node_name)
        self._queue.add(pod, key, self.kind_of(pod))

    def _update_waiting(self, key: PodKey, pod: ReadPod) -> None:
        """Process a change of a pending pod (``updatePodInSchedulingQueue``)."""
        old, self.waiting[key] = self.waiting[key], pod
        if old.metadata.resource_version == pod.metadata.resource_version:
            return
        before, after = old.nominated_node_name, pod.nominated_node_name
        self._promise(key, pod, self._promised.get(key, "") if not before and not after else after)
        self._queue.update(old, pod, key, self.kind_of(pod))
        if before and before != after:
            self._promise_ended(old)

    def _update_assumed(self, key: PodKey, pod: ReadPod) -> None:
        """Free the node of an assumed pod when its deletion starts (``handleAssumedPodDeletion``)."""
        old, self.waiting[key] = self.waiting[key], pod
        if pod.terminating and not old.terminating:
            self._abandon(self.assumed[key])

    def _delete_waiting(self, key: PodKey, item: Pod | None) -> None:
        """Delete a pending pod (``deletePodFromSchedulingQueue``)."""
        pod = self.waiting.pop(key)
        self._queue.delete(key)
        self._gone(key)
        assumption = self.assumed.get(key)
        if assumption is not None:
            self._abandon(assumption)
            return
        self._promise(key, pod, "")
        if pod.nominated_node_name:
            self._promise_ended(pod)

    def _promise_ended(self, pod: ReadPod) -> None:
        """Process the end of a nomination. Pods of equal or lower priority are requeued as after a deletion."""
        if not self.tells_of_promises:
            return
        priority = pod.spec.priority or 0
        self._queue.move_all(ASSIGNED_POD_DELETE, pod, None, lambda other: (other.spec.priority or 0) <= priority)

    def promise(self, key: PodKey, node: str | None) -> None:
        """Nominate a node for a pending pod (``AddNominatedPod``): "" clears it, None takes it from the status."""
        pod = self.waiting.get(key)
        if pod is not None:
            self._promise(key, pod, pod.nominated_node_name if node is None else node)

    def _promise(self, key: PodKey, pod: ReadPod, node: str) -> None:
        if node:
            self._promised[key] = node
            self._cluster.nominate(key, self._cluster.pod_class(pod), node)
        elif self._promised.pop(key, None) is not None:
            self._cluster.withdraw(key)

    def kind_of(self, pod: Pod) -> tuple[int, str]:
        """Return the key of equivalent pods, to which every queueing hint responds equally."""
        return self._cluster.shared_class(pod).key

    # Pods that were placed here.

    def assume(self, key: PodKey, pod: ReadPod, node: str) -> Assumption:
        """Record that a pod was placed in the cluster state."""
        pod_class = self.class_of(key)
        assert pod_class is not None, "a pod is placed before it is assumed"
        assumption = self.assumed[key] = Assumption(key, pod, pod_class, node)
        self._promised.pop(key, None)
        return assumption

    def forget(self, assumption: Assumption) -> bool:
        """Remove a pod that could not be bound (``ForgetPod``). Return False if that was done before."""
        if self.assumed.get(assumption.key) is not assumption:
            return False
        del self.assumed[assumption.key]
        self._cluster.delete_pod(assumption.key)
        return True

    def _abandon(self, assumption: Assumption) -> None:
        """Free the node of an assumed pod that is being deleted (``handleAssumedPodDeletion``)."""
        if self.forget(assumption):
            self.released(assumption)

    def released(self, assumption: Assumption) -> None:
        """Requeue pods after a forgotten pod, as after a deletion."""
        self._queue.assigned_pod_deleted(
            _on_node(assumption.pod_class, assumption.node, assumption.pod.metadata.uid), assumption.pod_class.key
        )


_TRANSITIONS: dict[tuple[State, State], Callable[[Pods, PodKey, Any], None]] = {
    (State.ABSENT, State.ABSENT): Pods._ignore,
    (State.ABSENT, State.WAITING): Pods._add_waiting,
    (State.ABSENT, State.ASSIGNED): Pods._add_assigned,
    (State.WAITING, State.ABSENT): Pods._delete_waiting,
    (State.WAITING, State.WAITING): Pods._update_waiting,
    (State.WAITING, State.ASSIGNED): Pods._confirm,
    (State.ASSUMED, State.ABSENT): Pods._delete_waiting,
    (State.ASSUMED, State.WAITING): Pods._update_assumed,
    (State.ASSUMED, State.ASSIGNED): Pods._confirm,
    (State.ASSIGNED, State.ABSENT): Pods._delete_assigned,
    (State.ASSIGNED, State.WAITING): Pods._unbind,
    (State.ASSIGNED, State.ASSIGNED): Pods._update_assigned,
}
"""(known state, reported state) of a pod with the same uid → handler. A changed uid is a deletion and an addition."""


def _on_node(pod_class: PodClass, node: str, uid: str | None = None) -> Pod:
    pod = pod_class.pod
    metadata = pod.metadata if uid is None else replace(pod.metadata, uid=uid)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))
