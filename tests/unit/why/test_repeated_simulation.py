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
