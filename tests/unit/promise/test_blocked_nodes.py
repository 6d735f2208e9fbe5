"""Nodes that pods of any order may close to one pod."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import ZONE, node, nodes, spread
from tests.unit.promise.test_proofs import HOST, Json, apart, of, run_of
from topospread.promise.proofs import Proof
from topospread.promise.questions import NoPending


def placed(*objects: Json) -> str:
    run = run_of(*objects)
    return Proof(run, run.queue).of(NoPending())


def open_nodes(number: int) -> str:
    nodes = "1 node is" if number == 1 else f"{number} nodes are"
    return f"by counting: {nodes} feasible for its pods, wherever other pods are"


PORT: Json = {"container": {"ports": [{"containerPort": 80, "hostPort": 80}]}}


@pytest.mark.parametrize(
    ("objects", "nodes"),
    [
        ([node("a1", cpu="4"), of("web", 4)], 1),
        ([node("a1", cpu="3"), of("web", 4)], 0),
        ([node("a1", cpu="4"), node("a2", cpu="4"), of("web", 5)], 1),
        ([node("a1", cpu="4"), of("web", 2), of("big", 1, "2")], 1),
        ([node("a1", cpu="4"), of("web", 3), of("big", 1, "2")], 0),
        ([*nodes(*"abc"), of("web", 3, affinity=apart("web"))], 1),
        ([*nodes(*"abc"), of("web", 4, affinity=apart("web"))], 0),
        ([*nodes(*"aabb"), of("web", 2, affinity=apart("web", ZONE))], 2),
        ([*nodes(*"abc"), of("web", 2, affinity=apart("api")), of("api", 2)], 1),
        ([*nodes(*"abc"), of("web", 3, affinity=apart("api")), of("api", 2)], 0),
        ([*nodes(*"abc"), of("web", 3, **PORT)], 1),
        ([*nodes(*"abc"), of("web", 4, **PORT)], 0),
        ([*nodes(*"abc"), of("web", 9, "1", spread())], 1),
        ([*nodes(*"aabbcc"), of("web", 9, "1", spread())], 2),
        ([*nodes(*"abc"), node("c2", "c", cpu="0"), of("web", 9, "1", spread())], 1),
        ([*nodes(*"ab"), node("c1", "c", cpu="1"), of("web", 9, "1", spread())], 0),
        ([*nodes(*"abc"), of("web", 3, "1", spread(topologyKey=HOST), spread())], 0),
        ([*nodes(*"ab"), of("web", 3, "1", spread(minDomains=3))], 0),
        ([*nodes(*"abc"), of("web", 3, "1", spread(minDomains=3))], 1),
        ([*nodes(*"ab"), of("web", 1, affinity={"podAffinity": apart("web")["podAntiAffinity"]})], 0),
        # Of the emptiest of three zones with 5 cpu each, 9 other pods take at most 3.
        ([*(node(f"{zone}1", zone, cpu="4") for zone in "abc"), of("web", 10, "1", spread())], 1),
        ([*(node(f"{zone}1", zone, cpu="3") for zone in "abc"), of("web", 10, "1", spread())], 0),
        # Of another workload one zone holds at most what its own maxSkew allows: 2 of 6.
        (
            [
                *(node(f"{zone}1", zone, cpu="3") for zone in "abc"),
                of("web", 3, "1", spread()),
                of("api", 6, "1", spread()),
            ],
            1,
        ),
        (
            [
                *(node(f"{zone}1", zone, cpu="2") for zone in "abc"),
                of("web", 3, "1", spread()),
                of("api", 6, "1", spread()),
            ],
            0,
        ),
        ([*(node(f"{zone}1", zone, cpu="4") for zone in "abc"), of("web", 3, "1", spread()), of("api", 6)], 0),
        # cpu and memory together: whoever fills a node takes both.
        ([node("a1", cpu="4"), node("a2", cpu="4"), of("web", 4, "2")], 1),
    ],
)
def test_nodes_that_are_open_to_any_pod_at_any_moment(objects: list[Json], nodes: int) -> None:
    assert placed(*objects) == (open_nodes(nodes) if nodes else "")


def test_pods_that_fit_nowhere_take_no_room() -> None:
    run = run_of(node("a1", cpu="4"), of("web", 4), of("huge", 3, "5"))
    (web,) = (each for each in run.plan.workloads if each.name == "web")
    assert Proof(run, run.queue).of(NoPending(web)) == open_nodes(1)


def test_pods_take_room_only_where_they_may_be() -> None:
    ssd = node("b1", "b", cpu="4")
    ssd["metadata"]["labels"]["disk"] = "ssd"
    objects = node("a1", cpu="2"), ssd, of("web", 2), of("fast", 4, nodeSelector={"disk": "ssd"})
    run = run_of(*objects)
    (web,) = (each for each in run.plan.workloads if each.name == "web")
    assert Proof(run, run.queue).of(NoPending(web)) == open_nodes(1)
