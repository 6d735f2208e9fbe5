"""Classes of pods that scheduling cannot distinguish. The cluster stores a placed pod as its key, class and node."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator

import msgspec
import numpy as np

from topospread.api.label_index import LabelSet
from topospread.api.meta import OwnerReference
from topospread.api.node_selection import PodAffinityTerm
from topospread.api.pod import Container, Pod, PodStatus
from topospread.api.requests import RequestRules, incoming_requests, is_counted, non_zero_requests, pod_requests

from .arrays import Ints
from .nodes import NON_ZERO_CPU, NON_ZERO_MEMORY, PODS, NodeTable
from .volume_use import VolumeRef, volume_refs

_ENCODER = msgspec.json.Encoder(order="deterministic")

HostPort = tuple[str, str, int]
"""(IP, protocol, port); the IP is 0.0.0.0 if the pod names none."""


class Cost:
    """The requests of a pod and the amounts it uses on its node, shared by all pods with equal resources.

    Attributes:
        request: resource → amount that the node must have left.
    """

    __slots__ = ("_pod", "_rules", "_taken", "request")

    def __init__(self, pod: Pod, rules: RequestRules) -> None:
        self.request: dict[str, int] = {n: v for n, v in incoming_requests(pod, rules).items() if is_counted(n)}
        self._pod = pod
        self._rules = rules
        self._taken: Ints | None = None

    def taken(self, nodes: NodeTable) -> Ints:
        """Return the amounts that the pod adds to its node's row of ``used``, int64[resources]."""
        taken = self._taken
        if taken is None or len(taken) != nodes.used.shape[1]:
            amounts = {n: v for n, v in pod_requests(self._pod, self._rules).items() if is_counted(n)}
            columns = {nodes.resource(name): amount for name, amount in amounts.items()}
            taken = np.zeros(nodes.used.shape[1], dtype=np.int64)
            for column, amount in columns.items():
                taken[column] = amount
            taken[PODS] = 1
            taken[NON_ZERO_CPU], taken[NON_ZERO_MEMORY] = non_zero_requests(self._pod, self._rules)
            self._taken = taken
        return taken


def resources_of(pod: Pod) -> bytes | None:
    """Return a key of all fields that determine the requests; ``None`` if the pod's status also determines them."""
    if resized(pod) is not None:
        return None
    spec = pod.spec
    initialising = [(each.resources, each.restart_policy) for each in spec.init_containers or ()]
    return _ENCODER.encode(([c.resources for c in spec.containers or ()], initialising, spec.overhead, spec.resources))


