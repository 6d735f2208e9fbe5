"""A fix of a drill, applied to the manifests by its patches and drilled anew, leaves as many pods pending as told."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.plain_inventory import inventory
from tests.unit.drill.builders import Json, at, node, spread, workload
from topospread.answer import Remedy
from topospread.api.inventory import Inventory
from topospread.drill.drill import drill
from topospread.drill.steps import Drain, Fail, Step
from topospread.why.result import Further, Suggestion

from .explained import applied

HOST = "kubernetes.io/hostname"


@st.composite
def harmed(draw: st.DrawFn) -> tuple[list[Json], Step]:
    """Nodes in three zones, some closed or small, and workloads over all of them; a zone goes."""
    objects = []
    for number in range(draw(st.integers(3, 6))):
        taints: Any = {"taints": [{"key": "x", "effect": "NoSchedule"}]} if draw(st.integers(0, 4)) == 0 else {}
        closed = {"unschedulable": True} if draw(st.integers(0, 4)) == 0 else {}
        cpu = draw(st.sampled_from(["1", "4"]))
        objects.append(node(f"n{number}", "abc"[number % 3], cpu=cpu, **taints, **closed))
    for number in range(draw(st.integers(1, 2))):
        selector = {"matchLabels": {"app": f"web-{number}"}}
        constraints = [spread(draw(st.integers(1, 2)), labelSelector=selector)]
        if draw(st.booleans()):
            constraints.append(spread(labelSelector=selector, topologyKey=HOST))
        spec = {"topologySpreadConstraints": constraints}
        objects.append(workload("Deployment", f"web-{number}", draw(st.integers(1, 5)), spec))
    return objects, draw(st.sampled_from([Fail(at("zone=a")), Drain(at("zone=b"))]))


@given(harmed())
@drawn(12, suppress_health_check=[HealthCheck.too_slow])
def test_a_fix_leaves_what_it_says(case: tuple[list[Json], Step]) -> None:
    objects, step = case
    answer = drill(inventory(*objects), [step]).answer()
    for remedy in answer.remedies:
        event(remedy.code)
        harm = drill(with_remedy(inventory(*objects), remedy), [step]).harm
        assert sum(each.pods for each in harm.pending) == remedy.pending < remedy.pending_without, remedy.says


def with_remedy(before: Inventory, remedy: Remedy) -> Inventory:
    """The inventory with the patches of a remedy."""
    further = tuple(Further("", each.says, each.object, each.patch) for each in remedy.further)
    return applied(before, Suggestion("", "", remedy.object, remedy.patch, "create", 0, 0, 0, further=further))
