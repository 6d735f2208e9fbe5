"""Whom kube-proxy asks, with which hints, and what of it crosses zones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from tests.unit.drill.builders import node
from topospread.render.blocks import Page
from topospread.render.pages.traffic import traffic_section
from topospread.render.text import text
from topospread.simulation.options import SimulationOptions
from topospread.traffic.clients import Clients
from topospread.traffic.result import ExpectedTraffic, TrafficOfService
from topospread.traffic.traffic import TrafficQuestion, traffic_of

Json = dict[str, Any]


def service(name: str = "web", annotations: Json | None = None, **spec: Any) -> Json:
    metadata = {"name": name, "namespace": "shop", "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": {"selector": {"app": "web"}} | spec}


def pod(name: str, on: str, app: str = "web", *, ready: str = "True", **metadata: Any) -> Json:
    status = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": app}} | metadata,
        "spec": {"nodeName": on, "containers": [{"name": "c", "image": "i"}]},
        "status": status,
    }


NODES = [node("a1", "a"), node("b1", "b"), node("c1", "c")]
THREE = [pod("w1", "a1"), pod("w2", "b1"), pod("w3", "c1")]
EVEN = [pod(f"x{i}", name, "client") for i, name in enumerate(("a1", "b1", "c1"))]


def asked(
    *objects: Json, version: str = "1.37", clients: tuple[Clients, ...] = (), price: float | None = None
) -> ExpectedTraffic:
    return traffic_of(inventory(*objects), SimulationOptions(kube_version=version), TrafficQuestion(clients, price))


def one(*objects: Json, **how: Any) -> TrafficOfService:
    return asked(*objects, **how).services[0]


def test_without_hints_every_endpoint_is_asked_alike() -> None:
    found = one(*NODES, *THREE, *EVEN, service())
    assert (found.policy, found.clients, found.endpoints) == ("Cluster", "all pods", 3)
    assert found.crossing == pytest.approx(2 / 3)
    assert found.over_mean == pytest.approx(1)


def test_the_fewest_endpoints_of_a_zone_are_asked_most() -> None:
    more = [*THREE, pod("w4", "a1"), pod("w5", "a1")]
    found = one(*NODES, *more, *EVEN, service(trafficDistribution="PreferSameZone"))
    assert found.busiest == "shop/w2"
    assert found.over_mean == pytest.approx(5 / 3)


def test_an_endpoint_on_the_node_comes_before_the_zone() -> None:
    two = [node("a1", "a"), node("a2", "a"), node("b1", "b")]
    there = [pod("w1", "a1"), pod("w2", "a2"), pod("w3", "b1")]
    own = (Clients(workload="", zones={"a": 1}),)
    near = one(*two, *there, service(trafficDistribution="PreferSameNode"), clients=own)
    assert (near.policy, near.crossing, near.over_mean) == ("PreferSameNode", 0, pytest.approx(1.5))
    lonely = one(*two, there[0], there[2], service(trafficDistribution="PreferSameNode"), clients=own)
    assert lonely.crossing == 0
    assert lonely.over_mean == pytest.approx(2)


def test_local_traffic_fails_where_no_endpoint_is_on_the_node() -> None:
    found = one(*NODES, *THREE[:2], *EVEN, service(internalTrafficPolicy="Local", trafficDistribution="PreferClose"))
    assert (found.policy, found.crossing) == ("Local", 0)
    assert found.failing == pytest.approx(1 / 3)


def test_pods_that_terminate_are_asked_where_none_is_ready() -> None:
    gone = [pod("w1", "a1", deletionTimestamp="2026-01-01T00:00:00Z")]
    assert one(*NODES, *gone, service()).endpoints == 1
    assert one(*NODES, *gone, THREE[1], service()).busiest == "shop/w2"
    assert not asked(*NODES, pod("w1", "a1", ready="False"), service()).services
    assert asked(*NODES, pod("w1", "a1", ready="False"), service(publishNotReadyAddresses=True)).services


def test_what_nobody_can_tell_is_left_out() -> None:
    found = asked(*NODES, *THREE, service("h", clusterIP="None"), service("e", type="ExternalName"),
                  service("s", selector=None), service("n", selector={"app": "none"}))  # fmt: skip
    assert set(found.left_out) == {"shop/h", "shop/e", "shop/s", "shop/n"}
    assert "headless" in found.left_out["shop/h"]


def shown(found: ExpectedTraffic) -> str:
    return text(Page("", (traffic_section(found),)), width=200)


def test_what_is_left_out_is_said_of_one_and_of_several_alike() -> None:
    headless = [service(name, clusterIP="None") for name in ("h1", "h2")]
    found = asked(*NODES, *THREE, *headless, service("n", selector={"app": "none"}))
    lines = shown(found).splitlines()
    why = "headless: clients choose among the pods themselves"
    assert f"without figures: 2 Services, {why}: shop/h1, shop/h2" in lines
    assert "without figures: 1 Service, without pods: shop/n" in lines


def test_a_price_is_told() -> None:
    found = asked(*NODES, *THREE, *EVEN, service(), price=0.01)
    assert "COST/TB" in shown(found)
    assert "6.67" in shown(found)
    assert found.to_dict()["services"][0]["pricePerGB"] == pytest.approx(0.01 * 2 / 3)


def test_endpoints_on_silent_nodes_do_not_answer() -> None:
    """A pod on a node that is gone is no endpoint, unless the Service publishes those that are not ready, too."""
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
    gone = [node("a1", "a", taints=[taint]), *NODES[1:]]
    there = [pod("w1", "a1", ready="False"), *THREE[1:], *EVEN[1:]]
    assert one(*gone, *there, service()).failing == 0
    published = asked(*gone, *there, service(publishNotReadyAddresses=True))
    found = published.services[0]
    assert (found.endpoints, found.failing, found.unanswered) == (3, pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert found.over_mean == pytest.approx(1)
    assert "33% fails: endpoints on NotReady nodes" in shown(published)
    assert published.to_dict()["services"][0]["unanswered"] == pytest.approx(1 / 3)
