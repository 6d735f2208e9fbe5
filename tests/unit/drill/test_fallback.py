"""Drills with hard constraints that are soft while a domain is lost."""

from __future__ import annotations

from collections import Counter
from typing import Any

from topospread.answers.drill import drill_answer
from topospread.drill.drill import drill
from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import Drain, Fail, Recover, Scale, Step
from topospread.simulation.options import SimulationOptions

from .builders import at, inventory, node, nodes, spread, workload

Json = dict[str, Any]
NODES = nodes("a", "a", "b", "b", "c", "c")


def gains(objects: list[Json], *steps: Step) -> list[tuple[int, str, int, int, list[int]]]:
    """Step, name, pending pods without and with the fallback, and pods by domain with it."""
    answer = drill_answer(drill(inventory(*objects), steps, fallback=True))
    assert answer.fallback is not None
    return [
        (each.step, each.name, each.pending, each.pending_soft, list(each.constraints[0].domains.values()))
        for each in answer.fallback
    ]


def web(replicas: int = 6, name: str = "web", **constraint: Any) -> Json:
    spec = {"topologySpreadConstraints": [spread(**constraint)]}
    return workload("Deployment", name, replicas, spec)


def test_pods_that_wait_for_a_lost_zone_find_nodes() -> None:
    assert gains([*NODES, web()], Fail(at("zone=a"))) == [(1, "web", 2, 0, [0, 3, 3])]


def test_the_drill_itself_and_its_verdict_are_as_without_the_option() -> None:
    plain = drill(inventory(*NODES, web()), [Fail(at("zone=a"))])
    found = drill(inventory(*NODES, web()), [Fail(at("zone=a"))], fallback=True)
    with_it, without = drill_answer(found), drill_answer(plain)
    assert (with_it.verdict, with_it.steps) == ("no", without.steps)
    assert without.fallback is None


def test_constraints_are_hard_again_when_the_zone_is_back() -> None:
    steps = (Fail(at("zone=a")), Recover(at("zone=a")), Scale("shop/deploy/web", 9))
    found = gains([*NODES, web()], *steps)
    # What was placed stays, so that the skew is more than without the fallback; the next pods fill the zone.
    assert found == [(1, "web", 2, 0, [0, 3, 3]), (2, "web", 0, 0, [0, 3, 3])]


def test_pods_that_stay_pending_have_hard_constraints_again() -> None:
    play = DrillRun(inventory(node("a1", "a", cpu="3"), node("b1", "b", cpu="3"), web(4)), SimulationOptions(), {})
    play.falls_back = True
    steps = play.play([Fail(at("zone=a")), Recover(at("zone=a"))]).steps
    assert [sum(len(group.pods) for group in each.pending) for each in steps] == [0, 1, 0]
    said = Counter(
        each.when_unsatisfiable
        for pod in play.state.pods.by_key.values()
        for each in pod.pod.spec.topology_spread_constraints or ()
    )
    # One pod was placed while the zone was lost. The other, for which there was no room, was placed after that.
    assert said == {"ScheduleAnyway": 1, "DoNotSchedule": 3}


def test_only_constraints_that_count_the_lost_domain_are_soft() -> None:
    honor = web(nodeTaintsPolicy="Honor")
    assert gains([*NODES, honor], Fail(at("zone=a"))) == []
    # A drain loses no domain: the nodes are there and take pods again.
    assert gains([*NODES, web()], Drain(at("zone=a"))) == []
    elsewhere = web(5)
    elsewhere["spec"]["template"]["spec"]["nodeSelector"] = {"topology.kubernetes.io/zone": "b"}
    assert gains([*NODES, elsewhere], Fail(at("zone=a"))) == []


def test_a_soft_constraint_of_the_same_key_takes_the_place_of_the_hard_one() -> None:
    both = web()
    soft = spread(whenUnsatisfiable="ScheduleAnyway")
    both["spec"]["template"]["spec"]["topologySpreadConstraints"].append(soft)
    assert gains([*NODES, both], Fail(at("zone=a")))[0][:4] == (1, "web", 2, 0)


def test_other_reasons_keep_pods_pending() -> None:
    full = [*(node(f"{zone}1", zone, cpu="2") for zone in "abc"), web(6)]
    assert gains(full, Fail(at("zone=a"))) == []
