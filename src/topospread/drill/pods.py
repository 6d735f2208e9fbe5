"""The pods of a drill, indexed by key, node and workload."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from topospread.admission.names import parent_and_ordinal
from topospread.api.inventory import ObjectKey, key_of
from topospread.api.pod import Pod
from topospread.cluster.cluster import PodKey, pod_key
from topospread.controllers.planned import QueuedPod, Workload
from topospread.simulation.result import EvictedPod
from topospread.simulation.run import Run

from .result import DrillPod


class FollowedPod(msgspec.Struct, eq=False):
    """A pod of a drill.

    Attributes:
        pod: the pod object as created, or from the input.
        name: its name; empty if replicas share one pod object.
        workload: its workload; None for bare pods and static pods, which are not replaced.
        node: its node; "" while it is pending.
        created, ready_since: drill times in seconds; negative for earlier events.
        terminating: whether it is deleted but its node is NotReady.
        is_unready: whether the input says that it is not ready on a Ready node. A drill never changes this.
        queued: its queue entry, if it was queued.
        leaves_at: time of its taint eviction, in the current state.
        number: position in the order of creation.
        key: ``namespace/name`` of the pod.
        compared: the template last compared, and whether the pod has its revision.
    """

    pod: Pod
    namespace: str
    name: str
    workload: Workload | None
    node: str = ""
    created: float = -1.0
    ready_since: float = -1.0
    terminating: bool = False
    is_unready: bool = False
    queued: QueuedPod | None = None
    leaves_at: float | None = None
    number: int = 0
    key: PodKey = ""
    compared: tuple[Pod, bool] | None = None

    def __post_init__(self) -> None:
        self.key = pod_key(self.namespace, self.name)

    @property
    def ordinal(self) -> int:
        """The number at the end of the pod's name; −1 without one."""
        return parent_and_ordinal(self.name)[1]

    @property
    def labels(self) -> dict[str, str]:
        """The pod's labels."""
        return self.pod.labels

    @property
    def is_refused(self) -> bool:
        """True if the API server refuses to create the pod."""
        return self.queued is not None and bool(self.queued.refused)


class FollowedPods:
    """All pods of a drill, by key, by node and by workload."""

    def __init__(self) -> None:
        self.by_key: dict[PodKey, FollowedPod] = {}
        self.waiting: dict[PodKey, FollowedPod] = {}
        self._added = 0
        self._on_node: dict[str, dict[PodKey, FollowedPod]] = {}
        self._of: dict[ObjectKey, dict[PodKey, FollowedPod]] = {}

    def add(self, pod: FollowedPod) -> None:
        """Add a pod, on a node or pending."""
        self._added += 1
        pod.number = self._added
        self.by_key[pod.key] = pod
        if pod.workload is not None:
            self._of.setdefault(key_of(pod.workload), {})[pod.key] = pod
        if pod.node:
            self._on_node.setdefault(pod.node, {})[pod.key] = pod
        else:
            self.waiting[pod.key] = pod

    def place(self, pod: FollowedPod, node: str) -> None:
        """Record the node of a pending pod."""
        del self.waiting[pod.key]
        pod.node = node
        self._on_node.setdefault(node, {})[pod.key] = pod

    def move(self, pod: FollowedPod, node: str) -> None:
        """Record that a pod is on another node."""
        del self._on_node[pod.node][pod.key]
        pod.node = node
        self._on_node.setdefault(node, {})[pod.key] = pod

    def remove(self, pod: FollowedPod) -> None:
        """Remove a pod."""
        del self.by_key[pod.key]
        self.waiting.pop(pod.key, None)
        if pod.workload is not None:
            del self._of[key_of(pod.workload)][pod.key]
        if pod.node:
            del self._on_node[pod.node][pod.key]

    def on(self, nodes: Iterable[str]) -> list[FollowedPod]:
        """Return the pods on these nodes, in the order of the nodes."""
        return [pod for node in nodes for pod in self._on_node.get(node, {}).values()]

    def of(self, key: ObjectKey) -> list[FollowedPod]:
        """Return the pods of a workload, including terminating ones."""
        return list(self._of.get(key, {}).values())


def there_of(pod: FollowedPod) -> DrillPod:
    """Return the pod as data for events."""
    return DrillPod(pod.namespace, pod.name, owner_of(pod), pod.node)


def by_preemptor(evictions: Iterable[EvictedPod]) -> dict[str, list[DrillPod]]:
    """Return preempting pod → its evicted pods."""
    found: dict[str, list[DrillPod]] = {}
    for each in evictions:
        found.setdefault(each.preemptor, []).append(DrillPod(each.namespace, each.name, each.workload, each.node))
    return found


def owner_of(pod: FollowedPod | None) -> str:
    """Return ``KIND/NAME`` of the pod's workload; "" without one."""
    workload = pod.workload if pod is not None else None
    return f"{workload.kind}/{workload.name}" if workload is not None else ""


def waiting_pod(queued: QueuedPod, created: float = -1.0) -> FollowedPod:
    """Return the entry of a pod that was added to the queue."""
    return FollowedPod(queued.pod, queued.namespace, queued.name, queued.workload, created=created, queued=queued)


def planned_pods(run: Run) -> Iterable[FollowedPod]:
    """Return all pods of a plan, including bare pods and static pods."""
    known: set[int] = set()
    workload: Workload | None
    for workload in run.plan.workloads:
        for pod in (*workload.existing, *workload.terminating):
            known.add(id(pod))
            owner = None if workload.kind == "Node" else workload
            yield FollowedPod(
                pod, pod.namespace, pod.name, owner, pod.spec.node_name or "", terminating=pod.terminating
            )
    for pod in run.plan.bound:
        if id(pod) not in known:
            yield FollowedPod(pod, pod.namespace, pod.name, None, pod.spec.node_name or "", terminating=pod.terminating)
    yield from (waiting_pod(each) for each in (*run.queue, *run.plan.gated))
