"""Node pools that grow for pending pods, by a simple model of an autoscaler.

The model processes the pending pods in kube-scheduler's order. For the first pod that fits on a new node of some pool,
it adds one node of the smallest such pool (by CPU, memory, name), with the node's DaemonSet pods. Then it retries all
pending pods. It stops when no new node would help. New nodes are ready immediately, are never removed, and are never in
a lost domain. Prices, timeouts, and limits of real autoscalers are ignored.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.pools import NodePool, new_names, on_paper
from topospread.api.well_known_labels import REGION, ZONE
from topospread.cluster.cluster import pod_key
from topospread.controllers.daemon_set import DaemonNodes, for_node
from topospread.controllers.fallback import Domain, lost_domains
from topospread.controllers.planned import QueuedPod, Workload
from topospread.plugins.interface import NotJudgedError
from topospread.plugins.pod_group_members import group_key
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.verdict import GANG

from .hypothetical_domains import unmet_min_domains
from .outcome import result_of
from .placing import Progress, place_all, place_waiting
from .result import PoolRefusal, PoolUse, Simulation
from .run import Run
from .virtual_queue import VirtualQueue

_PRICED = (
    "prices of --pools are not used: the smallest pool that helps grows; for the cheapest nodes: topospread capacity "
    "WORKLOAD --pools FILE"
)


def scaled_up(run: Run, progress: Progress | None = None) -> Simulation:
    """Place all pods of a run with growing pools. Return the result."""
    scaler = PoolScaler.of(run.options.pools)
    scaler.lost = lost_domains((each for each in run.cluster.nodes.nodes if each is not None), (ZONE, REGION))
    place_all(run, progress, scaler.grow)
    result = result_of(run)
    keys = {ZONE, *(each.topology_key for workload in result.workloads for each in workload.spread)}
    nodes = [each for each in run.cluster.nodes.nodes if each is not None]
    unmet = [f"{name}: {sentence}" for name, sentence in unmet_min_domains(run, scaler.pools)]
    priced = [_PRICED] if any(each.price is not None for each in scaler.pools) else []
    return replace(result, pools=tuple(scaler.uses(nodes, keys)), notes=(*result.notes, *unmet, *priced))


class PoolScaler(msgspec.Struct):
    """The node pools of a cluster.

    Attributes:
        pools: pools, smallest first.
        added: pool → names of its new nodes, in order.
        refused: pool → for each kind of pending pod, why it does not fit on a new node.
        lost: domains in which no node is added.
    """

    pools: Sequence[NodePool]
    added: dict[str, list[str]]
    refused: dict[str, list[PoolRefusal]] = {}
    lost: Collection[Domain] = ()

    @classmethod
    def of(cls, pools: Iterable[NodePool]) -> PoolScaler:
        """Return a scaler without added nodes."""
        ordered = sorted(pools, key=lambda pool: pool.size)
        return cls(ordered, {pool.name: [] for pool in ordered})

    def grow(self, run: Run, queue: VirtualQueue) -> bool:
        """Add a node for the first pod that it would help. Return whether a node was added."""
        waiting = [each for each in run.queue if (found := run.outcome(each)) and found.pending and found.verdict]
        node = self.wanted(run.scheduler, run.plan.workloads, waiting)
        if node is None:
            return False
        run.cluster.put_node(node)
        run.plan.inventory.nodes = [*run.plan.inventory.nodes, node]
        for row, pod in _daemon_pods(run.plan.workloads, node):
            row.replicas += 1
            run.queue.append(QueuedPod(pod, f"{row.name}-{node.name}", row, pod.spec.priority or 0))
        queue.created()
        place_waiting(run, queue, queue.now)
        queue.node_changed(None, node)
        return True

    def wanted(self, scheduler: Scheduler, workloads: Sequence[Workload], waiting: Iterable[QueuedPod]) -> Node | None:
        """Return a new node for the first waiting pod that fits on one; ``None`` if no pod does."""
        nodes = [each for each in scheduler.cluster.nodes.nodes if each is not None]
        growing = [each for each in self.pools if each.may_grow(nodes) and not lost_of(each, self.lost)]
        made = [(each, each.node(next(new_names(each, nodes)), nodes)) for each in growing]
        self.refused = {each.name: [] for each in growing}
        tried: set[tuple[int, str]] = set()
        waiting = list(waiting) if growing else []
        for queued in waiting:
            kind = scheduler.cluster.shared_class(queued.pod).key
            if kind in tried or queued.workload.kind == "DaemonSet":
                continue
            tried.add(kind)
            for pool, node in made:
                refusal = refusal_of(scheduler, workloads, node, queued)
                if refusal is None and not _helps_group(scheduler, workloads, pool, queued, waiting):
                    key, why = pod_key(queued.namespace, queued.name), "new nodes do not help its PodGroup"
                    refusal = PoolRefusal(key, GANG, (why,), ())
                if refusal is None:
                    self.added[pool.name].append(node.name)
                    return node
                self.refused[pool.name].append(refusal)
        return None

    def uses(self, nodes: Sequence[Node], keys: Collection[str]) -> Iterator[PoolUse]:
        """Yield the use of each pool, with domains of ``keys`` that it could add and that no node has."""
        paper = on_paper(self.pools, nodes)
        for pool in sorted(self.pools, key=lambda each: each.name):
            domains = {
                key: value
                for key, value in pool.labels.items()
                if key in keys and pool.name in paper.get(key, {}).get(value, ())
            }
            there = sum(map(pool.has, nodes))
            added = tuple(self.added[pool.name])
            lost = lost_of(pool, self.lost)
            may_grow = pool.may_grow(nodes) and not lost
            refused = tuple(self.refused.get(pool.name, ()))
            yield PoolUse(pool.name, pool.zone, there - len(added), added, pool.most, domains, may_grow, refused, lost)


def lost_of(pool: NodePool, lost: Collection[Domain]) -> str:
    """Return the lost domain that a new node of the pool would belong to; "" if there is none."""
    return next((label[1] for label in pool.labels.items() if label in lost), "")


def with_node(scheduler: Scheduler, workloads: Sequence[Workload], node: Node) -> None:
    """Add a node and place its DaemonSet pods."""
    scheduler.cluster.put_node(node)
    for row, pod in _daemon_pods(workloads, node):
        scheduler.schedule(pod, f"{row.name}-{node.name}")


def refusal_of(
    scheduler: Scheduler, workloads: Sequence[Workload], node: Node, queued: QueuedPod
) -> PoolRefusal | None:
    """Return why a pod does not fit on a new node with its DaemonSet pods, or is not judged; ``None`` if it fits."""
    cluster = scheduler.cluster
    with cluster.savepoint():
        with_node(scheduler, workloads, node)
        promised = pod_key(queued.namespace, queued.name)
        cluster.withdraw(promised)
        verdict = scheduler.verdict(queued.pod, queued.name)
    if node.name in verdict.feasible and not verdict.unjudged:
        return None
    rejection = verdict.rejected.get(node.name)
    selector = queued.pod.spec.node_selector or {}
    if rejection is None and verdict.unjudged:
        return PoolRefusal(promised, "", ("not judged",), ())
    return PoolRefusal(
        promised,
        "" if rejection is None else rejection.plugin,
        (verdict.error or verdict.pre_filter,) if rejection is None else rejection.reasons,
        tuple(f"{key}={value}" for key, value in selector.items() if node.labels.get(key) != value),
    )


def _helps_group(
    scheduler: Scheduler,
    workloads: Sequence[Workload],
    pool: NodePool,
    queued: QueuedPod,
    waiting: Iterable[QueuedPod],
) -> bool:
    """Return whether a pod's group fits with at most one new node for each of its pods; True for a single pod."""
    cluster, key = scheduler.cluster, group_key(queued.pod)
    if key is None or key not in (cluster.objects.whole_groups or ()):
        return True
    from topospread.scheduling.pod_groups import AttemptOptions, Member, try_group

    group = cluster.objects.pod_groups.get(key)
    pods = [(pod_key(each.namespace, each.name), each) for each in waiting if group_key(each.pod) == key]
    members = [Member(name, each.pod, each.name) for name, each in pods]
    nodes = [each for each in cluster.nodes.nodes if each is not None]
    most = len(nodes) + len(members)
    with cluster.savepoint():
        while group is not None and len(nodes) < most and pool.may_grow(nodes):
            nodes.append(pool.node(next(new_names(pool, nodes)), nodes))
            with_node(scheduler, workloads, nodes[-1])
            try:
                attempt = try_group(scheduler, group, members, AttemptOptions(preempts=False))
            except NotJudgedError:
                return False
            if any(each.row >= 0 for each in attempt.results):
                return True
    return False


def _daemon_pods(workloads: Sequence[Workload], node: Node) -> Iterator[tuple[Workload, Pod]]:
    nodes = DaemonNodes([node], comparison_operators=True)
    for row in workloads:
        if row.kind == "DaemonSet" and row.template is not None and nodes.for_pods_of(row.template.spec)[0]:
            yield row, for_node(row.template, node.name)
