"""NodeResourcesFit: the boundary of each resource, the codes and reasons, and the queueing hint."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.plugins.interface import UNRESOLVABLE, UNSCHEDULABLE
from topospread.plugins.node_resources_fit import NodeResourcesFit, Room

Amounts = dict[str, str]


def node(name: str = "n", **amounts: str) -> Node:
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "3", "example.com/gpu": "2"} | {
        key.replace("gpu", "example.com/gpu"): amount for key, amount in amounts.items()
    }
    return msgspec.convert({"metadata": {"name": name}, "status": {"allocatable": allocatable}}, Node)


def pod(requests: Amounts, on: str = "", name: str = "p") -> Pod:
    spec = {"containers": [{"name": "c", "resources": {"requests": requests}}], "nodeName": on}
    return msgspec.convert({"metadata": {"name": name, "namespace": "d"}, "spec": spec}, Pod)


def room(requests: Amounts, *used: Amounts, allocatable: Node | None = None) -> tuple[Room, int]:
    """The filter for a pod, and its code for a node with pods that use amounts."""
    cluster = Cluster()
    cluster.add_node(allocatable or node())
    for i, each in enumerate(used):
        assert cluster.add_pod(pod(each, "n", f"u{i}"))
    found = NodeResourcesFit().prepare(cluster.pod_class(pod(requests)), cluster).filter
    assert isinstance(found, Room)
    (code,) = found.filter(np.array([0])).tolist()
    assert found.filter_each([0]) == [code]
    return found, code


@pytest.mark.parametrize(
    ("requests", "used", "reasons"),
    [
        ({"cpu": "1"}, {"cpu": "3"}, ()),
        ({"cpu": "1001m"}, {"cpu": "3"}, ("Insufficient cpu",)),
        ({"memory": "1Gi"}, {"memory": "7Gi"}, ()),
        ({"memory": "1073741825"}, {"memory": "7Gi"}, ("Insufficient memory",)),
        ({"example.com/gpu": "1"}, {"example.com/gpu": "1"}, ()),
        ({"example.com/gpu": "1"}, {"example.com/gpu": "2"}, ("Insufficient example.com/gpu",)),
        (
            {"example.com/gpu": "1", "cpu": "2", "memory": "2Gi"},
            {"example.com/gpu": "2", "cpu": "3", "memory": "7Gi"},
            ("Insufficient cpu", "Insufficient memory", "Insufficient example.com/gpu"),
        ),
    ],
)
def test_requests_fit_up_to_what_is_left(requests: Amounts, used: Amounts, reasons: tuple[str, ...]) -> None:
    found, code = room(requests, used)
    assert bool(code) is bool(reasons)
    if code:
        assert (found.status(code).code, found.status(code).reasons) == (UNSCHEDULABLE, reasons)


def test_a_pod_without_requests_takes_one_of_the_pods() -> None:
    assert room({}, {}, {})[1] == 0
    found, code = room({}, {}, {}, {})
    assert found.status(code).reasons == ("Too many pods",)
    assert found.shortages(0) == [("pods", 1, 3, 3)]


@pytest.mark.parametrize(("cpu", "code"), [("4", UNSCHEDULABLE), ("4001m", UNRESOLVABLE)])
def test_evictions_cannot_help_above_the_whole_capacity(cpu: str, code: str) -> None:
    found, rejected = room({"cpu": cpu}, {"cpu": "1"})
    assert found.status(rejected).code == code


def test_an_overcommitted_resource_matters_only_if_requested() -> None:
    small = node(cpu="1")
    assert room({"memory": "1Gi"}, {"cpu": "3"}, allocatable=small)[1] == 0
    found, code = room({"cpu": "1m"}, {"cpu": "3"}, allocatable=small)
    assert found.shortages(0) == [("cpu", 1, 3000, 1000)]
    assert found.status(code).reasons == ("Insufficient cpu",)


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, {"cpu": "1"}, True),
        (None, {"cpu": "999m"}, False),
        (None, {"pods": "0"}, False),
        ({"cpu": "1"}, {"cpu": "1"}, False),
        ({"cpu": "1"}, {"cpu": "2"}, True),
        ({"cpu": "2", "memory": "1Gi"}, {"cpu": "2", "memory": "2Gi"}, False),
        ({"pods": "1"}, {"pods": "2"}, True),
    ],
)
def test_a_node_helps_if_it_has_room_and_more_of_a_request(old: Amounts | None, new: Amounts, helps: bool) -> None:
    cluster = Cluster()
    registration = next(
        each for each in NodeResourcesFit().events_to_register(cluster) if each.event.resource == "Node"
    )
    before = None if old is None else node(**old)
    assert registration.hint(pod({"cpu": "1"}), before, node(**new)) is helps
