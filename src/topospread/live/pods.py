"""The pods as a live scheduler knows them: waiting, assumed on a node, or seen there. Sends nothing, chooses nothing.

What a watch delivers of pods becomes changes of the cluster and events of the queue here, in kube-scheduler's order
(pkg/scheduler/eventhandlers.go, backend/cache/cache.go, backend/queue/nominator.go). Of pods that have a node only the
uid is kept: what they take stands in the cluster.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey, pod_key
from topospread.plugins.cluster_event import ASSIGNED_POD_DELETE
from topospread.scheduling.queue import SchedulingQueue

from .kinds import ReadPod
from .reflector import Key


@dataclass(slots=True, eq=False)
class Assumption:
    """A pod that was given a node here and has not been seen there yet.

    Attributes:
        bound: the API server has it there; until then it may have to be forgotten.
    """

    key: PodKey
    pod: ReadPod
    pod_class: PodClass
    node: str
    bound: bool = False


class Pods:
    """Takes what happens to pods.

    Args:
        cluster: counts those that have a node.
        queue: of those that wait.
        is_ours: whether a pod's ``spec.schedulerName`` names one of the profiles.
        gone: told of a waiting pod that is gone.

    Attributes:
        waiting: our pods that have no node as far as the API server has told.
        assigned: uid of the pods that have one.
        assumed: pods that were given one here.
        gets_labels: whether the API server gave the last pod that was bound here labels of its node.
        tells_of_promises: pods that wait hear of one that loses the node it was promised (since 1.33).
    """

    def __init__(
        self,
        cluster: Cluster,
        queue: SchedulingQueue,
        is_ours: Callable[[Pod], bool],
        gone: Callable[[PodKey], None] = lambda key: None,
    ) -> None:
        self._cluster = cluster
        self._queue = queue
        self._is_ours = is_ours
        self._gone = gone
        self.waiting: dict[PodKey, ReadPod] = {}
        self.assigned: dict[PodKey, str] = {}
        self.assumed: dict[PodKey, Assumption] = {}
        self._promised: dict[PodKey, str] = {}
        self.gets_labels = False
        self.tells_of_promises = True

    # What a reflector delivers.

    def keys(self) -> set[Key]:
        """Namespace and name of all pods that are known."""
        found = set()
        for key in (*self.waiting, *self.assigned):
            namespace, _, name = key.partition("/")
            found.add((namespace, name))
        return found

    def put(self, item: Any) -> None:
        """A pod came or changed."""
        pod: ReadPod = item
        key = pod_key(pod.namespace, pod.name)
        if pod.phase in FINISHED_PHASES:
            self.delete((pod.namespace, pod.name), pod)
        elif pod.spec.node_name:
            self._put_assigned(key, pod)
        elif self._is_ours(pod):
            self._put_waiting(key, pod)

    def delete(self, key: Key, item: Any) -> None:
        """A pod is gone."""
        name = pod_key(*key)
        if name in self.assigned:
            self._delete_assigned(name, item)
        elif name in self.waiting:
            self._delete_waiting(name)

    # Pods that have a node.

    def class_of(self, key: PodKey) -> PodClass | None:
        """The class of a pod that has a node, be that there or not, or is assumed on one."""
        return self._cluster.assigned_class(key)

    def _put_assigned(self, key: PodKey, pod: ReadPod) -> None:
        uid = pod.metadata.uid or ""
        known = self.assigned.get(key)
        if known == uid:
            self._update_assigned(key, pod)
            return
        if known is not None:
            self._delete_assigned(key, None)
        waiting = self.waiting.get(key)
        if waiting is not None and waiting.metadata.uid != uid:
            self._delete_waiting(key)
        assumption = self.assumed.pop(key, None)
        if assumption is not None and assumption.node == pod.spec.node_name:
            self.gets_labels = pod.labels != assumption.pod.labels
        self._promised.pop(key, None)
        self._cluster.put_pod(pod, key)
        self.assigned[key] = uid
        pod_class = self.class_of(key) if self._queue.listens else None
        self._queue.assigned_pod_added(pod, pod_class.key if pod_class is not None else None)
        if self.waiting.pop(key, None) is not None:
            self._queue.delete(key)
            self._gone(key)

    def _update_assigned(self, key: PodKey, pod: ReadPod) -> None:
        before = self.class_of(key)
        self._cluster.put_pod(pod, key)
        after = self.class_of(key)
        if before is not None and after is not None and before is not after:
            self._queue.assigned_pod_updated(_on_node(before, pod.spec.node_name or ""), pod)

    def _delete_assigned(self, key: PodKey, item: Pod | None) -> None:
        pod_class = self.class_of(key)
        del self.assigned[key]
        self._cluster.delete_pod(key)
        if pod_class is not None:
            self._queue.assigned_pod_deleted(item or _on_node(pod_class, "some-node"), pod_class.key)

    # Pods that wait.

    def _put_waiting(self, key: PodKey, pod: ReadPod) -> None:
        old = self.waiting.get(key)
        if key in self.assigned:
            self._delete_assigned(key, None)
        if old is not None and old.metadata.uid != pod.metadata.uid:
            self._delete_waiting(key)
            old = None
        self.waiting[key] = pod
        if old is None:
            self._promise(key, pod, pod.nominated_node_name)
            self._queue.add(pod, key, self._kind(pod))
        elif old.metadata.resource_version != pod.metadata.resource_version:
            self._update_waiting(key, old, pod)

    def _update_waiting(self, key: PodKey, old: ReadPod, pod: ReadPod) -> None:
        """``updatePodInSchedulingQueue``."""
        assumption = self.assumed.get(key)
        if assumption is not None:
            if pod.terminating and not old.terminating:
                self._abandon(assumption)
            return
        before, after = old.nominated_node_name, pod.nominated_node_name
        self._promise(key, pod, self._promised.get(key, "") if not before and not after else after)
        self._queue.update(old, pod, key, self._kind(pod))
        if before and before != after:
            self._promise_ended(old)

    def _delete_waiting(self, key: PodKey) -> None:
        """``deletePodFromSchedulingQueue``."""
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
        """A pod is no longer promised its node: to pods that are no more important that is a deletion."""
        if not self.tells_of_promises:
            return
        priority = pod.spec.priority or 0
        self._queue.move_all(ASSIGNED_POD_DELETE, pod, None, lambda other: (other.spec.priority or 0) <= priority)

    def promise(self, key: PodKey, node: str | None) -> None:
        """Promise a node to a waiting pod, "" for none; ``None``: what its status says (``AddNominatedPod``)."""
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
        """Pods of one kind are alike to every hint."""
        return self._kind(pod)

    def _kind(self, pod: Pod) -> tuple[int, str]:
        return self._cluster.shared_class(pod).key

    # Pods that were given a node here.

    def assume(self, key: PodKey, pod: ReadPod, node: str) -> Assumption:
        """Take note that a pod was placed in the cluster."""
        pod_class = self.class_of(key)
        assert pod_class is not None, "a pod is placed before it is assumed"
        assumption = self.assumed[key] = Assumption(key, pod, pod_class, node)
        self._promised.pop(key, None)
        return assumption

    def forget(self, assumption: Assumption) -> bool:
        """Take a pod off its node that could not be bound there (``ForgetPod``); False where that was done already."""
        if self.assumed.get(assumption.key) is not assumption:
            return False
        del self.assumed[assumption.key]
        self._cluster.delete_pod(assumption.key)
        return True

    def _abandon(self, assumption: Assumption) -> None:
        """An assumed pod is being deleted: its node is free for others at once (``handleAssumedPodDeletion``)."""
        if self.forget(assumption):
            self.released(assumption)

    def released(self, assumption: Assumption) -> None:
        """To pods that wait, a forgotten one is one that was deleted."""
        self._queue.assigned_pod_deleted(
            _on_node(assumption.pod_class, assumption.node, assumption.pod.metadata.uid), assumption.pod_class.key
        )


def _on_node(pod_class: PodClass, node: str, uid: str | None = None) -> Pod:
    """A pod of a class that has a node."""
    pod = pod_class.pod
    metadata = pod.metadata if uid is None else replace(pod.metadata, uid=uid)
    return replace(pod, metadata=metadata, spec=replace(pod.spec, node_name=node))
