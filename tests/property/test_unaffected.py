"""Pods that are not judged and count as a note change no drain and no loss, whichever nodes they get."""

from __future__ import annotations

from itertools import cycle, product
from typing import Any

from hypothesis import HealthCheck, event, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.config.builders import configuration
from tests.unit.drill.builders import at, budget, inventory, node, spread
from tests.unit.drill.test_unaffected import as_stateful_set, pending_on_devices
from tests.unit.rebalance.builders import standing
from topospread.config.load import load_configuration
from topospread.drill.drill import drill
from topospread.drill.result import Drill
from topospread.drill.steps import Cordon, Drain, Fail, Recover, Scale, Step, Uncordon, Wait
from topospread.errors import UsageError
from topospread.simulation.options import SimulationOptions

Json = dict[str, Any]
HIGH = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10}
IMPORTANT = {"priorityClassName": "high", "priority": 10}
ANY_APP = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
EVERYTHING = {"tolerations": [{"operator": "Exists"}]}
UNREACHABLE = {"tolerations": [{"key": "node.kubernetes.io/unreachable", "operator": "Exists"}]}
NO_SCORES = load_configuration(configuration(profiles=[{"plugins": {"score": {"disabled": [{"name": "*"}]}}}]))
OTHER_CHOICES = [SimulationOptions(), *(SimulationOptions(NO_SCORES, seed=each, draws=True) for each in range(5))]
"""All nodes have the same score in the later options, so that each feasible node may be chosen."""


@st.composite
def workloads(draw: st.DrawFn, name: str, free: dict[str, int]) -> list[Json]:
    """Pods on nodes, maybe a pending one, and a budget. ``free``: free cpu of each node, which shrinks."""
    on = {each: draw(st.integers(0, min(2, room))) for each, room in free.items()}
    policy = draw(st.sampled_from(["Honor", "Ignore"]))
    counted = draw(st.sampled_from([*[{}] * 6, {"labelSelector": ANY_APP}, {"minDomains": 3}]))
    hard = draw(st.sampled_from([[], [spread(1, nodeTaintsPolicy=policy, **counted)], [spread(2, **counted)]]))
    more = draw(st.sampled_from([*[{}] * 8, IMPORTANT, EVERYTHING, UNREACHABLE, {"nodeSelector": {"disk": "ssd"}}]))
    made = standing({each: pods for each, pods in on.items() if pods}, *hard, name=name, **more)
    if any(on.values()) and draw(st.integers(0, 3)) == 0:
        made[-1]["spec"] = {key: value for key, value in made[-1]["spec"].items() if key != "nodeName"}
        made[-1]["status"] = {"phase": "Pending"}
        on[next(each for each in reversed(on) if on[each])] -= 1
    elif len(made) > 1 and draw(st.integers(0, 4)) == 0:
        made[1]["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    for each in free:
        free[each] -= on[each]
    kind = draw(st.sampled_from([*["ReplicaSet"] * 4, "OrderedReady", "Parallel"]))
    made = made if kind == "ReplicaSet" else as_stateful_set(made, kind)
    if draw(st.booleans()):
        made.append(
            budget(name, **draw(st.sampled_from([{"maxUnavailable": 0}, {"maxUnavailable": 1}, {"minAvailable": 1}])))
        )
    return made


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Json], dict[str, int]]:
    """Nodes in three zones, and workloads on them; also the free cpu of each node that is not cordoned."""
    number = draw(st.integers(3, 6))
    free: dict[str, int] = {}
    objects: list[Json] = [HIGH]
    for i in range(number):
        cpu, kind = (
            draw(st.sampled_from([2, 4, 6, 20, 20])),
            draw(st.sampled_from([*[""] * 10, "cordoned", "tainted"])),
        )
        spec: Json = {"unschedulable": True} if i and kind == "cordoned" else {}
        if i and kind == "tainted":
            spec = {"taints": [{"key": "k", "effect": draw(st.sampled_from(["NoSchedule", "NoExecute"]))}]}
        made = node(f"n{i}", "abc"[i % 3], cpu=str(cpu), **spec)
        made["metadata"]["labels"] |= {"disk": draw(st.sampled_from(["ssd", "ssd", "hdd"]))}
        objects.append(made)
        if not spec:
            free[f"n{i}"] = cpu
    for name in ("web", "api", "job")[: draw(st.integers(1, 3))]:
        objects += draw(workloads(name, free))
    return objects, free


def harm(found: Drill) -> tuple[object, ...]:
    own = found.harm
    return (
        bool(own),
        sorted((each.namespace, each.workload, each.pods) for each in own.pending),
        sorted((each.namespace, each.name) for each in own.not_evicted),
        sorted((each.budget, each.healthy, each.needed) for each in own.breaches),
        sorted(map(str, own.lost)),
        own.stuck,
    )


OTHER_STEPS: list[Step] = [
    Cordon(at("node=n1")),
    Uncordon(at("node=n2")),
    Wait(60),
    Drain(at("node=n1")),
    Fail(at("node=n1")),
    Recover(at("node=n0")),
    Scale("shop/web", 3),
]


@st.composite
def drills(draw: st.DrawFn) -> list[Step]:
    """Mostly one drain or failure, sometimes with other steps."""
    nodes = at(draw(st.sampled_from(["node=n0", "node=n0", "zone=a"])))
    first: list[Step] = [Drain(nodes), Drain(nodes), Drain(nodes, forced=True), Fail(nodes), Fail(nodes)]
    step = draw(st.sampled_from(first))
    if draw(st.integers(0, 4)):
        return [step]
    other = draw(st.sampled_from(OTHER_STEPS))
    return [other, step] if draw(st.booleans()) else [step, other]


@drawn(60, suppress_health_check=list(HealthCheck))
@given(
    case=clusters(),
    pods=st.integers(1, 2),
    cpu=st.integers(1, 3),
    more=st.sampled_from([*[{}] * 9, IMPORTANT]),
    steps=drills(),
)
def test_no_node_of_a_pod_that_is_not_judged_changes_the_harm(
    case: tuple[list[Json], dict[str, int]], pods: int, cpu: int, more: Json, steps: list[Step]
) -> None:
    (objects, free), lost = case, {"n0", "n3"} if any("zone" in str(each) for each in steps) else {"n0"}
    try:
        found = drill(inventory(*objects, *pending_on_devices(pods, cpu, **more)), steps)
    except UsageError:
        return
    event(f"unaffected: {found.unaffected}")
    if not found.unaffected:
        assert found.verdict != "yes" or not found.unjudged
        return
    event(f"{type(steps[0]).__name__}: {found.verdict}")
    other_choices = cycle(OTHER_CHOICES)
    for where in product([None, *(each for each in free if each not in lost)], repeat=pods):
        if any(where.count(each) * cpu > room for each, room in free.items()):
            continue
        placed = pending_on_devices(pods, cpu, where, **more)
        other = drill(inventory(*objects, *placed), steps, next(other_choices))
        assert harm(other) == harm(found), where