class PodClass:
    """The common data of all pods of one class.

    Attributes:
        index: position in the cluster's list of classes.
        pod: one pod of the class; ignore its name, uid and status.
        node_name: node that ``spec.nodeName`` requires of pending pods, "" for any; unrelated to ``occupancy``.
        evicted: whether its pods terminate because kube-scheduler preempted them.
        counted: whether counts of selected pods include its pods; False for terminating pods, which still use
            resources.
        occupancy: row → number of its pods on that node, without zeros.
        host_ports: host ports of its containers and sidecars.
        volumes: claims and disks that volume plugins read.
        may_need_devices: whether its pods claim devices, or request a resource that a DeviceClass may provide.
        affinity_terms: compiled terms, cached here by the InterPodAffinity plugin.
        is_node_pinned: whether its pods belong to a DaemonSet, whose controller pins each pod to one node.
        pinned_node: node of one pod of a DaemonSet; "" for other pods and for the DaemonSet's general class.
        label_set: its labels in the cluster's index; ``None`` if the cluster dropped the class.
        general: for a class with ``pinned_node``, the class of all pods of its DaemonSet, which the cluster keeps;
            ``None`` for every other class.
        last_change: position of its newest change in the journal; −1 without a change.
        equivalence_class: cache of `scheduling.equivalence_class`; ``None`` until it is computed.
    """

    __slots__ = (
        "_cost",
        "_rules",
        "affinity_terms",
        "counted",
        "equivalence_class",
        "evicted",
        "general",
        "host_ports",
        "index",
        "is_node_pinned",
        "label_set",
        "labels",
        "last_change",
        "may_need_devices",
        "namespace",
        "node_name",
        "occupancy",
        "pinned_node",
        "pod",
        "priority",
        "request",
        "volumes",
    )

    def __init__(self, index: int, pod: Pod, node_name: str, rules: RequestRules, cost: Cost | None = None) -> None:
        """``cost``: cost of another pod with equal resources, if known; else it is computed."""
        self.index = index
        self.node_name = node_name
        self.pod = pod
        self.namespace = pod.namespace
        self.labels = pod.labels
        self.counted = not pod.terminating
        self.evicted = _evicted(pod)
        self.priority = pod.spec.priority or 0
        self.occupancy: dict[int, int] = {}
        self.host_ports = host_ports(pod, rules)
        self.volumes: tuple[VolumeRef, ...] = volume_refs(pod)
        self._cost = cost or Cost(pod, rules)
        self.request = self._cost.request
        self.may_need_devices = bool(pod.spec.resource_claims) or any("/" in name for name in self.request)
        self._rules = rules
        self.affinity_terms: object = None
        self.label_set: LabelSet[PodClass] | None = None
        self.is_node_pinned = False
        self.pinned_node = ""
        self.general: PodClass | None = None
        self.equivalence_class: object = None
        self.last_change = -1

    def pinned_to(self, pod: Pod, node: str) -> PodClass:
        """Return a copy of the class for a DaemonSet pod and its node. Placed pods are counted by the class itself."""
        pinned = PodClass.__new__(PodClass)
        for name in self.__slots__:
            setattr(pinned, name, getattr(self, name))
        pinned.pod, pinned.pinned_node, pinned.general, pinned.equivalence_class = pod, node, self, None
        return pinned

    @property
    def key(self) -> tuple[int, str]:
        """Key for data about incoming pods of the class."""
        return self.index, self.pinned_node

    @property
    def owner(self) -> OwnerReference | None:
        """Controller that owns the pods."""
        return self.pod.metadata.controller

    @property
    def rules(self) -> RequestRules:
        """Rules that determine its requests."""
        return self._rules

    def taken(self, nodes: NodeTable) -> Ints:
        """Return the amounts that one pod adds to its node's row of ``used``, int64[resources]."""
        return self._cost.taken(nodes)


def host_ports(pod: Pod, rules: RequestRules) -> tuple[HostPort, ...]:
    """Return the host ports of containers and sidecars (pkg/scheduler/util/utils.go, ``GetHostPorts``)."""
    sidecars = (pod.spec.init_containers or ()) if rules.sidecar_ports else ()
    containers: list[Container] = [c for c in sidecars if c.restart_policy == "Always"]
    containers += pod.spec.containers or ()
    return tuple(
        (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
        for container in containers
        for port in container.ports or ()
        if port.host_port is not None and port.host_port > 0
    )


def identity(pod: Pod) -> Hashable:
    """Return the hashable part of a class's identity. `signature` has the rest."""
    owner = pod.metadata.controller
    owner_key = (owner.api_version, owner.kind, owner.name) if owner else None
    labels = pod.metadata.labels
    return (
        pod.metadata.namespace,
        frozenset(labels.items()) if labels else None,
        pod.terminating,
        owner_key,
        volume_refs(pod) if pod.spec.volumes else (),
        _pinned_to(pod) if pod.spec.affinity is not None else (),
        _device_claims(pod) if pod.spec.resource_claims else (),
    )


def _device_claims(pod: Pod) -> tuple[object, ...]:
    """Return the part of a class's identity for device claims. A claim generated for a pod gives it its own class."""
    spec, status = pod.spec, pod.status
    made = {each.name: each.resource_claim_name for each in (status.resource_claim_statuses or ())} if status else {}
    named = tuple(
        (each.name, each.resource_claim_name, each.resource_claim_template_name, each.name in made, made.get(each.name))
        for each in spec.resource_claims or ()
    )
    return (*named, pod.metadata.uid if made else None)


def _pinned_to(pod: Pod) -> tuple[str, ...]:
    """Return the node that a DaemonSet's pod requires as the part of its identity; its pods differ in nothing else."""
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    required = affinity and affinity.required_during_scheduling_ignored_during_execution
    terms = (required and required.node_selector_terms) or ()
    return tuple(value for field in (terms[0].match_fields or () if terms else ()) for value in field.values or ())


def has_pod_affinity(pod: Pod) -> bool:
    """Return whether the pod has inter-pod affinity or anti-affinity."""
    affinity = pod.spec.affinity
    return affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)


