"""The sources of requests."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import workload
from tests.unit.traffic.test_traffic import NODES, THREE, asked, one, pod, service
from topospread.errors import UsageError
from topospread.traffic.clients import read_clients


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


@pytest.mark.parametrize("text", ["", "web", "a=", "a=0", "a=1,a=2", ":deploy/web", "a=x"])
def test_clients_that_mean_nothing(text: str) -> None:
    with pytest.raises(UsageError, match="--clients"):
        read_clients([text])


def test_clients_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="--clients"):
        asked(*NODES, *THREE, service(), clients=read_clients(["deploy/nobody"]))
    with pytest.raises(UsageError, match="no node is in z"):
        asked(*NODES, *THREE, service(), clients=read_clients(["z=1"]))
