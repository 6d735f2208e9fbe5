"""NodeResourcesFit rejects nodes that lack resources and scores free resources (plugins/noderesources/fit.go)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.devices import IMPLICIT_PREFIX, DeviceClass, ResourceSlice
from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.api.requests import (
    RequestRules,
    fit_scoring_requests,
    is_counted,
    is_extended_resource,
    pod_requests,
    resource_amounts,
)
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.nodes import PODS
from topospread.config.args import NodeResourcesFitArgs
from topospread.config.version_rules import by_gates, gated, since, until
from topospread.config.versions import KubeVersion

from .cluster_event import (
    ADD,
    ASSIGNED_POD_DELETE,
    NODE_ALLOCATABLE,
    POD_SCALE_DOWN,
    UPDATE,
    ClusterEvent,
    Registration,
    takes_room,
)
from .dynamic_resources import DynamicResourcesRules
from .dynamic_resources.extended import asks_for_others, left_to_devices, unjudged_resource
from .interface import UNRESOLVABLE, UNSCHEDULABLE, NotJudgedError, Prepared, RejectsAll, Scope, Status
from .resource_scoring import ResourceReader, StrategyScore, scorer_of

TOO_MANY_PODS = "Too many pods"
_SIDECARS_SINCE = KubeVersion(1, 28)
_SIDECARS_OFF = Status(
    UNRESOLVABLE, ("Pod has a restartable init container and the SidecarContainers feature is disabled",)
)
_UNRESOLVABLE_BIT = 1 << 62
_FIRST_RESOURCES = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class NodeResourcesFitRules:
    """The differences between Kubernetes versions."""

    reports_unresolvable: bool = since(
        "1.34", "A request above the node's whole capacity is rejected as unresolvable: evictions cannot help."
    )
    checks_what_is_not_requested: bool = until(
        "1.27",
        "A node that is overcommitted in a resource accepts pods that do not request it. Before, it "
        "rejected them if they requested another resource.",
    )
    checks_zero_of_extended: bool = until(
        "1.25",
        "A node that is overcommitted in an extended resource accepts pods that request 0 of it.",
    )
    resizes: bool = gated("InPlacePodVerticalScaling")
    nominated_pods_take_room: bool = since(
        "1.33",
        "Queueing hints: a pod that loses its nomination moves pods that NodeResourcesFit, NodePorts "
        "or NodeVolumeLimits rejected, like a deleted pod.",
    )
    handles_device_classes: bool = since(
        "1.35",
        "Queueing hints: a DeviceClass for an extended resource moves pods that request it and that "
        "NodeResourcesFit rejected.",
    )
    allows_sidecars: bool = by_gates(
        lambda gates: gates.kube_version < _SIDECARS_SINCE or gates.enabled("SidecarContainers"),
        {
            "1.28": "Pods with sidecars are rejected while SidecarContainers is off (the default in 1.28): `Pod "
            "has a restartable init container and the SidecarContainers feature is disabled`."
        },
    )
    rejects_sidecars_at_once: bool = since(
        "1.30",
        "While SidecarContainers is off, PreFilter rejects pods with sidecars. Before, Filter did.",
    )


class NodeResourcesFit:
    """Filter: number of pods, CPU, memory, ephemeral storage, extended resources. Score: the configured strategy."""

    name = "NodeResourcesFit"

    def __init__(
        self,
        args: NodeResourcesFitArgs | None = None,
        rules: NodeResourcesFitRules | None = None,
        devices: DynamicResourcesRules | None = None,
    ) -> None:
        self._args = args or NodeResourcesFitArgs()
        self._devices = devices or DynamicResourcesRules()
        self._rules = rules or NodeResourcesFitRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter and Score. A pod without requests still counts towards the node's number of pods.

        Raises:
            NotJudgedError: if the pod requests an extended resource that DynamicResources provides and is not modelled.
        """
        if problem := unjudged_resource(pod_class, cluster, self._devices):
            raise NotJudgedError("extendedResources", "spec.containers[].resources", problem)
        strategy = self._args.scoring_strategy
        requests = fit_scoring_requests(pod_class.pod, pod_class.rules)
        reader = ResourceReader(strategy.resources, requests, cluster.nodes)
        prepared = Prepared(
            filter=Room(
                self._checked(pod_class.request),
                cluster.nodes,
                self._rules,
                left_to_devices(pod_class, cluster.objects, self._devices),
            ),
            score=StrategyScore(reader, scorer_of(strategy)),
            reads=[(DeviceClass, ""), (ResourceSlice, "")] if asks_for_others(pod_class, self._devices) else (),
        )
        init_containers = pod_class.pod.spec.init_containers or ()
        if not self._rules.allows_sidecars and any(each.restart_policy == "Always" for each in init_containers):
            if self._rules.rejects_sidecars_at_once:
                prepared.rejected = _SIDECARS_OFF
            prepared.filter = RejectsAll(_SIDECARS_OFF)
        return prepared

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for events that free resources: of nodes, deleted or resized pods, and DeviceClasses.

        With a new DeviceClass, DynamicResources may provide an extended resource instead of the node.
        """
        counts_nominated = self._rules.nominated_pods_take_room
        shrinking = (
            Registration(
                ClusterEvent("AssignedPod", POD_SCALE_DOWN),
                lambda pod, old, new: _gives_back(pod, old, new, cluster.rules),
            ),
            Registration(ClusterEvent("TargetPod", POD_SCALE_DOWN)),
        )
        device_class = Registration(
            ClusterEvent("DeviceClass", ADD | UPDATE),
            lambda pod, old, new: _stands_for_a_request(cluster.shared_class(pod).request, old, new),
        )
        handles_device_classes = self._rules.handles_device_classes and self._devices.extended_resources
        return (
            Registration(ASSIGNED_POD_DELETE, lambda pod, old, new: takes_room(old, counts_nominated=counts_nominated)),
            Registration(
                ClusterEvent("Node", ADD | NODE_ALLOCATABLE),
                lambda pod, old, new: self._may_have_room(cluster.shared_class(pod), cluster, old, new),
            ),
            *((device_class,) if handles_device_classes else ()),
            *(shrinking if self._rules.resizes else ()),
        )

    def _may_have_room(self, pod_class: PodClass, cluster: Cluster, old: Node | None, new: Node) -> bool:
        """Return whether a node event may make the pod fit, apart from resources that DynamicResources provides."""
        devices = left_to_devices(pod_class, cluster.objects, self._devices)
        if not devices:
            return _may_have_room(pod_class.request, old, new)
        had = resource_amounts(new.status.allocatable)
        left = {name for name in devices if not had.get(name)}
        request = {name: amount for name, amount in pod_class.request.items() if name not in left}
        return _may_have_room(request, old, new) or (bool(left) and _may_have_room(request, None, new))

    def _checked(self, requests: dict[str, int]) -> dict[str, int]:
        """Return resource → amount that the filter compares with the free amount, without ignored resources."""
        rules = self._rules
        checked = {name: amount for name, amount in requests.items() if not self._ignores(name)}
        extended = [name for name in requests if name not in _FIRST_RESOURCES]
        kept: set[str] = set()
        if rules.checks_what_is_not_requested and (extended or any(requests.values())):
            checked = {**dict.fromkeys(_FIRST_RESOURCES, 0), **checked}
            kept = {*_FIRST_RESOURCES, *(extended if rules.checks_zero_of_extended else ())}
        return {name: amount for name, amount in checked.items() if amount > 0 or name in kept}

    def _ignores(self, name: str) -> bool:
        if not is_extended_resource(name):
            return False
        group = name.split("/", maxsplit=1)[0]
        return name in self._args.ignored_resources or group in self._args.ignored_resource_groups


def _gives_back(pod: Pod, old: Pod, new: Pod, rules: RequestRules) -> bool:
    """Return whether an update made another pod request less of a resource that ``pod`` requests."""
    if not new.spec.node_name:
        return False
    before, after = pod_requests(old, rules), pod_requests(new, rules)
    wanted = (name for name, amount in pod_requests(pod, rules).items() if amount and is_counted(name))
    return any(before.get(name, 0) > after.get(name, 0) for name in wanted)


def _may_have_room(request: Mapping[str, int], old: Node | None, new: Node) -> bool:
    """Return whether the pod fits on the empty node, and the update increased a resource that the pod requests."""
    room = resource_amounts(new.status.allocatable)
    if room.get("pods", 0) < 1 or any(amount > 0 and amount > room.get(name, 0) for name, amount in request.items()):
        return False
    if old is None:
        return True
    had = resource_amounts(old.status.allocatable)
    wanted = ("pods", *(name for name, amount in request.items() if amount > 0))
    return any(room.get(name, 0) > had.get(name, 0) for name in wanted)


def _stands_for_a_request(request: Mapping[str, int], old: DeviceClass | None, new: DeviceClass) -> bool:
    """Return whether an added or updated DeviceClass newly provides a requested extended resource."""
    named = new.spec.extended_resource_name
    if old is None:
        return IMPLICIT_PREFIX + new.name in request or named in request
    return (old.spec.extended_resource_name or "") != (named or "") and named in request


class Room:
    """The Filter extension point. A code has one bit for each lacking resource.

    Bit 0 is the number of pods. The bits after it follow `_names`: CPU, memory, ephemeral storage, extended resources.
    """

    scope = Scope.USAGE

    def __init__(
        self,
        requests: dict[str, int],
        nodes: NodeTable,
        rules: NodeResourcesFitRules,
        devices: frozenset[str] = frozenset(),
    ) -> None:
        """Args:
        requests: resource → requested amount.
        devices: resources that DynamicResources provides on nodes without them in their allocatable.
        """
        names = [name for name in _FIRST_RESOURCES if name in requests]
        names += sorted(set(requests) - set(names))
        self._nodes = nodes
        self._tells_unresolvable = rules.reports_unresolvable
        self._names = names
        self._checks = [(nodes.resource(name), requests[name], 2 << i) for i, name in enumerate(names)]
        self._devices = frozenset(nodes.resource(name) for name in names if name in devices)

    @property
    def amounts(self) -> dict[int, int]:
        """Resource column → amount that every feasible node must have left."""
        return {column: amount for column, amount, _ in self._checks if amount and column not in self._devices}

    def filter(self, rows: Rows) -> Ints:
        """Return the code of each node, int64[rows]."""
        allocatable = self._nodes.allocatable
        used = self._nodes.used
        codes = (used[rows, PODS] + 1 > allocatable[rows, PODS]).astype(np.int64)
        for column, amount, bit in self._checks:
            capacity = allocatable[rows, column]
            short = amount > capacity - used[rows, column]
            if column in self._devices:
                short &= capacity > 0
            codes |= np.where(short, bit, 0)
            if self._tells_unresolvable:
                codes |= np.where(short & (amount > capacity), _UNRESOLVABLE_BIT, 0)
        return codes

    def filter_each(self, rows: Sequence[int]) -> list[int]:
        """Return the codes of `filter`, computed node by node."""
        return list(map(self._code, rows))

    def _code(self, row: int) -> int:
        allocatable, used = self._nodes.allocatable.item, self._nodes.used.item
        code = int(used(row, PODS) + 1 > allocatable(row, PODS))
        for column, amount, bit in self._checks:
            capacity = allocatable(row, column)
            if amount > capacity - used(row, column) and not (column in self._devices and capacity <= 0):
                code |= bit
                if self._tells_unresolvable and amount > capacity:
                    code |= _UNRESOLVABLE_BIT
        return code

    def status(self, code: int) -> Status:
        """Return the status of a code."""
        reasons = [TOO_MANY_PODS] if code & 1 else []
        reasons += [f"Insufficient {name}" for i, name in enumerate(self._names) if code & (2 << i)]
        return Status(UNRESOLVABLE if code & _UNRESOLVABLE_BIT else UNSCHEDULABLE, tuple(reasons))

    def shortages(self, row: int) -> list[tuple[str, int, int, int]]:
        """Return the resources that a node lacks, for explanations: (resource, requested, used, allocatable)."""
        result = []
        used, allocatable = self._nodes.used[row], self._nodes.allocatable[row]
        if used[PODS] + 1 > allocatable[PODS]:
            result.append(("pods", 1, int(used[PODS]), int(allocatable[PODS])))
        for name, (column, amount, _) in zip(self._names, self._checks, strict=True):
            if amount > allocatable[column] - used[column]:
                result.append((name, amount, int(used[column]), int(allocatable[column])))
        return result
