"""A simulation carried out again from the same beginning."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.explanation.repeated_simulation import Rehearsal
from topospread.simulation.run import Run

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
    rehearsal = Rehearsal(run)
    first = nodes_of(rehearsal.carry_out())
    rehearsal.restore()
    assert not run.cluster.placed
    assert nodes_of(rehearsal.carry_out()) == first
    assert rehearsal.placed == 8


def test_pods_taken_away_come_back_on_their_nodes_in_their_order() -> None:
    run = prepared(*zones("a"), *(pod(name, "a") for name in ("one", "two", "three")))
    rehearsal = Rehearsal(run)
    before = dict(run.cluster.on_node[0])
    rehearsal.without([each for each in run.plan.bound if each.name == "two"])
    assert len(run.cluster.placed) == 2
    rehearsal.restore()
    assert list(run.cluster.on_node[0].items()) == list(before.items())


def test_a_new_node_goes_and_a_replaced_one_comes_back() -> None:
    run = prepared(node("a", cpu="1"))
    rehearsal = Rehearsal(run)
    rehearsal.with_node(msgspec.convert(node("b"), Node))
    rehearsal.with_node(msgspec.convert(node("a", cpu="8"), Node))
    assert len(run.cluster.nodes) == 2
    rehearsal.restore()
    assert len(run.cluster.nodes) == 1
    kept = run.cluster.nodes.nodes[run.cluster.nodes.row_of["a"]]
    assert kept is not None
    assert (kept.status.allocatable or {})["cpu"] == "1"


def test_what_preemption_evicts_is_there_again() -> None:
    important = pod("important", of=spec(cpu="1", priorityClassName="high", priority=10))
    run = prepared(PREEMPTOR, node("a", cpu="1"), pod("there", "a", spec(cpu="1")), important)
    rehearsal = Rehearsal(run)
    ended = rehearsal.carry_out()
    assert [each.name for each in ended.evictions] == ["there"]
    rehearsal.restore()
    assert list(run.cluster.placed) == ["shop/there"]


def test_a_pod_is_watched_just_before_it_is_bound() -> None:
    run = prepared(*zones("ab"), pod("first"), pod("second"))
    rehearsal = Rehearsal(run)
    seen = []
    second = rehearsal.queue[1]
    rehearsal.watch(
        "shop/second",
        second.pod,
        lambda scheduler, verdict, _: seen.append((len(scheduler.cluster.placed), verdict.best)),
    )
    assert seen == [(1, ("b",))]
