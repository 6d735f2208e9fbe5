"""What is evicted helps, breaks nothing on the way, and less would not do: held to simulations of each step."""

from __future__ import annotations

from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.drawn import drawn
from tests.unit.rebalance.builders import (
    HOST,
    ZONE,
    budget,
    carried_out,
    inventory,
    node,
    rebalance_of,
    soft,
    spread,
    standing,
)
from topospread.answers.status import status
from topospread.rebalance.result import PodMove
from topospread.simulation.options import SimulationOptions
from topospread.simulation.simulate import simulate

Json = dict[str, Any]


@st.composite
def skewed(draw: st.DrawFn, most: int = 6, room: int = 5) -> list[Json]:
    """Nodes of several zones, and one or two workloads whose pods stand anywhere."""
    number = draw(st.integers(2, most))
    zones = draw(st.lists(st.sampled_from("abc"), min_size=number, max_size=number))
    rooms = draw(st.lists(st.integers(2, room), min_size=number, max_size=number))
    free = dict(zip((f"n{i}" for i in range(number)), rooms, strict=True))
    made = [node(f"n{i}", zone, cpu=str(rooms[i])) for i, zone in enumerate(zones)]
    for name in draw(st.sampled_from([["web"], ["web", "api"]])):
        on = dict.fromkeys(free, 0)
        for _ in range(draw(st.integers(0, 5))):
            where = draw(st.sampled_from(sorted(free)))
            if free[where]:
                on[where] += 1
                free[where] -= 1
        skew = draw(st.integers(1, 2))
        both = {"matchExpressions": [{"key": "app", "operator": "Exists"}]}
        own = draw(
            st.sampled_from(
                [
                    [spread(skew)],
                    [spread(skew, topologyKey=HOST)],
                    [spread(skew), spread(skew + 1, topologyKey=HOST)],
                    [soft(skew)],
                    [spread(skew, labelSelector=both)],
                    [spread(skew, minDomains=3)],
                    [],
                ]
            )
        )
        made += standing(on, *own, name=name)
        if draw(st.booleans()):
            made.append(budget(name, maxUnavailable=draw(st.integers(0, 1))))
    return made


def skews(objects: list[Json]) -> dict[tuple[str, str, str], int]:
    """Workload, key and kind of each constraint → by how much its skew is more than maxSkew."""
    found = status(inventory(*objects)).workloads
    return {
        (each.name, constraint.topology_key, constraint.when_unsatisfiable): constraint.excess
        for each in found
        for constraint in each.constraints
    }


def placed_instead(objects: list[Json], name: str) -> list[str]:
    """Nodes that a simulation gives the new pod of an evicted one."""
    left = [each for each in objects if not (each["kind"] == "Pod" and each["metadata"]["name"] == name)]
    return [
        each.node or "" for each in simulate(inventory(*left), options=SimulationOptions(preemption=False)).placements
    ]


def zone_of(objects: list[Json], name: str) -> str:
    there = next(each for each in objects if each["kind"] == "Node" and each["metadata"]["name"] == name)
    zone: str = there["metadata"]["labels"][ZONE]
    return zone


@drawn(12)
@given(objects=skewed(), soft_too=st.booleans())
def test_every_eviction_ends_where_a_simulation_places_its_pod(objects: list[Json], soft_too: bool) -> None:
    found = rebalance_of(objects, max_skew=1 if soft_too else None)
    now = objects
    for move in found.moves:
        assert placed_instead(now, move.name) == [move.target]
        now = carried_out(now, (move,))
    if found.is_met:
        hard = [each for each in skews(now).items() if each[0][2] == "DoNotSchedule"]
        assert not any(excess for _, excess in hard)


@drawn(12)
@given(objects=skewed(), soft_too=st.booleans())
def test_a_second_run_finds_nothing_more_to_do(objects: list[Json], soft_too: bool) -> None:
    options = {"max_skew": 1} if soft_too else {}
    found = rebalance_of(objects, **options)
    again = rebalance_of(carried_out(objects, found.moves), **options)
    assert again.moves == ()
    assert len(again.unmet) == len(found.unmet)


@drawn(12)
@given(objects=skewed())
def test_no_constraint_gets_worse_and_no_budget_is_broken(objects: list[Json]) -> None:
    found = rebalance_of(objects)
    closed = {
        each["metadata"]["name"]
        for each in objects
        if each["kind"] == "PodDisruptionBudget" and each["spec"]["maxUnavailable"] == 0
    }
    now = objects
    for move in found.moves:
        assert move.workload.partition("/")[2] not in closed
        before = skews(now)
        now = carried_out(now, (move,))
        assert all(excess <= before[key] for key, excess in skews(now).items() if key[2] == "DoNotSchedule")


def mends(objects: list[Json], moves: int) -> bool:
    """Whether so many evictions, in whatever order, leave every hard constraint within maxSkew."""
    if not any(excess for key, excess in skews(objects).items() if key[2] == "DoNotSchedule"):
        return True
    if not moves:
        return False
    for pod in [each for each in objects if each["kind"] == "Pod"]:
        (target,) = placed_instead(objects, pod["metadata"]["name"])
        if target and target != pod["spec"]["nodeName"]:
            name, owner = pod["metadata"]["name"], pod["metadata"]["ownerReferences"][0]["name"]
            move = PodMove("shop", name, f"ReplicaSet/{owner}", pod["spec"]["nodeName"], f"{name}x", target, {})
            if mends(carried_out(objects, (move,)), moves - 1):
                return True
    return False


@drawn(10)
@given(objects=skewed(most=3, room=3))
def test_fewer_evictions_mend_nothing_where_that_is_proved(objects: list[Json]) -> None:
    objects = [each for each in objects if each["kind"] != "PodDisruptionBudget"]
    found = rebalance_of(objects)
    assert found.bound is None or found.bound <= len(found.moves)
    if found.is_proved and 0 < len(found.moves) <= 2:
        assert not mends(objects, len(found.moves) - 1)
    if found.impossible:
        assert not mends(objects, 1)


def met_by(objects: list[Json], names: tuple[str, ...]) -> bool:
    """Whether the evictions of these pods, in this order, mend every hard constraint and make none worse."""
    now = objects
    for name in names:
        pod = next((each for each in now if each["kind"] == "Pod" and each["metadata"]["name"] == name), None)
        placed = placed_instead(now, name) if pod is not None else []
        if pod is None or len(placed) != 1 or not placed[0]:
            return False
        owner = pod["metadata"]["ownerReferences"][0]["name"]
        move = PodMove("shop", name, f"ReplicaSet/{owner}", pod["spec"]["nodeName"], f"{name}x", placed[0], {})
        before, now = skews(now), carried_out(now, (move,))
        if any(excess > before[key] for key, excess in skews(now).items() if key[2] == "DoNotSchedule"):
            return False
    return not any(excess for key, excess in skews(now).items() if key[2] == "DoNotSchedule")


@drawn(25)
@given(objects=skewed())
def test_no_eviction_can_be_left_out_in_any_order(objects: list[Json]) -> None:
    objects = [each for each in objects if each["kind"] != "PodDisruptionBudget"]
    found = rebalance_of(objects)
    names = [each.name for each in found.moves]
    if found.is_met and 0 < len(names) <= 4:
        assert not any(met_by(objects, some) for some in permutations(names, len(names) - 1))
