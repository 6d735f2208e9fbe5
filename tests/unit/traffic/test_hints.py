"""The controller's hints: zones and nodes that use an endpoint."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import node
from tests.unit.traffic.test_traffic import EVEN, NODES, THREE, Json, one, pod, service

AUTO = {"service.kubernetes.io/topology-mode": "Auto"}


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
