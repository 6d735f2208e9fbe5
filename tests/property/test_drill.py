"""What holds whatever happens in a drill: nothing is overbooked, nobody is forgotten, and the end is an end."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.drill.builders import at, budget, inventory, node, spread, workload
from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import AddNodes, Cordon, Drain, Fail, Recover, Rollout, Scale, Step, Uncordon, Wait
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

Json = dict[str, Any]
ZONES = ("a", "b", "c")


@st.composite
def clusters(draw: st.DrawFn) -> list[Json]:
    """Two to six nodes in three zones, and a workload of several kinds each."""
    number = draw(st.integers(2, 6))
    rooms = draw(st.lists(st.integers(1, 5), min_size=number, max_size=number))
    there = [node(f"n{i}", ZONES[i % 3], cpu=str(room)) for i, room in enumerate(rooms)]
    policy = draw(st.sampled_from(["Honor", "Ignore"]))
    own = {"topologySpreadConstraints": [spread(nodeTaintsPolicy=policy)]} if draw(st.booleans()) else {}
    important = {"priorityClassName": "system-cluster-critical"} if draw(st.booleans()) else {}
    management = draw(st.sampled_from(["OrderedReady", "Parallel"]))
    return [
        *there,
        workload("Deployment", "web", draw(st.integers(0, 6)), own),
        workload("Deployment", "dns", draw(st.integers(0, 3)), important),
        workload("StatefulSet", "db", draw(st.integers(0, 4)), podManagementPolicy=management),
        workload("DaemonSet", "log", spec={"containers": [{"name": "c", "image": "i"}]}),
        budget("web", maxUnavailable=draw(st.integers(0, 2))),
    ]


NODES = st.sampled_from([at(text) for text in ("zone=a", "zone=b", "node=n0", "node=n1")])
STEPS: st.SearchStrategy[Step] = st.one_of(
    *(st.builds(kind, NODES) for kind in (Fail, Recover, Cordon, Uncordon, Drain)),
    st.builds(Scale, st.sampled_from(["deploy/web", "deploy/dns", "sts/db"]), st.integers(0, 7)),
    st.builds(Wait, st.integers(0, 400)),
    st.just(AddNodes(1, "n0", "b")),
)


def _played(objects: list[Json], steps: list[Step]) -> DrillRun:
    play = DrillRun(inventory(*objects), SimulationOptions(), {})
    play.play(steps)
    return play


@drawn(10)
@given(objects=clusters(), steps=st.lists(STEPS, max_size=6))
def test_no_node_is_overbooked_and_no_replica_forgotten(objects: list[Json], steps: list[Step]) -> None:
    play = _played(objects, [*steps, Scale("deploy/web", 3)])
    state = play.state
    for name, row in state.cluster.nodes.row_of.items():
        there = state.pods.on([name])
        assert {each.key for each in there} == set(state.cluster.on_node[row])
        cpu = sum(each.workload is not None and each.workload.kind != "DaemonSet" for each in there)
        allocatable = state.node(name).status.allocatable or {}
        assert cpu <= int(str(allocatable["cpu"]))
    assert sorted(state.pods.waiting) == sorted(key for key, each in state.pods.by_key.items() if not each.node)
    for each in state.run.plan.workloads:
        if each.kind == "Deployment":
            key = (each.kind, each.namespace, each.name)
            assert sum(not pod.terminating for pod in state.pods.of(key)) == each.replicas


@drawn(10)
@given(objects=clusters(), steps=st.lists(STEPS, max_size=5))
def test_ready_pods_are_counted_as_they_are(objects: list[Json], steps: list[Step]) -> None:
    state = _played(objects, steps).state
    ready = Counter(
        (each.workload.kind, each.workload.namespace, each.workload.name)
        for each in state.pods.by_key.values()
        if each.workload is not None and state.is_ready(each)
    )
    assert +state.health.ready == ready


@drawn(10)
@given(objects=clusters(), steps=st.lists(STEPS, max_size=5))
def test_a_simulation_of_what_is_left_changes_nothing(objects: list[Json], steps: list[Step]) -> None:
    play = _played(objects, [*steps, Recover(at("zone=a")), Recover(at("zone=b")), Recover(at("node=n1"))])
    state = play.state
    again = simulate(state.inventory())
    assert [each for each in again.placements if each.node is not None] == []
    assert again.removed == {}
    assert not again.evictions


@drawn(20)
@given(
    objects=clusters(),
    steps=st.lists(STEPS | st.builds(Rollout, st.just("deploy/web")), max_size=5),
    most=st.integers(1, 16),
)
def test_pods_fill_a_quota_and_never_exceed_it(objects: list[Json], steps: list[Step], most: int) -> None:
    limit = {"kind": "ResourceQuota", "metadata": {"name": "q", "namespace": "shop"}, "spec": {"hard": {"pods": most}}}
    pods = _played([*objects, limit], steps).state.pods.by_key.values()
    created = sum(not (each.is_refused or each.terminating) for each in pods)
    assert created <= most
    assert created == most or not any(each.is_refused for each in pods)
