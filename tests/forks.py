"""Copies of clusters and queues that go their own way: what tests compare an excursion with."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import numpy as np

from topospread.cluster import Cluster
from topospread.cluster.images import ImageState
from topospread.cluster.nodes import NodeTable
from topospread.cluster.objects import ClusterObjects
from topospread.cluster.pod_class import PodClass, signature
from topospread.cluster.pod_classes import PodClasses
from topospread.cluster.pod_order import PodOrder
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import QueuedPodInfo


def fork(cluster: Cluster) -> Cluster:
    """Return an independent copy of a cluster. Open savepoints are not taken along."""
    made = Cluster(cluster.rules)
    made.nodes = _nodes(cluster.nodes)
    made.volume_use.users = {ref: dict(rows) for ref, rows in cluster.volume_use.users.items()}
    made.volume_use._of_claim = {claim: set(refs) for claim, refs in cluster.volume_use._of_claim.items()}
    made.objects = ClusterObjects(made.journal, made.undo, made.volume_use, made.nodes.row_of)
    _copy_objects(cluster.objects, made.objects)
    _copy_classes(cluster._classes, made._classes)
    classes = made.classes

    def counterpart(other: PodClass) -> PodClass:
        known = classes.get(other.index)
        return known or made._classes._of(other.pod, other.node_name, is_node_pinned=other.is_node_pinned)

    made.placed = dict(cluster.placed)
    made.on_node = [{key: classes[each.index] for key, each in pods.items()} for pods in cluster.on_node]
    made.order = PodOrder(made.on_node)
    made.order._moved = {row: list(keys) for row, keys in cluster.order._moved.items()}
    made.pods_on_missing_nodes._by_node = {
        node: {key: (counterpart(each), started) for key, (each, started) in pods.items()}
        for node, pods in cluster.pods_on_missing_nodes._by_node.items()
    }
    made.pods_on_missing_nodes._node_of = dict(cluster.pods_on_missing_nodes._node_of)
    made.ports.in_use = {
        port: {row: set(ips) for row, ips in rows.items()} for port, rows in cluster.ports.in_use.items()
    }
    made.started = dict(cluster.started)
    made._nominations._row_of = made.nodes.row_of
    for node, nominated in cluster._nominations._by_node.items():
        for key, pod_class in nominated.items():
            made._nominations._put(key, counterpart(pod_class), node)
    return made


def fork_of_queue(queue: SchedulingQueue, requeueing_of: Callable, clock: Callable[[], int] | None = None):
    """Return an independent queue with copies of the pods."""
    other = SchedulingQueue(clock or queue.clock, requeueing_of, queue._settings, queue._rules)
    other.cycle = queue.cycle

    def put(mine: list[QueuedPodInfo], theirs: Callable[[QueuedPodInfo], object]) -> None:
        for info in mine:
            theirs(copy(info))

    put(queue.active.items, lambda info: other.active.put(info.key, info))
    for name in ("_rejected", "_failed"):
        heap = getattr(other.backoff, name)
        put(getattr(queue.backoff, name).items, lambda info, heap=heap: heap.put(info.key, info))
    other.unschedulable._shared = dict(queue.unschedulable._shared)
    other.unschedulable._numbered = list(queue.unschedulable._numbered)
    put(queue.unschedulable.infos, other.unschedulable.put)
    for name in ("_started", "_events", "_forgotten"):
        setattr(other._in_flight, name, copy(getattr(queue._in_flight, name)))
    return other


def _nodes(nodes: NodeTable) -> NodeTable:
    made = NodeTable.__new__(NodeTable)
    for name, value in vars(nodes).items():
        setattr(made, name, value.copy() if isinstance(value, (list, dict, np.ndarray)) else value)
    made.images = copy(nodes.images)
    made.images._states = {
        name: ImageState(state.size, dict(state.rows)) for name, state in nodes.images._states.items()
    }
    made._labels = {}
    for key, column in nodes._labels.items():
        copied = made._labels[key] = copy(column)
        copied._table, copied.codes, copied.values = made, column.codes.copy(), list(column.values)
        copied._code_of, copied._rows_of = dict(column._code_of), None
    return made


def _copy_objects(objects: ClusterObjects, made: ClusterObjects) -> None:
    for kind, table in objects._by_key.items():
        made._by_key[kind].update(table)
    for kind, named in objects._by_name.items():
        made._by_name[kind].update(named)
    made.services.update({namespace: dict(each) for namespace, each in objects.services.items()})
    made.devices_known = objects.devices_known
    for claim in made.resource_claims.values():
        made.devices.replaced(None, claim)
    made.assumed_claims.update(objects.assumed_claims)
    made._naming = {named: set(keys) for named, keys in objects._naming.items()}


def _copy_classes(classes: PodClasses, made: PodClasses) -> None:
    made.made = classes.made
    for index, each in classes.every.items():
        copied = PodClass(index, each.pod, each.node_name, classes._rules, made._cost(each.pod))
        copied.is_node_pinned = each.is_node_pinned
        copied.occupancy = dict(each.occupancy)
        if copied.occupancy:
            made._there.setdefault(copied.priority, {})[index] = copied
        made._enter(copied, signature(each.pod))
        if index in classes._idle:
            made._idle[index] = copied
