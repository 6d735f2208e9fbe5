"""The pods of a drill: whose each is, where it is, and whether it counts as there; who moves them is not here."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from topospread.api.pod import Pod
from topospread.cluster.cluster import PodKey, pod_key
from topospread.simulation.result import EvictedPod
from topospread.simulation.run import Run
from topospread.workloads.planned import QueuedPod, Workload

from .result import DrillPod

WorkloadKey = tuple[str, str, str]
"""Kind, namespace and name."""


def key_of(workload: Workload) -> WorkloadKey:
    """Return the key of a workload, the same in every plan."""
    return workload.kind, workload.namespace, workload.name


class FollowedPod(msgspec.Struct, eq=False):
    """One pod.

    Attributes:
        pod: as it was created, or as it stands in the input.
        name: its own; a pod that many replicas share has none.
        workload: ``None`` for pods that nobody creates anew: bare ones, and those of kubelets.
        node: "" while it waits.
        created, ready_since: seconds of the drill; negative for what was there before.
        terminating: it is being deleted, and its kubelet is not there to do so.
        queued: as it stands in the queue, for a pod that came there.
        leaves_at: when a taint drives it away, as it now stands.
        number: place in the order in which pods came.
    """

    pod: Pod
    namespace: str
    name: str
    workload: Workload | None
    node: str = ""
    created: float = -1.0
    ready_since: float = -1.0
    terminating: bool = False
    queued: QueuedPod | None = None
    leaves_at: float | None = None
    number: int = 0

    @property
    def key(self) -> PodKey:
        """``namespace/name``."""
        return pod_key(self.namespace, self.name)

    @property
    def labels(self) -> dict[str, str]:
        """Its labels."""
        return self.pod.labels


class FollowedPods:
    """All pods of a drill, by key, by node and by workload."""

    def __init__(self) -> None:
        self.by_key: dict[PodKey, FollowedPod] = {}
        self.waiting: dict[PodKey, FollowedPod] = {}
        self._added = 0
        self._on_node: dict[str, dict[PodKey, FollowedPod]] = {}
        self._of: dict[WorkloadKey, dict[PodKey, FollowedPod]] = {}

    def add(self, pod: FollowedPod) -> None:
        """A pod came: on a node, or to wait for one."""
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
        """A pod that waited has a node."""
        del self.waiting[pod.key]
        pod.node = node
        self._on_node.setdefault(node, {})[pod.key] = pod

    def move(self, pod: FollowedPod, node: str) -> None:
        """A pod turns out to be on another node."""
        del self._on_node[pod.node][pod.key]
        pod.node = node
        self._on_node.setdefault(node, {})[pod.key] = pod

    def remove(self, pod: FollowedPod) -> None:
        """A pod is gone."""
        del self.by_key[pod.key]
        self.waiting.pop(pod.key, None)
        if pod.workload is not None:
            del self._of[key_of(pod.workload)][pod.key]
        if pod.node:
            del self._on_node[pod.node][pod.key]

    def on(self, nodes: Iterable[str]) -> list[FollowedPod]:
        """The pods on some nodes, node after node."""
        return [pod for node in nodes for pod in self._on_node.get(node, {}).values()]

    def of(self, key: WorkloadKey) -> list[FollowedPod]:
        """The pods of a workload, those included that are being deleted."""
        return list(self._of.get(key, {}).values())


def there_of(pod: FollowedPod) -> DrillPod:
    """A pod as an event names it."""
    return DrillPod(pod.namespace, pod.name, owner_of(pod), pod.node)


def by_preemptor(evictions: Iterable[EvictedPod]) -> dict[str, list[DrillPod]]:
    """Pods that were preempted, by the pod that they had to make room for."""
    found: dict[str, list[DrillPod]] = {}
    for each in evictions:
        found.setdefault(each.preemptor, []).append(DrillPod(each.namespace, each.name, each.workload, each.node))
    return found


def owner_of(pod: FollowedPod | None) -> str:
    """``KIND/NAME`` of its workload, "" for none."""
    workload = pod.workload if pod is not None else None
    return f"{workload.kind}/{workload.name}" if workload is not None else ""


def waiting_pod(queued: QueuedPod, created: float = -1.0) -> FollowedPod:
    """A pod that came into the queue."""
    return FollowedPod(queued.pod, queued.namespace, queued.name, queued.workload, created=created, queued=queued)


def planned_pods(run: Run) -> Iterable[FollowedPod]:
    """All pods of a plan, the bare ones and those of kubelets included."""
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
