"""A drill's cluster over time."""

from __future__ import annotations

from topospread.drill.drill_run import DrillRun
from topospread.drill.result import StepOutcome, WorkloadState
from topospread.drill.steps import Cordon, Fail, Recover, Rollout, Scale
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

from .builders import at, inventory, node, told, workload


def state(outcome: StepOutcome, name: str = "web") -> WorkloadState:
    return next(each for each in outcome.changed if each.name == name)


def test_preemption_counts_as_an_eviction() -> None:
    important = {"priorityClassName": "system-cluster-critical"}
    objects = [
        node("a1", "a", cpu="2"),
        node("b1", "b", cpu="2"),
        workload("Deployment", "web", 2),
        workload("Deployment", "dns", 2, important),
    ]
    found = told(objects, Fail(at("node=b1"))).steps[1]
    assert [each.detail.partition(" by ")[0] for each in found.events if each.kind == "evicted"] == [
        "unreachable",
        "preempted",
    ]
    assert state(found, "dns").ready == 2
    assert state(found).pending == 2


def test_a_place_that_gets_free_goes_to_who_waits_for_it_unless_controllers_are_faster() -> None:
    there = [node("a1", "a", cpu="2"), workload("DaemonSet", "log"), workload("Deployment", "web", 1)]
    ends = []
    for number in (0, 5):
        play = DrillRun(inventory(*there), SimulationOptions(seed=number, draws=bool(number)), {}, number)
        play.play([Scale("deploy/web", 2), Rollout("ds/log")])
        ends.append(sorted(each.labels["app"] for each in play.state.pods.on(["a1"])))
    assert ends == [["web", "web"], ["log", "web"]]


def test_an_ordinal_that_waits_for_its_predecessor_is_not_there_yet() -> None:
    there = [node("a1", "a", cpu="1"), workload("StatefulSet", "db", 3)]
    play = DrillRun(inventory(*there), SimulationOptions(), {})
    play.play([Cordon(at("node=a1"))])
    assert [each.name for each in play.state.inventory().pods] == ["db-0", "db-1"]


def test_a_pod_of_an_ordered_set_stays_when_the_one_before_it_waits() -> None:
    ordered = workload("StatefulSet", "db", 3, podManagementPolicy="OrderedReady")
    play = DrillRun(inventory(node("n0", "a", cpu="1"), node("n1", "b", cpu="1"), ordered), SimulationOptions(), {})
    play.play([Fail(at("zone=a")), Recover(at("zone=a"))])
    assert {each.name: each.spec.node_name for each in play.state.inventory().pods} == {
        "db-0": None,
        "db-1": "n1",
        "db-2": "n0",
    }
    assert [each.node for each in simulate(play.state.inventory()).placements] == [None]
