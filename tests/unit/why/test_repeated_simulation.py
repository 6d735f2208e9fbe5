"""A simulation carried out again from the same beginning."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.simulation.run import Run
from topospread.why.repeated_simulation import RepeatedSimulation

from .builders import constraint, node, pod, prepared, spec, workload, zones

PREEMPTOR: dict[str, Any] = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 10,
}


def nodes_of(run: Run) -> dict[str, str | None]:
    return {each.name: run.outcomes[id(each)].placement.node for each in run.queue}


def test_every_run_begins_at_the_same_place() -> None:
    run = prepared(*zones(), workload("Deployment", 4, spec(constraint())))
    simulation = RepeatedSimulation(run)
    first = nodes_of(simulation.carry_out())
    simulation.restore()
    assert not run.cluster.placed
    assert nodes_of(simulation.carry_out()) == first
    assert simulation.placed == 8


def test_pods_taken_away_come_back_on_their_nodes_in_their_order() -> None:
    run = prepared(*zones("a"), *(pod(name, "a") for name in ("one", "two", "three")))
    simulation = RepeatedSimulation(run)
    before = dict(run.cluster.on_node[0])
    simulation.without([each for each in run.plan.bound if each.name == "two"])
    assert len(run.cluster.placed) == 2
    simulation.restore()
    assert list(run.cluster.on_node[0].items()) == list(before.items())


def test_a_new_node_goes_and_a_replaced_one_comes_back() -> None:
    run = prepared(node("a", cpu="1"))
    simulation = RepeatedSimulation(run)
    simulation.with_node(msgspec.convert(node("b"), Node))
    simulation.with_node(msgspec.convert(node("a", cpu="8"), Node))
    assert len(run.cluster.nodes) == 2
    simulation.restore()
    assert len(run.cluster.nodes) == 1
    kept = run.cluster.nodes.nodes[run.cluster.nodes.row_of["a"]]
    assert kept is not None
    assert (kept.status.allocatable or {})["cpu"] == "1"


def test_what_preemption_evicts_is_there_again() -> None:
    important = pod("important", of=spec(cpu="1", priorityClassName="high", priority=10))
    run = prepared(PREEMPTOR, node("a", cpu="1"), pod("there", "a", spec(cpu="1")), important)
    simulation = RepeatedSimulation(run)
    ended = simulation.carry_out()
    assert [each.name for each in ended.evictions] == ["there"]
    simulation.restore()
    assert list(run.cluster.placed) == ["shop/there"]


def test_a_pod_is_watched_just_before_it_is_bound() -> None:
    run = prepared(*zones("ab"), pod("first"), pod("second"))
    simulation = RepeatedSimulation(run)
    seen = []
    second = simulation.queue[1]
    simulation.watch(
        "shop/second",
        second.pod,
        lambda scheduler, verdict, _: seen.append((len(scheduler.cluster.placed), verdict.best)),
    )
    assert seen == [(1, ("b",))]


def watched_with(known: dict[str, str]) -> tuple[list[int], list[int], dict[str, str | None]]:
    """Pods on nodes at each look at the second of three pods, the pods tried, and where the pods are at the end."""
    run = prepared(*zones("ab"), pod("first"), pod("second"), pod("third"))
    simulation = RepeatedSimulation(run)
    second, seen, tried = simulation.queue[1].pod, list[int](), list[int]()
    ended = simulation.watch(
        "shop/second",
        second,
        lambda scheduler, *_: seen.append(len(scheduler.cluster.placed)),
        lambda number, _: tried.append(number),
        known,
    )
    return seen, tried, nodes_of(ended)


def test_known_pods_before_a_watched_one_are_bound_and_not_scheduled() -> None:
    ends = watched_with({})[2]
    known = {f"shop/{name}": node for name, node in ends.items() if node is not None}
    assert watched_with(known) == ([1], [], {"second": ends["second"]})


def test_a_known_node_that_the_pod_does_not_get_leads_to_the_whole_queue() -> None:
    _, tried, ends = watched_with({})
    assert tried
    wrong = {"shop/first": "a", "shop/second": "a", "shop/third": "a"}
    assert watched_with(wrong)[1:] == (tried, ends)
