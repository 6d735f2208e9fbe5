"""Whom kube-proxy asks, with which hints, and what of it crosses zones."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from tests.unit.drill.builders import node, workload
from topospread.errors import UsageError
from topospread.render.blocks import Page
from topospread.render.pages.traffic import traffic_section
from topospread.render.text import text
from topospread.simulation.options import SimulationOptions
from topospread.traffic.clients import Clients, read_clients
from topospread.traffic.result import ExpectedTraffic, TrafficOfService
from topospread.traffic.traffic import TrafficQuestion, traffic_of

Json = dict[str, Any]
AUTO = {"service.kubernetes.io/topology-mode": "Auto"}


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


@pytest.mark.parametrize(("wanted", "version", "crossing"), [
    ("PreferClose", "1.37", 0), ("PreferSameZone", "1.34", 0), ("PreferClose", "1.31", 0),
    ("PreferClose", "1.30", 2 / 3), ("PreferSameZone", "1.33", 2 / 3),
])  # fmt: skip
def test_traffic_stays_in_the_zone_where_the_version_knows_that(wanted: str, version: str, crossing: float) -> None:
    found = one(*NODES, *THREE, *EVEN, service(trafficDistribution=wanted), version=version)
    assert found.crossing == pytest.approx(crossing)
    assert bool(found.why) == bool(crossing)


def test_a_zone_without_an_endpoint_asks_all() -> None:
    found = one(*NODES, *THREE[:2], *EVEN, service(trafficDistribution="PreferSameZone"))
    assert [(each.name, each.crossing) for each in found.zones] == [("a", 0), ("b", 0), ("c", 1)]
    assert found.crossing == pytest.approx(1 / 3)


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


def test_the_annotation_deals_endpoints_by_the_cpu_of_zones() -> None:
    six = [pod(f"w{i}", "a1") for i in range(4)] + [pod("w4", "b1"), pod("w5", "c1")]
    found = one(*NODES, *six, *EVEN, service(annotations=AUTO))
    assert (found.policy, found.why) == ("Auto", None)
    assert [(each.name, each.crossing) for each in found.zones] == [("a", 0), ("b", 0.5), ("c", 0.5)]
    assert found.over_mean == pytest.approx(1)


@pytest.mark.parametrize(("objects", "why"), [
    ([*NODES, *THREE[:2]], "2 endpoints are too few for 3 zones"),
    ([*NODES, node("d1"), *THREE], "a node has no zone"),
    ([node("a1", "a"), THREE[0]], "only one zone has ready nodes"),
])  # fmt: skip
def test_the_annotation_falls_back(objects: list[Json], why: str) -> None:
    found = one(*objects, service(annotations=AUTO))
    assert why in str(found.why)
    assert found.policy == "Cluster"


def test_the_annotation_comes_before_the_field() -> None:
    found = one(*NODES, *THREE[:2], *EVEN, service(annotations=AUTO, trafficDistribution="PreferClose"))
    assert found.crossing == pytest.approx(2 / 3)  # 1/2, 1/2 and all of the zone without an endpoint


def test_pods_that_terminate_are_asked_where_none_is_ready() -> None:
    gone = [pod("w1", "a1", deletionTimestamp="2026-01-01T00:00:00Z")]
    assert one(*NODES, *gone, service()).endpoints == 1
    assert one(*NODES, *gone, THREE[1], service()).busiest == "shop/w2"
    assert not asked(*NODES, pod("w1", "a1", ready="False"), service()).services
    assert asked(*NODES, pod("w1", "a1", ready="False"), service(publishNotReadyAddresses=True)).services


def test_clients_are_a_workload_or_given() -> None:
    made = workload("ReplicaSet", "x", 1)
    made["metadata"]["uid"] = "u"
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "x", "uid": "u", "controller": True}
    client = pod("x-1", "b1", "x", ownerReferences=[owner])
    near = service(trafficDistribution="PreferClose")
    found = one(*NODES, *THREE, made, client, near, clients=read_clients(["rs/x"]))
    assert (found.clients, found.busiest, found.over_mean) == ("ReplicaSet/x", "shop/w2", pytest.approx(3))
    given = one(*NODES, *THREE, near, clients=read_clients(["zone-x=1", "web:a=3,b=1"]))
    assert [each.clients for each in given.zones] == [0.75, 0.25, 0]


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


@pytest.mark.parametrize("text", ["", "web", "a=", "a=0", "a=1,a=2", ":deploy/web", "a=x"])
def test_clients_that_mean_nothing(text: str) -> None:
    with pytest.raises(UsageError, match="--clients"):
        read_clients([text])


def test_clients_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="--clients"):
        asked(*NODES, *THREE, service(), clients=read_clients(["deploy/nobody"]))
    with pytest.raises(UsageError, match="no node is in z"):
        asked(*NODES, *THREE, service(), clients=read_clients(["z=1"]))


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
