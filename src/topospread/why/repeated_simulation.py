"""A prepared simulation that is repeated from the same start, with and without changes.

A savepoint restores the state after every run, so nothing is copied and the engine's caches stay valid. Pools grow in
every run, if the options have any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile

import numpy as np

from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster.cluster import pod_key
from topospread.controllers.planned import QueuedPod
from topospread.scheduling.cycle import Placement, Scheduler
from topospread.scheduling.verdict import Verdict
from topospread.simulation.placing import Progress, place_all
from topospread.simulation.run import PodOutcome, Run, as_served
from topospread.simulation.scaling import PoolScaler
from topospread.simulation.virtual_queue import VirtualQueue

Look = Callable[[Scheduler, Verdict, str], None]
"""Receives the scheduler, the verdict and the nominated node just before the pod is bound."""


class RepeatedSimulation:
    """A prepared run, and the savepoint to restore it.

    Attributes:
        run: the prepared run, which is never placed itself.
        queue: the pods to place.
        queued: ``id`` of a workload → number of its pods in ``queue``.
        placed: number of placement attempts so far, as a measure of the work.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.queue: tuple[QueuedPod, ...] = tuple(run.queue)
        self.queued = Counter(id(each.workload) for each in self.queue)
        self.placed = 0
        self._existing = {id(each): (each.existing, each.replicas) for each in run.plan.workloads}
        self._nodes = run.plan.inventory.nodes
        self._beginning = run.cluster.savepoint()

    def carry_out(
        self,
        queue: Sequence[QueuedPod] | None = None,
        progress: Progress | None = None,
        later: Sequence[QueuedPod] = (),
    ) -> Run:
        """Place a queue, from the start or after `without`, `withdraw`, `with_node` and `with_objects`.

        The state keeps the result until `restore`. ``later``: pods that are created once all other pods
        have been attempted.
        """
        return self._place(self.run.scheduler, self.queue if queue is None else queue, progress, later)

    def watch(
        self, key: str, pod: Pod, look: Look, progress: Progress | None = None, known: Mapping[str, str] | None = None
    ) -> Run:
        """Place the queue and call `look` before each binding of the pod.

        ``known``: pod key → node, in the order in which the queue is placed. If it has the pod, only the pods before it
        are bound, and only the pod itself is scheduled.
        """
        witness = _Witness(self.run, key, pod, look)
        if known and key in known and (again := self._as_known(witness, key, known)) is not None:
            return again
        return self._place(witness, self.queue, progress)

    def _as_known(self, witness: Scheduler, key: str, known: Mapping[str, str]) -> Run | None:
        """Return a run with the known nodes of the workload. If the pod gets another node, restore and return None."""
        run, cluster = self.run, self.run.cluster
        queued = {pod_key(each.namespace, each.name): each for each in self.queue}
        for each in takewhile(lambda each: each != key, known):
            run.scheduler.bind(each, cluster.shared_class(queued[each].pod), cluster.nodes.row_of[known[each]])
        placement = witness.schedule(queued[key].pod, queued[key].name)
        if placement.node != known[key]:
            self.restore()
            return None
        own = {name: each for name, each in queued.items() if each.workload is queued[key].workload}
        outcomes = {id(each): PodOutcome(Placement(name, known.get(name))) for name, each in own.items()}
        outcomes[id(queued[key])] = PodOutcome(placement)
        return Run(run.plan, witness, run.options, [*own.values()], outcomes)

    def _place(
        self,
        scheduler: Scheduler,
        queue: Sequence[QueuedPod],
        progress: Progress | None,
        later: Sequence[QueuedPod] = (),
    ) -> Run:
        run = self.run
        again = Run(run.plan, scheduler, run.options, queue=list(queue), owners=dict(run.owners))
        to_create = list(later)
        scaler = PoolScaler.of(run.options.pools)

        def create(_: Run, waiting: VirtualQueue) -> bool:
            if not to_create:
                return bool(scaler.pools) and scaler.grow(again, waiting)
            again.queue.extend(to_create)
            to_create.clear()
            waiting.created()
            return True

        place_all(again, progress, create if later or scaler.pools else None)
        self.placed += len(queue) + len(later)
        return again

    def without(self, pods: Sequence[Pod]) -> None:
        """Take pods off their nodes before a run, until `restore`."""
        cluster = self.run.cluster
        for pod in pods:
            key = pod_key(pod.namespace, pod.name)
            if key in cluster.placed:
                cluster.unbind(key)

    def withdraw(self, queued: Sequence[QueuedPod]) -> None:
        """Clear the nominations of pods that a change removes, until `restore`."""
        for each in queued:
            self.run.cluster.withdraw(pod_key(each.namespace, each.name))

    def node(self, name: str) -> Node:
        """Return the current state of a node."""
        nodes = self.run.cluster.nodes
        node = nodes.nodes[nodes.row_of[name]]
        assert node is not None, "only nodes that are there are changed"
        return node

    def with_node(self, node: Node) -> None:
        """Add a node, or replace the node with its name, until `restore`."""
        self.run.cluster.put_node(as_served(node))

    def with_objects(self, objects: Sequence[KubeObject]) -> None:
        """Add claims and StorageClasses, or replace those with the same name, until `restore`."""
        self.run.cluster.objects.add(objects)

    def restore(self) -> None:
        """Restore the state of the start."""
        self._beginning.rollback()
        self.run.plan.inventory.nodes = self._nodes
        for workload in self.run.plan.workloads:
            workload.existing, workload.replicas = self._existing[id(workload)]


def tried_pods(run: Run) -> list[QueuedPod]:
    """Return the queued pods, without DaemonSet pods for new nodes of pools."""
    planned = {id(each) for each in run.plan.queue}
    return [each for each in run.queue if each.workload.kind != "DaemonSet" or id(each) in planned]


class _Witness(Scheduler):
    """A scheduler that calls `look` just before it binds one pod."""

    def __init__(self, run: Run, key: str, pod: Pod, look: Look) -> None:
        super().__init__(run.cluster, run.scheduler.frameworks)
        self._key = key
        self._pod = pod
        self._look = look

    def schedule(self, pod: Pod, name: str | None = None, nominated: str = "", *, binds: bool = True) -> Placement:
        """Schedule a pod; call `look` first if it is the watched pod and a node is feasible."""
        if pod is self._pod and pod_key(pod.namespace, pod.name if name is None else name) == self._key:
            verdict = self.verdict(pod, name)
            if not verdict.error and np.any(verdict.blame < 0):
                self._look(self, verdict, nominated or pod.nominated_node_name)
        return super().schedule(pod, name, nominated, binds=binds)
