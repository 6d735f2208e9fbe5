"""The cluster: nodes, the pods on them by class, and the other objects that plugins look up. The only mutable state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from topospread.api.node import Node
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.requests import CURRENT_RULES, RequestRules

from .journal import NODE_CHANGED, Journal
from .nodes import NodeTable
from .objects import ClusterObjects
from .pod_class import Cost, HostPort, PodClass, identity, namespaces_asked, resources_of, signature
from .selections import Selections
from .tied import own_node, untied
from .volume_use import VolumeUse

PodKey = str
"""``namespace/name``."""


def pod_key(namespace: str, name: str) -> PodKey:
    """The key under which a pod is placed."""
    return f"{namespace}/{name}"


class Cluster:
    """State in columns. Every change costs what it touches and is written to the journal.

    Attributes:
        nodes: the node table.
        classes: pod classes in the order they were first seen.
        placed: pod key → row of its node.
        on_node: row → pod key → class of the pods there, in the order they came.
        ports: (protocol, port) → row → IPs on which it is in use: a set, as kube-scheduler's ``HostPortInfo`` is one.
            A port that two pods of a node have is free once either of them goes.
        volume_use: which claims and disks the pods on each node use.
        started: pod key → ``status.startTime`` of the pods that have one.
        nominated: row → pod key → class of pending pods that preemption has promised that node.
        selections: which classes selectors match.
        objects: Services, owners, namespaces, volumes: what plugins look up by name.
    """

    def __init__(self, rules: RequestRules = CURRENT_RULES) -> None:
        self.nodes = NodeTable()
        self.journal = Journal()
        self.objects = ClusterObjects()
        self.rules = rules
        self.classes: list[PodClass] = []
        self.selections = Selections()
        self.placed: dict[PodKey, int] = {}
        self.on_node: list[dict[PodKey, PodClass]] = []
        self.ports: dict[tuple[str, int], dict[int, set[str]]] = {}
        self.volume_use = VolumeUse()
        self.started: dict[PodKey, str] = {}
        self.nominated: dict[int, dict[PodKey, PodClass]] = {}
        self._by_identity: dict[Hashable, list[tuple[tuple[object, ...], PodClass]]] = {}
        self._costs: dict[bytes, Cost] = {}
        self._by_namespace: dict[str, list[PodClass]] = {}
        self._asking: dict[str | None, list[PodClass]] = {}
        self._of_object: dict[int, tuple[Pod, PodClass]] = {}

    def add_node(self, node: Node) -> int:
        """Add a node, or put its newer state in place; its row."""
        if node.name in self.nodes.row_of:
            row = self.nodes.replace(node)
        else:
            row = self.nodes.add(node)
            while len(self.on_node) <= row:
                self.on_node.append({})
        self.journal.append((row, NODE_CHANGED, 0))
        return row

    def remove_node(self, name: str) -> list[PodKey]:
        """Take a node out, with the pods on it; the keys of those pods."""
        row = self.nodes.row_of[name]
        gone = list(self.on_node[row])
        for key in gone:
            self.unbind(key)
        self.nodes.remove(name)
        self.journal.append((row, NODE_CHANGED, 0))
        return gone

    def pod_class(self, pod: Pod, *, is_placed: bool = False) -> PodClass:
        """The class of a pod. ``is_placed``: its ``spec.nodeName`` says where it is, not where it may go."""
        node = own_node(pod)
        if not node:
            return self._class_of(pod, "" if is_placed else pod.spec.node_name or "")
        general = self._class_of(untied(pod), "" if is_placed else pod.spec.node_name or "", tied=True)
        return general if is_placed else general.tied(pod, node)

    def _class_of(self, pod: Pod, node_name: str, *, tied: bool = False) -> PodClass:
        alike = self._by_identity.setdefault((node_name, tied, identity(pod)), [])
        described = signature(pod)
        for other, existing in alike:
            if other == described:
                return existing
        pod_class = PodClass(len(self.classes), pod, node_name, self.rules, self._cost(pod))
        self.classes.append(pod_class)
        self.selections.add(pod_class)
        alike.append((described, pod_class))
        self._by_namespace.setdefault(pod_class.namespace, []).append(pod_class)
        for namespace in namespaces_asked(pod):
            self._asking.setdefault(namespace, []).append(pod_class)
        return pod_class

    def _cost(self, pod: Pod) -> Cost:
        resources = resources_of(pod)
        if resources is None:
            return Cost(pod, self.rules)
        known = self._costs.get(resources)
        if known is None:
            known = self._costs[resources] = Cost(pod, self.rules)
        return known

    def shared_class(self, pod: Pod) -> PodClass:
        """The class of a pod object that stands for many replicas; remembered by the object itself."""
        known = self._of_object.get(id(pod))
        if known is not None and known[0] is pod:
            return known[1]
        pod_class = self.pod_class(pod)
        if not pod_class.tied_to:
            self._of_object[id(pod)] = (pod, pod_class)
        return pod_class

    def classes_in(self, namespace: str) -> Iterable[PodClass]:
        """Classes of a namespace's pods."""
        return self._by_namespace.get(namespace, ())

    def classes_asking(self, namespace: str) -> Iterable[PodClass]:
        """Classes that want to be near, or away from, pods of a namespace; other pods of it may be meant."""
        return (*self._asking.get(None, ()), *self._asking.get(namespace, ()))

    def add_pod(self, pod: Pod, key: PodKey = "") -> bool:
        """Place a pod where its ``spec.nodeName`` says; False when kube-scheduler would not see it there.

        Finished pods are left out, and so are pods of a node that is not there. ``key``: by default the pod's own.
        """
        row = self.nodes.row_of.get(pod.spec.node_name or "")
        if row is None or pod.phase in FINISHED_PHASES:
            return False
        key = key or pod_key(pod.namespace, pod.name)
        self.bind(key, self.pod_class(pod, is_placed=True), row)
        if pod.status is not None and pod.status.start_time:
            self.started[key] = pod.status.start_time
        return True

    def bind(self, key: PodKey, pod_class: PodClass, row: int) -> None:
        """Place a pod of a class on a node."""
        nodes = self.nodes
        taken = pod_class.taken(nodes)
        nodes.used[row] += taken
        nodes.states[row] = -1
        occupancy = pod_class.occupancy
        occupancy[row] = occupancy.get(row, 0) + 1
        self.placed[key] = row
        self.on_node[row][key] = pod_class.general or pod_class
        if pod_class.host_ports:
            self._use_ports(pod_class.host_ports, row)
        if pod_class.volumes:
            self.volume_use.add(pod_class.volumes, row)
        self.journal.append((row, pod_class.index, 1))

    def unbind(self, key: PodKey) -> PodClass:
        """Take a placed pod off its node; its class."""
        row = self.placed.pop(key)
        pod_class = self.on_node[row].pop(key)
        self.started.pop(key, None)
        self.nodes.used[row] -= pod_class.taken(self.nodes)
        self.nodes.states[row] = -1
        left = pod_class.occupancy[row] - 1
        if left:
            pod_class.occupancy[row] = left
        else:
            del pod_class.occupancy[row]
        if pod_class.host_ports:
            self._release_ports(pod_class.host_ports, row)
        if pod_class.volumes:
            self.volume_use.remove(pod_class.volumes, row)
        self.journal.append((row, pod_class.index, -1))
        return pod_class

    def nominate(self, key: PodKey, pod_class: PodClass, node: str) -> None:
        """Promise a node to a pending pod; without effect when the node is not there."""
        self.withdraw(key)
        row = self.nodes.row_of.get(node)
        if row is not None:
            self.nominated.setdefault(row, {})[key] = pod_class.general or pod_class

    def withdraw(self, key: PodKey) -> None:
        """Take a promise back: the pod was placed, or is gone."""
        for row, pods in list(self.nominated.items()):
            if pods.pop(key, None) is not None and not pods:
                del self.nominated[row]

    def pods(self) -> Iterator[tuple[PodKey, PodClass, int]]:
        """All placed pods: key, class, row."""
        for row, pods in enumerate(self.on_node):
            for key, pod_class in pods.items():
                yield key, pod_class, row

    def ports_on(self, row: int) -> set[HostPort]:
        """The host ports in use on a node."""
        had = [port for pod_class in self.on_node[row].values() for port in pod_class.host_ports]
        return {port for port in had if port[0] in self.ports.get(port[1:], {}).get(row, ())}

    def restore_ports(self, row: int, ports: set[HostPort]) -> None:
        """Of the host ports that pods on a node have, these are in use and no others."""
        for pod_class in self.on_node[row].values():
            if pod_class.host_ports:
                self._release_ports(pod_class.host_ports, row)
        self._use_ports(ports, row)

    def _use_ports(self, ports: Iterable[HostPort], row: int) -> None:
        for ip, protocol, port in ports:
            self.ports.setdefault((protocol, port), {}).setdefault(row, set()).add(ip)

    def _release_ports(self, ports: Iterable[HostPort], row: int) -> None:
        for ip, protocol, port in ports:
            rows = self.ports.get((protocol, port), {})
            addresses = rows.get(row, set())
            addresses.discard(ip)
            if not addresses:
                rows.pop(row, None)