def affinity_terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    """Yield the pod's affinity and anti-affinity terms, required and preferred."""
    affinity = pod.spec.affinity
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        if each is not None:
            yield from each.required_during_scheduling_ignored_during_execution or ()
            preferred = each.preferred_during_scheduling_ignored_during_execution or ()
            yield from (term.pod_affinity_term for term in preferred if term.pod_affinity_term is not None)


def namespaces_asked(pod: Pod) -> set[str | None]:
    """Return the namespaces whose pods the affinity terms can match; ``None`` in the set means any namespace."""
    asked: set[str | None] = set()
    for term in affinity_terms(pod):
        if term.namespace_selector is not None:
            asked.add(None)
        asked.update(namespaces_named(term, pod))
    return asked


def namespaces_named(term: PodAffinityTerm, pod: Pod) -> Collection[str]:
    """Return the namespaces that an affinity term lists, or the pod's own by default."""
    return term.namespaces or ((pod.namespace,) if term.namespace_selector is None else ())


def signature(pod: Pod) -> tuple[object, ...]:
    """Return the part of a class's identity that is not hashable: every field of the spec that a rule reads."""
    spec = pod.spec
    return (
        spec.containers,
        spec.init_containers,
        spec.topology_spread_constraints,
        spec.affinity,
        spec.node_selector,
        spec.tolerations,
        spec.priority,
        spec.overhead,
        spec.resources,
        spec.scheduler_name,
        spec.preemption_policy,
        [volume for volume in spec.volumes if volume.restricts] if spec.volumes else [],
        spec.scheduling_group,
        spec.workload_ref,
        bool(spec.host_network) and spec.host_users is False,
        resized(pod),
        _evicted(pod),
        spec.unjudged_admission,
    )


def _evicted(pod: Pod) -> bool:
    """Return whether the pod is terminating because of preemption (``PodTerminatingByPreemption``)."""
    if not pod.terminating or pod.status is None:
        return False
    for condition in pod.status.conditions or ():
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _says_nothing_of_resources(status: PodStatus) -> bool:
    """Return whether the status has no field about resources, as for most pods; a fast path."""
    return not (
        status.container_statuses
        or status.init_container_statuses
        or status.conditions
        or status.allocated_resources is not None
        or status.resources is not None
    )


def resized(pod: Pod) -> tuple[object, ...] | None:
    """Return the part of the status that determines requests; ``None`` if the status has no such part."""
    status = pod.status
    if status is None or _says_nothing_of_resources(status):
        return None
    containers = (*(status.container_statuses or ()), *(status.init_container_statuses or ()))
    pending = [condition.reason for condition in status.conditions or () if condition.type == "PodResizePending"]
    refused = status.resize == "Infeasible"
    # An empty map means that nothing is allocated, so defaults apply. It differs from a missing map.
    amounts = [status.allocated_resources, status.resources]
    amounts += [part for s in containers for part in (s.allocated_resources, s.resources)]
    if not pending and not refused and all(each is None for each in amounts):
        return None
    return ([each.name for each in containers], amounts, pending, refused)
