"""Compute the EndpointSlice controller's hints: the zones and nodes that should use each endpoint.

Hints are computed as for a new Service. The real controller keeps existing hints until a zone is overloaded, and
chooses randomly between equal zones (here: the first by name). Sources: k8s.io/endpointslice
trafficdist/trafficdist.go, topologycache/topologycache.go and utils.go (``AddHints``, ``getAllocations``,
``getGivingAndReceivingZones``), reconciler.go (``validTrafficDistribution``), utils.go (``hintsEnabled``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

from topospread.api.node import Node
from topospread.api.quantity import parse_quantity
from topospread.api.well_known_labels import ZONE
from topospread.api.workload import Service
from topospread.config.version_rules import since
from topospread.controllers.node_lifecycle import is_silent
from topospread.text import agreeing, counted

_OVERLOAD = 0.2
_EXCLUDED = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")


@dataclass(frozen=True, slots=True)
class TrafficRules:
    """The traffic features of a Kubernetes version in kube-proxy and the controller manager.

    Source: pkg/features/kube_features.go (``ServiceInternalTrafficPolicy``, ``TopologyAwareHints``,
    ``ServiceTrafficDistribution``, ``PreferSameTrafficDistribution``).
    """

    local: bool = since("1.22", "internalTrafficPolicy Local is heeded")
    annotation: bool = since("1.24", "service.kubernetes.io/topology-aware-hints is heeded")
    topology_mode: bool = since("1.27", "service.kubernetes.io/topology-mode is heeded")
    prefer_close: bool = since("1.31", "trafficDistribution PreferClose is heeded")
    prefer_same: bool = since("1.34", "trafficDistribution PreferSameZone and PreferSameNode are heeded")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A pod behind a Service.

    Attributes:
        zone: zone of its node; "" without one.
        ready: whether it is ready. Otherwise it is terminating, and used only if no endpoint is ready.
        for_zone, for_node: its hints; "" without a hint.
    """

    pod: str
    node: str
    zone: str
    ready: bool = True
    for_zone: str = ""
    for_node: str = ""


@dataclass(frozen=True, slots=True)
class Hinted:
    """Endpoints with their hints, and the reason if a Service asks for hints but has none."""

    endpoints: tuple[Endpoint, ...]
    policy: str
    why: str = ""


def hinted(service: Service, endpoints: Sequence[Endpoint], nodes: Iterable[Node], rules: TrafficRules) -> Hinted:
    """Return (the endpoints as the controller publishes them, policy for hints); the policy is "" if there is none.

    The annotation with the value Auto overrides ``trafficDistribution``.
    """
    if hints_enabled(service, rules):
        return _auto(endpoints, nodes)
    wanted = service.spec.traffic_distribution or ""
    if not wanted:
        return Hinted(tuple(endpoints), "")
    known = rules.prefer_close if wanted == "PreferClose" else wanted in ("PreferSameZone", "PreferSameNode")
    if not known or (wanted != "PreferClose" and not rules.prefer_same):
        return Hinted(tuple(endpoints), "", f"this version of Kubernetes does not support trafficDistribution {wanted}")
    policy = "PreferSameZone" if wanted == "PreferClose" else wanted
    by_node = policy == "PreferSameNode"
    found = (replace(each, for_zone=each.zone, for_node=each.node if by_node else "") for each in endpoints)
    return Hinted(tuple(made if made.ready else replace(made, for_zone="", for_node="") for made in found), policy)


def hints_enabled(service: Service, rules: TrafficRules) -> bool:
    """Return whether the topology annotation requests hints and the version supports it."""
    annotations = service.metadata.annotations
    if annotations is None or not rules.annotation:
        return False
    value = annotations.topology_aware_hints
    if value is None and rules.topology_mode:
        value = annotations.topology_mode
    return value in ("Auto", "auto")


def cpu_ratios(nodes: Iterable[Node]) -> dict[str, float]:
    """Return zone → its share of the ready nodes' CPU; empty if a node lacks a zone or CPU (``SetNodes``)."""
    milli: Counter[str] = Counter()
    for node in nodes:
        if is_silent(node) or any(label in node.labels for label in _EXCLUDED):
            continue
        cpu = (node.status.allocatable or node.status.capacity or {}).get("cpu")
        amount = parse_quantity(cpu).milli_value() if cpu is not None else 0
        zone = node.labels.get(ZONE, "")
        if not zone or not amount:
            return {}
        milli[zone] += amount
    return {zone: amount / milli.total() for zone, amount in milli.items()} if len(milli) > 1 else {}


def _auto(endpoints: Sequence[Endpoint], nodes: Iterable[Node]) -> Hinted:
    """Assign endpoints to zones by their share of CPU (``AddHints``)."""
    ratios = cpu_ratios(nodes)
    ready = [each for each in endpoints if each.ready]
    plain = tuple(endpoints)
    if not ratios:
        return Hinted(plain, "Auto", "a node has no zone or no CPU, or only one zone has ready nodes")
    if len(ratios) > len(ready):
        return Hinted(
            plain,
            "Auto",
            f"{counted(len(ready), 'endpoint')} {agreeing('are', len(ready))} too few for {len(ratios)} zones",
        )
    allocations = _allocations(ratios, len(ready))
    if allocations is None:
        return Hinted(
            plain,
            "Auto",
            f"{counted(len(ready), 'endpoint')} cannot be assigned to {len(ratios)} zones without overload",
        )
    if any(not each.zone for each in ready):
        return Hinted(plain, "Auto", "an endpoint is on a node without a zone")
    giving, receiving = _exchanges(allocations, Counter(each.zone for each in ready))
    found = []
    for each in endpoints:
        zone = each.zone
        if each.ready and giving[zone] > 0 and receiving:
            to = min(receiving)
            giving[zone] -= 1
            receiving[to] -= 1
            receiving = +receiving
            zone = to
        found.append(replace(each, for_zone=zone if each.ready else ""))
    return Hinted(tuple(found), "Auto")


def _allocations(ratios: Mapping[str, float], endpoints: int) -> dict[str, float] | None:
    """Return zone → desired endpoints; None if there are fewer endpoints than the minimum for all zones."""
    least = {zone: ceil(ratio * endpoints * (1 / (1 + _OVERLOAD))) for zone, ratio in ratios.items()}
    if sum(least.values()) > endpoints:
        return None
    return {zone: max(ratio * endpoints, float(least[zone])) for zone, ratio in ratios.items()}


def _exchanges(desired: Mapping[str, float], there: Counter[str]) -> tuple[Counter[str], Counter[str]]:
    """Return how many endpoints each zone gives and receives (``getGivingAndReceivingZones``)."""
    more = {zone: there[zone] - target for zone, target in desired.items() if there[zone] > target}
    less = {zone: target - there[zone] for zone, target in desired.items() if there[zone] < target}
    giving: Counter[str] = Counter()
    receiving: Counter[str] = Counter()
    while more and less:
        giver, taker = _most(more), _most(less)
        if (more[giver] < 1 and less[taker] < 1) or more[giver] < 0.5 or less[taker] < 0.5:
            break
        giving[giver] += 1
        receiving[taker] += 1
        more[giver] -= 1
        less[taker] -= 1
    return giving, receiving


def _most(zones: Mapping[str, float]) -> str:
    return min(zones, key=lambda zone: (-zones[zone], zone))
