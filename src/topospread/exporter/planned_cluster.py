"""The exporter's cluster state, built from planned groups and single objects, with a record of changes.

Objects go through the same planner as in `status`, a group or a few objects at a time. `affected_workloads`
finds the workloads that changes affect.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.node import Namespace, Node
from topospread.api.pod import Pod
from topospread.api.workload import Service
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools
from topospread.cluster.cluster import PodKey, pod_key
from topospread.cluster.nodes import NON_ZERO_CPU, NON_ZERO_MEMORY
from topospread.config.request_rules import request_rules
from topospread.controllers.planned import Plan, QueuedPod
from topospread.controllers.planner import plan
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import as_served

from .groups import PLANNED, PlanGroup
from .node_changes import NodeChanges

IN_CLUSTER: dict[type[KubeObject], str] = {
    each.struct: each.attribute for each in KINDS.values() if each.struct not in PLANNED
}
"""Kind of single objects → its list in an inventory and in the cluster."""
_ObjectId = tuple[type[KubeObject], str, str]


@dataclass(slots=True)
class DirtySet:
    """The changes since the last call.

    Attributes:
        nodes: changed nodes. ``rows`` has the rows of changed nodes that still exist.
        pods: (class, node row) of each added or removed pod.
        rows: rows of nodes whose pods must be evaluated again.
        objects: other changed objects (Services, owners, volumes, claims), in their old and new states.
    """

    everything: bool = False
    nodes: NodeChanges = field(default_factory=NodeChanges)
    pods: dict[tuple[PodClass, int], None] = field(default_factory=dict)
    moved: set[PodKey] = field(default_factory=set)
    rows: set[int] = field(default_factory=set)
    objects: list[KubeObject] = field(default_factory=list)

    @property
    def any(self) -> bool:
        """True if anything changed."""
        return bool(self.everything or self.pods or self.rows or self.objects or self.nodes.any)


@dataclass(slots=True)
class PlannedGroup:
    """The last plan of a group.

    Attributes:
        pods: its pods in the cluster, with their objects, without pods that another group took over.
        objects: its other objects in the cluster, such as ReplicaSets and claims.
        promised: pending pod → nominated node.
        surplus: whether its controllers will delete pods. Their choice also depends on pod statuses.
    """

    plan: Plan
    pods: dict[PodKey, Pod] = field(default_factory=dict)
    objects: dict[_ObjectId, KubeObject] = field(default_factory=dict)
    promised: dict[PodKey, str] = field(default_factory=dict)
    queue: list[QueuedPod] = field(default_factory=list)
    surplus: bool = False


class PlannedCluster:
    """A cluster state that is updated from plans.

    Args:
        options: version, feature gates and profiles, like for `status`.

    Attributes:
        touched: changes since the last call of `take_touched`.
        surplus: groups whose controllers will delete pods.
    """

    def __init__(self, options: SimulationOptions) -> None:
        assert options.config is not None, "the configuration is read before"
        assert options.gates is not None, "the gates are known before"
        gates = options.gates
        frameworks = {each.scheduler_name: Framework(each, gates) for each in options.config.profiles}
        self.cluster = Cluster(request_rules(gates))
        self.scheduler = Scheduler(self.cluster, frameworks)
        self.touched = DirtySet()
        self.surplus: set[PlanGroup] = set()
        self._control_plane = options.control_plane(gates)
        self._planned: dict[PlanGroup, PlannedGroup] = {}
        self._with_queue: dict[PlanGroup, None] = {}
        self._whose: dict[PodKey, PlanGroup] = {}
        self._whose_object: dict[_ObjectId, PlanGroup] = {}
        self._crowded: set[int] = set()

    def take_touched(self) -> DirtySet:
        """Return the changes since the last call.

        Removing a pod from an overcommitted node can make room for others, so the node's other pods are affected.
        """
        touched, self.touched = self.touched, DirtySet()
        rows = np.fromiter(touched.rows.union(row for _, row in touched.pods), dtype=np.int64)
        nodes = self.cluster.nodes
        over: Bools = nodes.used[rows] > nodes.allocatable[rows]
        over[:, NON_ZERO_CPU : NON_ZERO_MEMORY + 1] = False
        crowded = set(rows[over.any(axis=1)].tolist())
        touched.rows |= crowded | self._crowded.intersection(rows.tolist())
        self._crowded.difference_update(rows.tolist())
        self._crowded |= crowded
        return touched

    # Single objects.

    def put(self, items: Iterable[KubeObject], beside: Inventory) -> None:
        """Add or update objects, planned with ``beside``. Raise InputError if the API server denies an object."""
        given = Inventory(storage_classes=list(beside.storage_classes))
        wanted = set()
        for each in items:
            getattr(given, IN_CLUSTER[type(each)]).append(each)
            wanted.add((type(each), each.namespace, each.name))
        for item in plan(given, control_plane=self._control_plane).inventory.objects():
            if (type(item), item.namespace, item.name) not in wanted:
                continue
            if isinstance(item, Node):
                self._put_node(item)
            else:
                self._put_object(item)

    def _put_node(self, node: Node) -> None:
        nodes, after = self.cluster.nodes, as_served(node)
        known = nodes.row_of.get(node.name)
        before = None if known is None else nodes.nodes[known]
        if self.cluster.put_node(after):
            row = nodes.row_of[node.name]
            self.touched.rows.add(row)
            if self.touched.nodes.note(node.name, before, after):
                self._note_pods(row)

    def _note_pods(self, row: int) -> None:
        """Record that a node's pods may be counted differently."""
        for key, pod_class in self.cluster.on_node[row].items():
            self.touched.moved.add(key)
            self.touched.pods[pod_class, row] = None

    def delete(self, item: KubeObject) -> None:
        """Delete an object."""
        if isinstance(item, Node):
            name = item.name
            row = self.cluster.nodes.row_of.get(name)
            if row is not None:
                self._note_pods(row)
                self.touched.nodes.note(name, self.cluster.nodes.nodes[row], None)
                self.cluster.delete_node(name)
        elif self.cluster.objects.delete(item):
            self.touched.objects.append(item)

    def _put_object(self, item: KubeObject) -> None:
        before = self._known(item)
        if self.cluster.objects.put(item):
            self.touched.everything |= isinstance(item, Namespace) and before is not None
            self.touched.objects += [item] if before is None else [before, item]

    def _known(self, item: KubeObject) -> KubeObject | None:
        if isinstance(item, Service):
            return self.cluster.objects.services.get(item.namespace, {}).get(item.name)
        table: dict[Any, KubeObject] = getattr(self.cluster.objects, KINDS[type(item).__name__].attribute, {})
        return table.get((item.namespace, item.name)) or table.get(item.name)

    # Groups.

    def take(self, group: PlanGroup, given: Inventory) -> PlannedGroup | None:
        """Plan a group again and apply the result. Return the plan; None if the group is empty.

        Raises:
            InputError: if the API server denies an object. The group is unchanged then.
        """
        known = self._planned.get(group)
        if not any(getattr(given, each) for each in PLANNED.values()):
            if known is not None:
                self._replace(group, known, PlannedGroup(Plan(Inventory())))
                del self._planned[group]
                self.surplus.discard(group)
                self._with_queue.pop(group, None)
            return None
        made = plan(given, control_plane=self._control_plane)
        there = {each.name for each in given.pods if not each.spec.node_name}
        found = PlannedGroup(made, surplus=bool(made.removed))
        key_of = {} if known is None else {id(pod): key for key, pod in known.pods.items()}
        found.pods = {
            key_of.get(id(each)) or pod_key(group.namespace, each.name): each for each in (*made.bound, *made.removed)
        }
        found.queue = [each for each in made.queue if each.name in there]
        found.promised = {
            pod_key(each.namespace, each.name): each.pod.nominated_node_name
            for each in made.queue
            if each.pod.nominated_node_name
        }
        objects = made.inventory
        for kept in (objects.replica_sets, objects.replication_controllers, objects.stateful_sets, objects.namespaces):
            found.objects.update(((type(item), item.namespace, item.name), item) for item in kept)
        self._replace(group, known or PlannedGroup(Plan(Inventory())), found)
        self._planned[group] = found
        (self.surplus.add if found.surplus else self.surplus.discard)(group)
        if found.queue:
            self._with_queue[group] = None
        else:
            self._with_queue.pop(group, None)
        return found

    def known(self, group: PlanGroup) -> PlannedGroup | None:
        """Return the last plan of a group."""
        return self._planned.get(group)

    def groups(self, namespace: str | None = None) -> list[PlanGroup]:
        """Return all groups."""
        return [each for each in self._planned if namespace in (None, each.namespace)]

    def pending(self) -> Iterable[QueuedPod]:
        """Return the pending pods."""
        return (queued for group in self._with_queue for queued in self._planned[group].queue)

    def _replace(self, group: PlanGroup, before: PlannedGroup, after: PlannedGroup) -> None:
        """Replace a group's old objects by its new ones, except objects that another group took over."""
        for key, item in before.objects.items():
            if key in after.objects or self._whose_object.get(key) != group or key[0] is Namespace:
                continue
            del self._whose_object[key]
            if self.cluster.objects.delete(item):
                self.touched.objects.append(item)
        for key, item in after.objects.items():
            if before.objects.get(key) is not item or self._whose_object.get(key) != group:
                self._put_object(item)
                self._whose_object[key] = group
        for pod in before.pods.keys() - after.pods.keys():
            del self._whose[pod]
            self._take_off(pod)
        for pod, item in after.pods.items():
            if before.pods.get(pod) is not item:
                self._put_pod(pod, item)
                other = self._whose.get(pod, group)
                if other != group:
                    del self._planned[other].pods[pod]
                self._whose[pod] = group
        self._promise(before, after)

    def _promise(self, before: PlannedGroup, after: PlannedGroup) -> None:
        for pod in before.promised.keys() - after.promised.keys():
            self._touch_node(before.promised[pod])
            self.cluster.withdraw(pod)
        if not after.promised:
            return
        for queued in after.queue:
            key = pod_key(queued.namespace, queued.name)
            node = after.promised.get(key)
            if node is not None:
                self.cluster.nominate(key, self.cluster.shared_class(queued.pod), node)
                self._touch_node(node)
                self._touch_node(before.promised.get(key, ""))

    def _touch_node(self, name: str) -> None:
        row = self.cluster.nodes.row_of.get(name)
        if row is not None:
            self.touched.rows.add(row)

    # Pods.

    def _put_pod(self, key: PodKey, pod: Pod) -> None:
        cluster = self.cluster
        class_before, row_before = self._place(key)
        cluster.put_pod(pod, key)
        class_after, row_after = self._place(key)
        if class_before is class_after and row_before == row_after:
            return
        self.touched.moved.add(key)
        self._moved(class_before, row_before)
        self._moved(class_after, row_after)

    def _take_off(self, key: PodKey) -> None:
        before = self._place(key)
        self.cluster.delete_pod(key)
        self._moved(*before)

    def _place(self, key: PodKey) -> tuple[PodClass | None, int]:
        row = self.cluster.placed.get(key)
        return (None, -1) if row is None else (self.cluster.on_node[row][key], row)

    def _moved(self, pod_class: PodClass | None, row: int) -> None:
        if pod_class is not None:
            self.touched.pods[pod_class, row] = None
            if pod_class.host_ports or pod_class.volumes:
                self.touched.rows.add(row)
