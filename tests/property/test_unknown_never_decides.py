"""A pod that cannot be judged never turns yes into no or no into yes, whatever is asked.

Each entry of `QUESTIONS` is a question on objects; add one for each command.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.drill.builders import at, inventory, node, spread, workload
from tests.unit.rebalance.builders import standing
from topospread.answers.capacity import capacity_answer
from topospread.answers.plan import plan_answer
from topospread.answers.promise_check import promise_check
from topospread.answers.promise_design import promise_design
from topospread.answers.promise_show import promise_show
from topospread.answers.rebalance import rebalance_answer
from topospread.answers.status import status
from topospread.answers.why import why_answer
from topospread.api.selector_text import parse_selector
from topospread.base import Bounds
from topospread.capacity.capacity import capacity
from topospread.drill.drill import drill
from topospread.drill.each import drill_each
from topospread.drill.steps import Fail
from topospread.plan.review import Review
from topospread.promise.compared import promise_changes
from topospread.promise.orders import SearchBudget
from topospread.rebalance.rebalance import rebalance
from topospread.simulation.comparison import compare
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate
from topospread.why.explain import explain

Json = dict[str, Any]
Question = Callable[[list[Json]], str]


@st.composite
def clusters(draw: st.DrawFn) -> list[Json]:
    """Two or three zones with nodes of different sizes, and a workload with a hard constraint or none."""
    zones = draw(st.lists(st.sampled_from("abc"), min_size=2, max_size=4))
    made = [node(f"n{at}", zone, cpu=str(draw(st.integers(2, 5)))) for at, zone in enumerate(zones)]
    hard = draw(st.sampled_from([[], [spread(1)], [spread(2)]]))
    constraints = [each | {"matchLabelKeys": ["pod-template-hash"]} for each in hard]
    return [*made, workload("Deployment", "web", draw(st.integers(2, 4)), {"topologySpreadConstraints": constraints})]


@st.composite
def unjudged(draw: st.DrawFn) -> Json:
    """A workload with a resource claim about which the input says nothing."""
    claims = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    requests = {"cpu": draw(st.sampled_from(["1", "9"]))}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return workload(
        "ReplicaSet", "infer", draw(st.integers(1, 2)), {"containers": [container], "resourceClaims": claims}
    )


def checked(objects: list[Json]) -> str:
    want = "zone-loss>=1 node-loss>=2 never-waits skew<=1"
    return promise_check(inventory(*objects), ["deploy/web"], want=want, states=400, seconds=5).verdict


def shown(objects: list[Json]) -> str:
    return promise_show(inventory(*objects), ["deploy/web"], states=400, seconds=5).verdict


def designed(objects: list[Json]) -> str:
    return promise_design(inventory(*objects), ["deploy/web"], want="zone-loss>=1", states=200, tries=12).verdict


def explained(objects: list[Json]) -> str:
    return why_answer(explain(inventory(*objects), "deploy/web", suggest=False)).verdict


def room(objects: list[Json]) -> str:
    found = capacity(inventory(*objects), "deploy/web", more=3, limit=5, workers=1, seconds=0.0)
    return capacity_answer(found).verdict


def mended(objects: list[Json]) -> str:
    """The pods of the workload are all on the first node."""
    first, web = objects[0]["metadata"]["name"], next(each for each in objects if each["metadata"]["name"] == "web")
    constraints = [
        {key: value for key, value in each.items() if key != "matchLabelKeys"}
        for each in web["spec"]["template"]["spec"]["topologySpreadConstraints"]
    ]
    there = standing({first: 2}, *constraints)
    return rebalance_answer(
        rebalance(inventory(*(each for each in objects if each is not web), *there), seconds=0)
    ).verdict


def planned(objects: list[Json]) -> str:
    """The change takes the constraints away and adds a replica."""
    changed = deepcopy(objects)
    web = next(each for each in changed if each["metadata"]["name"] == "web")
    web["spec"]["replicas"] += 1
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = []
    sides = inventory(*objects), inventory(*changed)
    losses = promise_changes(*sides, SimulationOptions(), SearchBudget(states=400, seconds=5))
    compared = compare(simulate(sides[0]), simulate(sides[1]), ("old", "new"))
    return plan_answer(Review(replace(compared, counts_new=True)), losses).verdict  # as the command does


def has_nodes(objects: list[Json]) -> str:
    return status(inventory(*objects), selector=parse_selector("app=web")).verdict


def placed(objects: list[Json]) -> str:
    """Whether every pod of the workload finds a node."""
    found = simulate(inventory(*objects))
    [web] = [each for each in found.workloads if each.name == "web"]
    return found.bounds.get("shop/Deployment/web", Bounds.exactly(web.placed)).at_least(web.replicas)


def drilled(objects: list[Json]) -> str:
    return drill(inventory(*objects), [Fail(at("node=n0"))]).verdict


def drilled_each(objects: list[Json]) -> str:
    return drill_each(inventory(*objects), "node", SimulationOptions(), 1).verdict


QUESTIONS: dict[str, Question] = {
    "status": has_nodes,
    "why": explained,
    "capacity": room,
    "simulate": placed,
    "drill": drilled,
    "drill --each": drilled_each,
    "rebalance": mended,
    "plan": planned,
    "promise check": checked,
    "promise show": shown,
    "promise design": designed,
}


@pytest.mark.parametrize("command", QUESTIONS)
@drawn(3, suppress_health_check=list(HealthCheck))
@given(objects=clusters(), other=unjudged())
def test_a_pod_that_cannot_be_judged_turns_no_verdict_around(command: str, objects: list[Json], other: Json) -> None:
    before, after = QUESTIONS[command](objects), QUESTIONS[command]([*objects, other])
    assert {before, after} != {"yes", "no"}
