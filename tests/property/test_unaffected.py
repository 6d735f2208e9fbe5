"""A pod that is not judged and counts as a note changes no drain, whichever node it gets."""

from __future__ import annotations

from itertools import product
from typing import Any

from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.drill.builders import at, budget, inventory, node, spread
from tests.unit.drill.test_unaffected import pending_on_devices
from tests.unit.rebalance.builders import standing
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import Cordon, Drain, Step, Uncordon

Json = dict[str, Any]


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Json], dict[str, int]]:
    """Nodes in three zones, workloads on them, and a budget; also the free cpu of each node that is not cordoned."""
    number = draw(st.integers(3, 6))
    free, objects = {}, []
    for i in range(number):
        cpu, cordoned = draw(st.sampled_from([3, 4, 6, 20])), bool(i) and draw(st.integers(0, 4)) == 0
        objects.append(node(f"n{i}", "abc"[i % 3], cpu=str(cpu), **({"unschedulable": True} if cordoned else {})))
        if not cordoned:
            free[f"n{i}"] = cpu
    for name in ("web", "api")[: draw(st.integers(1, 2))]:
        on = {each: draw(st.integers(0, min(2, room))) for each, room in free.items()}
        policy = draw(st.sampled_from(["Honor", "Ignore"]))
        hard = draw(st.sampled_from([[], [spread(1, nodeTaintsPolicy=policy)], [spread(2, nodeTaintsPolicy=policy)]]))
        objects += standing({each: pods for each, pods in on.items() if pods}, *hard, name=name)
        if any(on.values()) and draw(st.booleans()):
            objects[-1]["spec"].pop("nodeName")
            objects[-1]["status"] = {"phase": "Pending"}
            on[next(each for each in reversed(on) if on[each])] -= 1
        free = {each: room - on[each] for each, room in free.items()}
    return [*objects, budget("web", maxUnavailable=draw(st.integers(0, 1)))], free


def harm(found: Drill) -> tuple[object, ...]:
    own = found.harm
    return sum(each.pods for each in own.pending), len(own.not_evicted), bool(own.breaches or own.stuck or own.lost)


@drawn(60, suppress_health_check=list(HealthCheck))
@given(
    case=clusters(),
    pods=st.integers(1, 2),
    cpu=st.integers(1, 3),
    before=st.sampled_from([(), (Cordon(at("node=n1")),), (Uncordon(at("node=n2")),)]),
)
def test_no_node_of_a_pod_that_is_not_judged_changes_the_harm(
    case: tuple[list[Json], dict[str, int]], pods: int, cpu: int, before: tuple[Step, ...]
) -> None:
    (objects, free), steps = case, [*before, Drain(at("node=n0"))]
    if not any(each["kind"] == "Pod" for each in objects):
        return
    open_ = pending_on_devices(pods, cpu)
    found = drill(inventory(*objects, *open_), steps)
    event(f"unaffected: {found.unaffected}")
    if not found.unaffected:
        assert found.verdict != "yes" or not found.unjudged
        return
    for where in product([None, *(each for each in free if each != "n0")], repeat=pods):
        if any(where.count(each) * cpu > room for each, room in free.items()):
            continue
        placed = pending_on_devices(pods, cpu, where)
        other = drill(inventory(*objects, *placed), steps)
        assert harm(other) == harm(found), where
