"""Fewer simulated pods after a zone loss are worse if nothing is proved and no other order explains them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as with_fields

import topospread
from tests.unit.why.builders import HOST, constraint, node, spec, workload
from topospread.answers.plan import Plan

Json = dict[str, Any]
SOFT = constraint(when="ScheduleAnyway")
BY_NODE = constraint(HOST, "ScheduleAnyway")
UNEVEN = [*(node(f"a{at}", "a", cpu="64") for at in (1, 2, 3)), node("b1", "b", cpu="8")]
"""Nodes of zone a are always emptier, so that scores without a constraint prefer them."""
EVEN = [node(f"{zone}{at}", zone) for zone in "ab" for at in (1, 2)]
NO_DEFAULTS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List"}}]}],
}


def web(*constraints: Json, replicas: int = 8) -> Json:
    return workload("Deployment", replicas, spec(*constraints), uid=False)


def rows(answer: Plan) -> list[tuple[str, str, int, int]]:
    return [
        (each.event, each.verdict, each.before.least, each.after.least)
        for each in answer.promises
        if each.ground == "played" and each.event == "zone-loss"
    ]


def without_defaults(*objects: Json) -> Plan:
    session = topospread.Session([*objects])
    return session.plan(session.but(config=NO_DEFAULTS))


@pytest.mark.parametrize("is_placed", [False, True])
def test_default_constraints_that_go_are_worse_if_all_pods_then_share_a_zone(*, is_placed: bool) -> None:
    session = topospread.Session([*UNEVEN, web()])
    session = session.after() if is_placed else session
    answer = session.plan(session.but(config=NO_DEFAULTS))
    assert (answer.verdict, rows(answer)) == ("no", [("zone-loss", "no", 3, 0)])
    assert answer.says == "shop/web keeps less: losing a zone leaves 0 of 8, not 3, in the simulation"
    assert answer.causes[0].says == "web: 8 of 8 simulated pods are in one zone, before 5"
    assert "topospread.dev/promise" not in answer.text(), "no promise is proved"
    back = session.but(config=NO_DEFAULTS)
    assert (back.plan(session).verdict, rows(back.plan(session))) == ("yes", [])


def test_a_loss_that_another_draw_among_equal_nodes_explains_is_fewer_but_not_worse() -> None:
    answer = without_defaults(*EVEN, web(replicas=2))
    assert (answer.verdict, rows(answer)) == ("yes", [("zone-loss", "yes", 1, 0)])
    assert answer.says == (
        "nothing is proved to get worse, but a zone loss leaves fewer simulated pods of shop/web 0 of 2, not 1"
    )
    (line,) = (each for each in answer.text().splitlines() if "zone loss, worst case" in each)
    assert line.endswith("fewer")


@pytest.mark.parametrize("is_placed", [False, True])
def test_a_replaced_soft_constraint_is_worse_and_named_also_if_old_pods_run(*, is_placed: bool) -> None:
    old, new = (topospread.Session([*UNEVEN, web(each)]) for each in (SOFT, BY_NODE))
    if is_placed:
        changed, old = new.inventory.deployments[0], old.after()
        (running,) = old.inventory.deployments
        deployments = [with_fields(running, spec=changed.spec)]
        new = topospread.Session(replace(old.inventory, deployments=deployments))
    answer = old.plan(new)
    assert (answer.verdict, rows(answer)) == ("no", [("zone-loss", "no", 4, 2)])
    assert old.plan(old).verdict == new.plan(old).verdict == "yes"


def test_fewer_pods_than_simulated_are_not_worse_if_enough_are_proved() -> None:
    hard = constraint(maxSkew=4)
    answer = topospread.Session([*UNEVEN, web(hard, SOFT)]).plan(topospread.Session([*UNEVEN, web(hard)]))
    assert (answer.verdict, rows(answer)) == ("yes", [("zone-loss", "yes", 4, 2)])
