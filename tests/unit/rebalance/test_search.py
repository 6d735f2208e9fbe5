"""Moves that bring constraints closer to holding."""

from __future__ import annotations

from .builders import HOST, THREE, node, rebalance_of, spread, standing


def test_pods_of_the_fullest_domain_go_until_the_skew_is_allowed() -> None:
    found = rebalance_of([*THREE, *standing({"a1": 3, "a2": 2, "b1": 1}, spread())])
    assert len(found.moves) == 3
    assert {each.node for each in found.moves} == {"a1", "a2"}
    (change,) = found.constraints
    assert (change.before, change.after) == ({"a": 5, "b": 1, "c": 0}, {"a": 2, "b": 2, "c": 2})
    assert found.is_proved


def test_one_eviction_helps_two_constraints_where_it_can() -> None:
    on_nodes = spread(1, topologyKey=HOST)
    found = rebalance_of([*THREE, *standing({"a1": 3, "b1": 1, "b2": 1, "c1": 1}, spread(), on_nodes)])
    assert len(found.moves) == 2
    assert found.is_proved


def test_a_pod_in_the_way_makes_room() -> None:
    objects = [
        *(node("a1", "a", cpu="10"), node("b1", "b", cpu="1")),
        *standing({"a1": 2}, spread()),
        *standing({"b1": 1}, name="log"),
    ]
    found = rebalance_of(objects)
    assert [each.workload for each in found.moves] == ["ReplicaSet/log", "ReplicaSet/web"]
    assert found.is_met
    assert found.is_proved
