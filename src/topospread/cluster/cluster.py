"""The cluster: nodes, placed pods by class, and the objects that plugins look up. Caches are derived from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from topospread.api.meta import KubeObject
from topospread.api.node import Node
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.requests import CURRENT_RULES, RequestRules

from .host_ports import HostPorts
from .journal import ELSEWHERE, Journal
from .nodes import NodeTable
from .nominations import Nominations
from .objects import ClusterObjects
from .pod_class import PodClass
from .pod_classes import PodClasses
from .pod_order import PodOrder
from .pods_on_missing_nodes import PodsOnMissingNodes
from .savepoint import Savepoint
from .scheduling_fields import same_to_scheduling
from .undo import UndoLog
from .volume_use import VolumeUse

PodKey = str
"""``namespace/name``."""

EventType = Literal["ADDED", "MODIFIED", "DELETED"]
"""Type of a watch event (apimachinery ``watch.EventType``)."""


def pod_key(namespace: str, name: str) -> PodKey:
    """Return the key of a pod."""
    return f"{namespace}/{name}"


class Cluster:
    """The state of a cluster. Each change costs time for the rows it touches, is in the journal, and can be undone.

    `apply` takes watch events in any order. The other methods are for callers that place pods and change nodes.

    Attributes:
        classes: index → pod class, in the order of creation.
        selections: pod classes by selector.
        placed: pod key → row of its node.
        on_node: row → pod key → class of the node's pods.
        order: order of the pods on each node.
        pods_on_missing_nodes: pods whose node is not known.
        ports: host ports in use.
        volume_use: claims and disks that pods use, by node.
        started: pod key → ``status.startTime``, for pods that have one.
        reordered: number of updates so far that changed a pod's start time or its position among its node's pods.
        nominated: row → pod key → class of pending pods that are nominated for the node.
        objects: Services, owners, namespaces, volumes and other objects that plugins look up.
        undo: undo log of open savepoints. Code with state outside the cluster records its undo steps here, too.
    """

    def __init__(self, rules: RequestRules = CURRENT_RULES) -> None:
        self.rules = rules
        self.nodes = NodeTable()
        self.journal = Journal()
        self.undo = UndoLog()
        self.volume_use = VolumeUse()
        self.objects = ClusterObjects(self.journal, self.undo, self.volume_use, self.nodes.row_of)
        self.placed: dict[PodKey, int] = {}
        self.on_node: list[dict[PodKey, PodClass]] = []
        self.order = PodOrder(self.on_node)
        self.pods_on_missing_nodes = PodsOnMissingNodes(self.undo)
        self.ports = HostPorts()
        self.started: dict[PodKey, str] = {}
        self.reordered = 0
        self._classes = PodClasses(rules)
        self.classes = self._classes.every
        self.selections = self._classes.selections
        self._nominations = Nominations(self.nodes.row_of, self.journal, self.undo)
        self.nominated = self._nominations.by_row

    def savepoint(self) -> Savepoint:
        """Return a savepoint: ``with cluster.savepoint(): …`` restores the current state at the end of the block."""
        return Savepoint(self.undo, self.journal)

    def apply(self, event: EventType, item: KubeObject) -> bool:
        """Apply a watch event of any kind. Return whether it changed anything that scheduling reads.

        An object replaces the known object of its kind, namespace and name, so a repeated event changes nothing. Pods
        on a missing node count as soon as the node is added. For a pod without a node, only the nomination is stored.
        Kinds that scheduling does not read are ignored.
        """
        gone = event == "DELETED"
        if isinstance(item, Pod):
            return self.delete_pod(pod_key(item.namespace, item.name)) if gone else self.put_pod(item)
        if isinstance(item, Node):
            return self.delete_node(item.name) if gone else self.put_node(item)
        return self.objects.delete(item) if gone else self.objects.put(item)

    def add_node(self, node: Node) -> int:
        """Add or update a node. Return its row."""
        self.put_node(node)
        return self.nodes.row_of[node.name]

    def put_node(self, node: Node) -> bool:
        """Add or update a node. Return whether that changed anything that scheduling reads."""
        nodes = self.nodes
        known = nodes.row_of.get(node.name)
        if known is None:
            row = nodes.add(node)
            while len(self.on_node) <= row:
                self.on_node.append({})
            self.undo.record(self._undo_node, node.name, None)
        else:
            row = known
            before = nodes.nodes[row]
            assert before is not None, "a row that has a name has a node"
            if same_to_scheduling(before, node):
                return False
            self._note_images(before)
            nodes.replace(node)
            self.undo.record(self._undo_node, node.name, before)
        self.journal.append((row, None, 0))
        if known is None:
            self._nominations.node_came(node.name)
            for key, (pod_class, started) in self.pods_on_missing_nodes.take_all(node.name).items():
                self.bind(key, pod_class, row)
                self._note_start(key, started)
        return True

    def remove_node(self, name: str) -> list[PodKey]:
        """Remove a node. Return the keys of its pods, which are stored in `pods_on_missing_nodes`."""
        row = self.nodes.row_of[name]
        gone = self.order.on(row)
        for key in gone:
            started = self.started.get(key, "")
            self.pods_on_missing_nodes.put(key, self.unbind(key), started, name)
        self._nominations.node_goes(row)
        node = self.nodes.nodes[row]
        assert node is not None, "a row that has a name has a node"
        self._note_images(node)
        self.undo.record(self._undo_removed_node, node)
        self.nodes.remove(name)
        self.journal.append((row, None, 0))
        return gone

    def delete_node(self, name: str) -> bool:
        """Remove a node if it exists. Return whether it did."""
        if name not in self.nodes.row_of:
            return False
        self.remove_node(name)
        return True

    def pod_class(self, pod: Pod, *, is_placed: bool = False) -> PodClass:
        """Return the class of a pod. ``is_placed``: whether ``spec.nodeName`` is its node, instead of a requirement."""
        return self._classes.of(pod, is_placed=is_placed)

    def shared_class(self, pod: Pod) -> PodClass:
        """Return the class of a pod object that many replicas share. It is cached by the object's id."""
        return self._classes.of_object(pod)

    def keep_class(self, pod_class: PodClass) -> None:
        """Add a dropped class again, so that selectors find it."""
        self._classes.keep(pod_class)

    def classes_asking(self, namespace: str) -> Iterable[PodClass]:
        """Return the classes whose pod (anti-)affinity terms may match pods of a namespace."""
        return self._classes.asking(namespace)

    def classes_meaning(self, pod_class: PodClass) -> Iterable[PodClass]:
        """Return the classes with a pod (anti-)affinity term that may match pods of a class, possibly twice."""
        return self._classes.meaning(pod_class)

    def rows_below(self, priority: int) -> set[int]:
        """Return the rows of nodes with pods of a lower priority, in time proportional to the result."""
        return self._classes.rows_below(priority)

    @property
    def classes_made(self) -> int:
        """Index of the next class."""
        return self._classes.made

    def classes_since(self, index: int, *, asking_only: bool = False) -> tuple[list[PodClass], int]:
        """Return the classes with at least this index, and the index of the next class.

        Args:
            asking_only: whether to return only classes with inter-pod affinity terms.
        """
        made = self._classes.made
        if asking_only:
            return self._classes.asking_since(index), made
        known = (self.classes.get(each) for each in range(index, made))
        return [each for each in known if each is not None], made

    def add_pod(self, pod: Pod, key: PodKey = "") -> bool:
        """Add a pod. Return False if the pod is not placed: it has finished, has no node, or its node is missing.

        ``key``: key of the pod, by default from its namespace and name.
        """
        key = key or pod_key(pod.namespace, pod.name)
        self.put_pod(pod, key)
        return key in self.placed

    def put_pod(self, pod: Pod, key: PodKey = "") -> bool:
        """Add or update a pod. Return whether that changed anything that scheduling reads."""
        key = key or pod_key(pod.namespace, pod.name)
        node = pod.spec.node_name or ""
        if pod.phase in FINISHED_PHASES:
            return self.delete_pod(key)
        if not node and node not in self.nodes.row_of:
            # Scheduling reads only the nomination of a pod without a node.
            position = self.journal.position
            if key in self.placed or key in self.pods_on_missing_nodes:
                self.delete_pod(key)
            if pod.nominated_node_name:
                self.nominate(key, self.pod_class(pod), pod.nominated_node_name)
            else:
                self._nominations.remove(key)
            return self.journal.position != position
        pod_class = self.pod_class(pod, is_placed=True)
        started = (pod.status.start_time or "") if pod.status is not None else ""
        row = self.placed.get(key)
        if row is not None and self.nodes.names[row] == node and self._comes_again(key, pod_class, row):
            return self._note_start(key, started)
        is_known = self.pods_on_missing_nodes.find(key) == (node, (pod_class, started))
        if row is not None and self.nodes.names[row] == node:
            self._take_off(key)  # an updated pod keeps its claims
        self.delete_pod(key)
        row = self.nodes.row_of.get(node)
        if row is None:
            self.pods_on_missing_nodes.put(key, pod_class, started, node)
        else:
            self.bind(key, pod_class, row)
            if started:  # the journal entry and undo step of `bind` also cover the start time
                self.started[key] = started
        return not is_known

    def _comes_again(self, key: PodKey, pod_class: PodClass, row: int) -> bool:
        """Move an updated pod to the end of its node's pods. Return False if more than the order changes."""
        ports = pod_class.host_ports
        if self.on_node[row][key] is not pod_class or len(self.ports.among(ports, row)) < len(ports):
            return False
        if not self.order.is_last(row, key):
            self._note_order(row)
            self.order.goes(row, key)
            self.on_node[row][key] = self.on_node[row].pop(key)
            self.reordered += 1
            self.journal.append(ELSEWHERE)
        return True

    def delete_pod(self, key: PodKey) -> bool:
        """Remove a pod, placed or not. Return whether it was known."""
        position = self.journal.position
        known = key in self.pods_on_missing_nodes
        if key in self.placed:
            self.unbind(key)
        elif known:
            self.pods_on_missing_nodes.delete(key)
        self._nominations.remove(key)
        return known or self.journal.position != position

    def bind(self, key: PodKey, pod_class: PodClass, row: int) -> None:
        """Place a pod of a class on a node."""
        pod_class = pod_class.general or pod_class
        nodes = self.nodes
        taken = pod_class.taken(nodes)
        nodes.used[row] += taken
        nodes.states[row] = -1
        occupancy = pod_class.occupancy
        if not occupancy:
            self._classes.first_pod_came(pod_class)
        occupancy[row] = occupancy.get(row, 0) + 1
        self.selections.count(pod_class, row, 1)
        self.placed[key] = row
        self.on_node[row][key] = pod_class
        if pod_class.host_ports:
            self._note_ports(pod_class, row)
            self.ports.take(pod_class.host_ports, row)
        if pod_class.volumes:
            self.volume_use.add(pod_class.volumes, row)
        if self.undo.steps is not None:
            self.undo.record(self._take_off, key)
        self.journal.append((row, pod_class, 1))

    def unbind(self, key: PodKey) -> PodClass:
        """Remove a placed pod from its node, and release its claims. Return its class."""
        pod_class = self._take_off(key)
        if self.objects.devices.users and not self.objects.devices.keeps:
            self.objects.release_claims(pod_class.namespace, key.partition("/")[2])
        return pod_class

    def _take_off(self, key: PodKey) -> PodClass:
        row = self.placed.pop(key)
        self._note_order(row)
        self.order.goes(row, key)
        pod_class = self.on_node[row].pop(key)
        started = self.started.pop(key, None)
        self.nodes.used[row] -= pod_class.taken(self.nodes)
        self.nodes.states[row] = -1
        occupancy = pod_class.occupancy
        self.selections.count(pod_class, row, -1)
        left = occupancy[row] - 1
        if left:
            occupancy[row] = left
        else:
            del occupancy[row]
            if not occupancy:
                occupancy.clear()  # an empty dict keeps the room of its former entries
                self._classes.last_pod_went(pod_class)
        if pod_class.host_ports:
            self._note_ports(pod_class, row)
            self.ports.free(pod_class.host_ports, row)
        if pod_class.volumes:
            self.volume_use.remove(pod_class.volumes, row)
        self.undo.record(self._undo_unbind, key, pod_class, row, started)
        self.journal.append((row, pod_class, -1))
        return pod_class

    def assigned_class(self, key: PodKey) -> PodClass | None:
        """Return the class of a pod with a node, which may be missing; ``None`` for every other pod."""
        row = self.placed.get(key)
        if row is not None:
            return self.on_node[row][key]
        found = self.pods_on_missing_nodes.find(key)
        return None if found is None else found[1][0]

    def assigned_node(self, key: PodKey) -> str:
        """Return the name of an assigned pod's node, which may be missing; "" for every other pod."""
        row = self.placed.get(key)
        if row is not None:
            return self.nodes.names[row]
        found = self.pods_on_missing_nodes.find(key)
        return "" if found is None else found[0]

    def nominate(self, key: PodKey, pod_class: PodClass, node: str) -> None:
        """Nominate a node for a pending pod by name. The nomination has no effect while the node is missing."""
        self._nominations.add(key, pod_class.general or pod_class, node)

    def nominated_node(self, key: PodKey) -> str:
        """Return the nominated node of a pod; "" without one."""
        return self._nominations.node_of(key)

    def withdraw(self, key: PodKey) -> None:
        """Clear a pod's nomination after the pod is bound or deleted."""
        self._nominations.remove(key)

    def pods(self) -> Iterator[tuple[PodKey, PodClass, int]]:
        """Yield all placed pods: key, class, row."""
        for row, pods in enumerate(self.on_node):
            for key, pod_class in pods.items():
                yield key, pod_class, row

    def _note_ports(self, pod_class: PodClass, row: int) -> None:
        """Record which of a pod's ports are in use before a change, because ports have no use counts to undo by."""
        ports = pod_class.host_ports
        self.undo.record(self.ports.put_back, ports, row, self.ports.among(ports, row))

    def _note_images(self, node: Node) -> None:
        """Record image sizes for undo before a node changes: they depend on the order in which nodes were added."""
        if self.undo.steps is not None and node.status.images:
            self.undo.record(self.nodes.images.put_sizes, self.nodes.images.sizes(node))

    def _note_start(self, key: PodKey, started: str) -> bool:
        """Store the start time of a placed pod, by which preemption orders victims. Return whether it changed."""
        before = self.started.get(key, "")
        if before == started:
            return False
        self._set_start(key, started)
        self.undo.record(self._set_start, key, before)
        return True

    def _set_start(self, key: PodKey, started: str) -> None:
        if started:
            self.started[key] = started
        else:
            self.started.pop(key, None)
        self.reordered += 1
        self.journal.append(ELSEWHERE)

    def _undo_unbind(self, key: PodKey, pod_class: PodClass, row: int, started: str | None) -> None:
        self.bind(key, pod_class, row)
        if started is not None:
            self.started[key] = started

    def _note_order(self, row: int) -> None:
        """Record the pods of a node and their order for undo."""
        if self.undo.steps is not None:
            self.undo.record(self._put_order, row, dict(self.on_node[row]), self.order.moved(row))

    def _put_order(self, row: int, pods: dict[PodKey, PodClass], moved: list[PodKey] | None) -> None:
        self.on_node[row] = pods
        self.order.put_back(row, moved)

    def _undo_node(self, name: str, before: Node | None) -> None:
        """Restore a node's earlier state; remove the node if ``before`` is ``None``."""
        row = self.nodes.row_of[name]
        if before is None:
            self._nominations.node_goes(row)
            self.nodes.remove(name)
        else:
            self.nodes.replace(before)
        self.journal.append((row, None, 0))

    def _undo_removed_node(self, node: Node) -> None:
        row = self.nodes.add(node)
        self._nominations.node_came(node.name)
        self.journal.append((row, None, 0))
