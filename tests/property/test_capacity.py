"""Capacity's promise: placing so many more by a simulation leaves none pending, and one more leaves one pending."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.parted import parted
from tests.plain_inventory import inventory
from tests.property.explained import clusters
from tests.unit.drill.builders import node, spread, workload
from topospread.api.inventory import Inventory
from topospread.capacity import Capacity
from topospread.capacity.capacity import capacity
from topospread.simulation.options import SimulationOptions
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate

Json = dict[str, Any]
LIMIT = 25


def _settled(given: Inventory) -> Inventory:
    after = simulate(given, keep_after=True).after
    assert after is not None
    return after


def _scaled(settled: Inventory, target: str, replicas: int) -> Simulation:
    return simulate(settled, options=SimulationOptions(scale={target: replicas}, preemption=False))


def _left(found: Simulation, name: str) -> int:
    return sum(each.pending for each in found.workloads if each.name == name)


def _asked(given: Inventory, *targets: str, **besides: Any) -> Capacity:
    return capacity(given, *targets, limit=LIMIT, workers=1, seconds=0.0, **parted(besides)).capacity


@drawn(8, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(clusters())
def test_so_many_more_leave_none_pending_and_one_more_leaves_one(cluster: tuple[Inventory, str]) -> None:
    given_, target = cluster
    assume(target in ("deploy/web", "rs/web", "sts/web"))
    settled = _settled(given_)
    found = _asked(given_, target)
    room = found.targets[0]
    assume(not found.waiting and room.there == room.replicas - room.missing)
    if found.pending is None:
        assert room.more == LIMIT
    else:
        assert _left(_scaled(settled, target, room.replicas + room.more + 1), "web") > 0
    if not room.missing:
        assert _left(_scaled(settled, target, room.replicas + room.more), "web") == 0


@st.composite
def _shops(draw: st.DrawFn) -> list[Json]:
    rooms = draw(st.lists(st.integers(1, 6), min_size=2, max_size=6))
    own = {"topologySpreadConstraints": [spread(draw(st.integers(1, 2)))]} if draw(st.booleans()) else {}
    return [
        *(node(f"n{i}", "abc"[i % 3], cpu=str(room)) for i, room in enumerate(rooms)),
        workload("Deployment", "web", draw(st.integers(0, 3)), own),
        workload("Deployment", "api", draw(st.integers(0, 2))),
        workload("DaemonSet", "log", spec={"containers": [{"name": "c", "image": "i"}]}),
    ]


@drawn(6)
@given(_shops(), st.integers(1, 3), st.integers(1, 2))
def test_rounds_are_those_that_simulations_place_one_after_the_other(objects: list[Json], web: int, api: int) -> None:
    found = _asked(inventory(*objects), f"deploy/web={web}", f"deploy/api={api}")
    now = _settled(inventory(*objects))
    if any(each.missing for each in found.targets):
        assert found.rounds == 0
        return
    rounds, replicas = 0, {each.name: each.replicas for each in found.targets}
    while rounds <= LIMIT:
        for name, share in (("web", web), ("api", api)):
            replicas[name] += share
            done = simulate(now, options=SimulationOptions(scale={f"deploy/{name}": replicas[name]}), keep_after=True)
            if done.pending:
                assert found.rounds == rounds
                return
            assert done.after is not None
            now = done.after
        rounds += 1
    raise AssertionError("the nodes have room for so many")


@drawn(5)
@given(_shops())
def test_one_more_node_brings_what_a_simulation_with_it_says(objects: list[Json]) -> None:
    given_ = inventory(*objects)
    report = capacity(given_, "deploy/web", more=99, limit=LIMIT, workers=1, seconds=0.0)
    for each in report.purchases:
        assert each.shape.startswith("like n")
        model = next(made for made in objects if made["metadata"]["name"] == each.shape.removeprefix("like "))
        more = node("extra", each.zone, cpu=model["status"]["allocatable"]["cpu"])
        settled = _settled(given_)
        settled.nodes += inventory(more).nodes
        found = capacity(settled, "deploy/web", limit=99, workers=1, seconds=0.0).capacity
        assert each.gain == found.placed - report.capacity.placed
