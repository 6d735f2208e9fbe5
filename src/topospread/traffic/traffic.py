"""Compute the expected traffic of every Service from the placed pods."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from topospread.api.inventory import Inventory, key_of
from topospread.api.pod import FINISHED_PHASES, Pod
from topospread.api.well_known_labels import ZONE
from topospread.api.workload import Service
from topospread.config.version_rules import rules_for
from topospread.controllers.node_lifecycle import is_silent
from topospread.controllers.scale import the_workload
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions
from topospread.simulation.run import prepare

from .clients import Clients, by_pods, by_zones
from .hints import Endpoint, TrafficRules, hinted
from .result import ExpectedTraffic, TrafficOfService, TrafficOfZone

# The endpoints that a node's kube-proxy may use, with equal probabilities. `hints` computes the hints.


def chosen(endpoints: Sequence[Endpoint], node: str, zone: str, *, local: bool, by_node: bool) -> list[Endpoint]:
    """Return the endpoints that a client's requests may reach; empty if they fail.

    Args:
        node, zone: the client's node and zone; "" for no zone.
        local: ``internalTrafficPolicy: Local``.
        by_node: whether the version supports hints for nodes.
    """
    ready = [each for each in endpoints if each.ready]
    if local:
        own = [each for each in ready if each.node == node]
        return own or [each for each in endpoints if not each.ready and each.node == node]
    if not ready:
        return list(endpoints)
    if by_node and all(each.for_node for each in ready):
        own = [each for each in ready if each.for_node == node]
        if own:
            return own
    if all(each.for_zone for each in ready):
        own = [each for each in ready if each.for_zone == zone]
        if own:
            return own
    return ready


OwnedPods = Mapping[tuple[str, str], tuple[str, str, str]]
"""(namespace, name) of a pod → (kind, namespace, name) of its workload."""


@dataclass(frozen=True, slots=True)
class TrafficQuestion:
    """The sources of requests and the price.

    Attributes:
        clients: clients; by default all pods that are not endpoints themselves.
        price: price of a GB of cross-zone traffic.
    """

    clients: Sequence[Clients] = ()
    price: float | None = None


class _Cluster:
    """The nodes and placed pods.

    Attributes:
        asking: Ready nodes, which have clients.
        silent: names of NotReady nodes, whose pods do not answer.
    """

    def __init__(self, inventory: Inventory, owners: OwnedPods) -> None:
        self.nodes = inventory.nodes
        self.asking = [each for each in inventory.nodes if not is_silent(each)]
        self.silent = {each.name for each in inventory.nodes} - {each.name for each in self.asking}
        self.zone = {each.name: each.labels.get(ZONE, "") for each in inventory.nodes}
        self.pods: dict[str, list[Pod]] = defaultdict(list)
        for pod in inventory.pods:
            if pod.spec.node_name in self.zone and pod.phase not in FINISHED_PHASES:
                self.pods[pod.namespace or "default"].append(pod)
        self.owners = owners


def traffic_of(inventory: Inventory, options: SimulationOptions, asking: TrafficQuestion) -> ExpectedTraffic:
    """Return the expected traffic of each Service.

    Args:
        inventory: the cluster. Placed pods are ready unless their status differs.

    Raises:
        InputError: if the API server denies an object.
        UsageError: if a client is missing.
    """
    rules = rules_for(TrafficRules, options.in_force[0])
    run = prepare(inventory, options, with_spreads=False)
    owners = {(pod.namespace or "default", pod.name): key_of(row) for row in run.plan.workloads for pod in row.existing}
    cluster = _Cluster(run.plan.inventory, owners)
    found, left_out = [], {}
    for service in inventory.services:
        why = _passed_over(service)
        name = f"{service.namespace or 'default'}/{service.name}"
        endpoints = list(_endpoints(service, cluster)) if not why else []
        if why or not endpoints:
            left_out[name] = why or "without pods"
            continue
        found.append(_expected(service, endpoints, cluster, rules, asking))
    return ExpectedTraffic(asking.price, tuple(found), left_out)


def _passed_over(service: Service) -> str:
    """Return why kube-proxy ignores a Service, or why its endpoints are unknown; "" if neither."""
    if service.spec.type == "ExternalName":
        return "ExternalName, without pods"
    if service.spec.cluster_ip == "None":
        return "headless: clients choose among the pods themselves"
    return "" if service.spec.selector else "without a selector"


def _endpoints(service: Service, cluster: _Cluster) -> Iterator[Endpoint]:
    """Yield the pods of a Service (``podToEndpoint``): ready pods, and terminating pods that still serve."""
    selector = (service.spec.selector or {}).items()
    for pod in cluster.pods.get(service.namespace or "default", ()):
        if not selector <= pod.labels.items():
            continue
        node, serves = pod.spec.node_name or "", pod.is_ready or bool(service.spec.publish_not_ready_addresses)
        ready = serves and (not pod.terminating or bool(service.spec.publish_not_ready_addresses))
        if serves:
            yield Endpoint(f"{pod.namespace or 'default'}/{pod.name}", node, cluster.zone[node], ready)


def _expected(
    service: Service, endpoints: list[Endpoint], cluster: _Cluster, rules: TrafficRules, asking: TrafficQuestion
) -> TrafficOfService:
    hints = hinted(service, endpoints, cluster.nodes, rules)
    local = service.spec.internal_traffic_policy == "Local" and rules.local
    whose, weights = _clients(service, endpoints, cluster, asking)
    loads: defaultdict[str, float] = defaultdict(float)
    shares: defaultdict[str, float] = defaultdict(float)
    crossing: defaultdict[str, float] = defaultdict(float)
    refused, unanswered = 0.0, 0.0
    for node, weight in weights.items():
        zone = cluster.zone[node]
        shares[zone] += weight
        asked = chosen(hints.endpoints, node, zone, local=local, by_node=rules.prefer_same)
        if not asked:
            refused += weight
        for each in asked:
            loads[each.pod] += weight / len(asked)
            unanswered += weight / len(asked) if each.node in cluster.silent else 0.0
            if zone and each.zone and each.zone != zone:
                crossing[zone] += weight / len(asked)
    usable = [each for each in endpoints if each.ready] or endpoints
    busiest = min(loads, key=lambda pod: (-loads[pod], pod)) if loads else ""
    there = Counter(each.zone for each in usable)
    crossed = sum(crossing.values())
    return TrafficOfService(
        namespace=service.namespace or "default",
        name=service.name,
        policy="Local" if local else (hints.policy if not hints.why else "") or "Cluster",
        clients=whose,
        endpoints=len(usable),
        crossing=round(crossed, 6),
        failing=round(refused + unanswered, 6),
        unanswered=round(unanswered, 6),
        price_per_gb=None if asking.price is None else round(crossed * asking.price, 9),
        busiest=busiest or None,
        over_mean=round(loads[busiest] * len(usable) / (1 - refused), 6) if busiest else 0.0,
        zones=tuple(
            TrafficOfZone(
                zone or None,
                round(shares[zone], 6),
                there[zone],
                round(crossing[zone] / shares[zone], 6) if shares[zone] else 0.0,
            )
            for zone in sorted({*shares, *there})
        ),
        why=None if local else hints.why or None,
    )


def _clients(
    service: Service, endpoints: Sequence[Endpoint], cluster: _Cluster, asking: TrafficQuestion
) -> tuple[str, dict[str, float]]:
    """Return the name of the clients, and node → their share of the requests."""
    namespace = service.namespace or "default"
    own = [each for each in asking.clients if each.ask(namespace, service.name)]
    who = next((each for each in own if each.service), own[0] if own else None)
    if who is None:
        behind = {each.pod for each in endpoints}
        every = (pod for pods in cluster.pods.values() for pod in pods)
        nodes = [pod.spec.node_name or "" for pod in every if f"{pod.namespace or 'default'}/{pod.name}" not in behind]
        return "all pods" if nodes else "all nodes", by_pods(nodes, cluster.asking)
    if who.zones:
        return "given", by_zones(who.zones, cluster.nodes, cluster.asking)
    there = sorted(set(cluster.owners.values()))
    try:
        kind, space, name = the_workload(who.workload, there)
    except UsageError as error:
        raise UsageError(f"--clients {error}") from None
    pods = (pod for pod in cluster.pods[space] if cluster.owners.get((space, pod.name)) == (kind, space, name))
    return f"{kind}/{name}", by_pods([pod.spec.node_name or "" for pod in pods], cluster.asking)
