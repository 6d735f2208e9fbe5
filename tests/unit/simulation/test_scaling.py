"""Pools grow for pods that found no node: which, how far, and the domains that new nodes would add."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.plain_inventory import inventory
from tests.unit.drill.builders import ZONE, at, node, nodes, spread, workload
from topospread.answers.simulation import simulation_answer
from topospread.api.node_selection import Taint
from topospread.api.pools import NodePool
from topospread.drill.drill import drill
from topospread.drill.each import drill_each
from topospread.drill.expectations import Expectations, shortfalls
from topospread.drill.steps import Fail, NodeChoice, Recover, Scale
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

Json = dict[str, Any]
EVEN = {"topologySpreadConstraints": [spread()]}


def pool(name: str, zone: str, cpu: str = "4", most: int | None = 5, **more: Any) -> NodePool:
    labels = {ZONE: zone, "pool": name} | more.pop("labels", {})
    return NodePool(name, labels, {"cpu": cpu, "memory": "64Gi", "pods": "110"}, most=most, **more)


def simulated(objects: list[Json], *pools: NodePool) -> Simulation:
    return simulate(inventory(*objects), options=SimulationOptions(pools=pools))


def added(found: Simulation) -> dict[str, int]:
    return {each.name: len(each.added) for each in found.pools}


def test_the_smallest_pool_that_takes_the_pod_grows() -> None:
    heavy = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "3"}}}]}
    found = simulated(
        [*nodes("a"), workload("Deployment", replicas=5, spec=heavy)],
        pool("big", "a", "16"),
        pool("mid", "a"),
        pool("small", "a", "2"),
    )
    assert added(found) == {"big": 0, "mid": 2, "small": 0}
    assert not found.pending


def test_a_pool_grows_no_further_than_it_may() -> None:
    found = simulated([*nodes("a"), workload("Deployment", replicas=30)], pool("p", "a", most=2))
    assert added(found) == {"p": 2}
    assert sum(len(each.pods) for each in found.pending) == 30 - 10 - 8


def test_only_a_zone_that_may_take_the_pod_grows() -> None:
    full = [*nodes("a"), node("b1", "b", cpu="1"), workload("Deployment", replicas=6, spec=EVEN)]
    assert added(simulated(full, pool("pa", "a"), pool("pb", "b"))) == {"pa": 0, "pb": 1}


def test_an_empty_zone_is_no_domain_and_is_not_asked_for() -> None:
    found = simulated([*nodes("a", "b"), workload("Deployment", replicas=6, spec=EVEN)], pool("pc", "c"))
    assert added(found) == {"pc": 0}
    assert found.pools[0].paper == {ZONE: "c"}


def test_taints_and_the_pods_of_daemon_sets_count() -> None:
    tainted = pool("t", "a", "1", taints=(Taint(key="x", effect="NoSchedule"),))
    daemons = workload("DaemonSet", "log")
    found = simulated(
        [*nodes("a"), daemons, workload("Deployment", replicas=13)], tainted, pool("p", "a", "1"), pool("q", "a", "3")
    )
    assert added(found) == {"p": 0, "q": 2, "t": 0}
    log = next(each for each in found.workloads if each.name == "log")
    assert (log.replicas, log.placed) == (3, 2)


def test_without_pending_pods_nothing_grows() -> None:
    assert added(simulated([*nodes("a"), workload("Deployment")], pool("p", "a"))) == {"p": 0}


def test_pools_grow_in_a_drill() -> None:
    shop = inventory(*nodes("a", "b"), workload("Deployment", replicas=14))
    assert drill(shop, [Fail(at("zone=a"))]).steps[1].pending
    found = drill(shop, [Fail(at("zone=a"))], options=SimulationOptions(pools=[pool("pb", "b")]))
    assert not found.steps[1].pending
    assert [name for each in found.steps[1].events if each.kind == "added" for name in each.nodes] == ["pb-new-1"]


LINUX = "kubernetes.io/os"


def test_a_pool_grows_for_pods_that_select_linux() -> None:
    found = simulated([workload("Deployment", spec={"nodeSelector": {LINUX: "linux"}}), *nodes("a")], pool("p", "a"))
    assert added(found) == {"p": 1}
    assert not found.pending


def test_a_pool_that_does_not_grow_says_why() -> None:
    heavy = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "99"}}}]}
    found = simulated(
        [
            *nodes("a", "b"),
            workload("Deployment", "win", replicas=2, spec={"nodeSelector": {LINUX: "windows"}}),
            workload("Deployment", "big", replicas=1, spec=heavy),
        ],
        pool("open", "a"),
        pool("full", "b", most=0),
    )
    full, grows = found.answer().pools
    assert full.why_not_more == "it has all the nodes it may have"
    first, second = grows.why_not_more.split("; ")
    assert first.startswith("nodeSelector kubernetes.io/os=windows (shop/win-")
    assert second.startswith("a new node lacks cpu (shop/big-")


def test_a_pool_whose_zone_is_not_admitted_says_so() -> None:
    full = [*nodes("a"), node("b1", "b", cpu="1"), workload("Deployment", replicas=9, spec=EVEN)]
    (found,) = simulated(full, pool("pa", "a")).answer().pools
    assert found.why_not_more.startswith("maxSkew does not admit a (")


def test_a_pod_that_is_not_judged_adds_no_node() -> None:
    gpu = workload("Deployment", "gpu", 2, {"resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu"}]})
    objects = [*nodes("a"), gpu, workload("Deployment", replicas=11)]
    (found,) = simulated(objects, pool("pa", "a")).answer().pools
    assert (len(found.added), found.may_grow) == (1, True)
    assert found.why_not_more.startswith("not judged (shop/gpu-")
    dead = drill(inventory(*objects), [Fail(at("node=a1"))], options=SimulationOptions(pools=[pool("pa", "a")]))
    assert len(dead.pools[0].added) < 5


def test_without_pending_pods_there_is_no_reason() -> None:
    (found,) = simulated([*nodes("a"), workload("Deployment", replicas=1)], pool("p", "a")).answer().pools
    assert found.why_not_more == ""


def test_fixes_are_tried_with_pools_that_grow() -> None:
    """After the uncordon, the pool adds a node for the pods that a spread constraint then lets in."""
    closed = [node("a1", "a", cpu="2", unschedulable=True), node("b1", "b", cpu="1")]
    log = workload("DaemonSet", "log", spec={"containers": [{"name": "c", "image": "i"}]})

    def places(replicas: int, *pools: NodePool) -> list[tuple[str, int, tuple[str, ...]]]:
        web = workload("Deployment", replicas=replicas, spec={"topologySpreadConstraints": [spread()]})
        answer = simulation_answer(simulated([*closed, web, log], *pools))
        return [(each.says, each.tried.places, each.tried.newly_pending) for each in answer.remedies]

    assert places(6) == [("uncordon a1 in a", 3, ())]
    assert places(5, pool("pb", "b", cpu="4")) == [("uncordon a1 in a", 5, ())]


def test_no_fix_changes_a_node_that_a_pool_added() -> None:
    tainted = pool("pb", "b", cpu="2", taints=(Taint(key="only", value="x", effect="PreferNoSchedule"),), most=1)
    answer = simulation_answer(simulated([*nodes("a"), workload("Deployment", replicas=20)], tainted))
    assert answer.pools[0].added == ("pb-new-1",)
    assert [each.says for each in answer.remedies] == ["cpu request 571m instead of 1000m"]


HONOR = {"topologySpreadConstraints": [spread(nodeTaintsPolicy="Honor")]}


def full(spec: Json) -> list[Json]:
    """Three full zones, each of two nodes in a region or rack of its own."""
    three = [node(f"{zone}{i}", zone, cpu="1") for zone in "abc" for i in (1, 2)]
    for each in three:
        zone = each["metadata"]["labels"][ZONE]
        each["metadata"]["labels"] |= {"topology.kubernetes.io/region": f"r{zone}", "rack": f"rack-{zone}"}
    return [*three, workload("Deployment", replicas=6, spec=spec)]


POOLS = [pool(f"p{zone}", zone, "1") for zone in "abc"]


@pytest.mark.parametrize("where", ["zone=a", "region=ra", "rack=rack-a", "topology.kubernetes.io/zone=a", "=a"])
def test_no_pool_grows_in_a_failed_domain(where: str) -> None:
    found = drill(inventory(*full(HONOR)), [Fail(at(where))], SimulationOptions(pools=POOLS))
    assert {each.name: len(each.added) for each in found.pools} == {"pa": 0, "pb": 1, "pc": 1}
    assert [(each.lost, each.may_grow) for each in found.pools] == [("a", False), ("", True), ("", True)]


def test_a_pool_grows_in_a_zone_that_has_recovered() -> None:
    steps = [Fail(at("zone=a")), Recover(at("zone=a")), Scale("shop/deploy/web", 7)]
    found = drill(inventory(*full(EVEN)), steps, SimulationOptions(pools=POOLS))
    assert [len(step.pending) for step in found.steps] == [0, 1, 0, 0]
    assert {each.name: len(each.added) for each in found.pools} == {"pa": 1, "pb": 0, "pc": 0}


def test_a_pool_grows_in_the_zone_of_a_failed_node() -> None:
    found = drill(inventory(*full(EVEN)), [Fail(NodeChoice("node", "a1"))], SimulationOptions(pools=POOLS))
    assert {each.name: len(each.added) for each in found.pools} == {"pa": 1, "pb": 0, "pc": 0}


def test_no_pool_grows_in_a_zone_that_is_lost_from_the_beginning() -> None:
    taint = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    lost = [node("a1", "a", taints=[taint]), node("b1", "b", cpu="1")]
    objects = [*lost, workload("Deployment", replicas=3)]
    pools = [pool("pa", "a", "1"), pool("pb", "b", "2")]
    assert added(simulated(objects, *pools)) == {"pa": 0, "pb": 1}
    found = drill(inventory(*objects), [], SimulationOptions(pools=pools))
    assert {each.name: len(each.added) for each in found.pools} == {"pa": 0, "pb": 1}


def test_pods_that_were_not_ready_before_a_node_was_added_count() -> None:
    options = SimulationOptions(pools=POOLS)
    found = drill(inventory(*full(HONOR)), [Fail(at("zone=a"))], options)
    assert [(each.fewest, each.ready) for each in found.steps[1].changed] == [(4, 6)]
    assert len(shortfalls(found, Expectations(ready={"shop/deploy/web": 6}))) == 1
    assert [each.lost for each in drill_each(inventory(*full(HONOR)), "zone", options).outcomes] == [2, 2, 2]


def test_the_first_line_names_the_pools_that_grew_and_a_note_says_that_prices_are_not_used() -> None:
    web = workload("Deployment", replicas=6)
    free, priced = (
        simulation_answer(simulated([node("a1", "a", cpu="1"), web], pool("pa", "a", price=price), pool("pb", "b")))
        for price in (None, Fraction(1, 5))
    )
    added = sum(len(each.added) for each in free.pools)
    (grown,) = [each for each in free.pools if each.added]
    assert free.says.endswith(f"({1 + added} nodes, {added} of them added: {added} of {grown.name})")
    assert not any("prices" in each for each in free.notes)
    assert any("prices of --pools are not used" in each for each in priced.notes)
