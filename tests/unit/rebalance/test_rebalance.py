"""Which pods are evicted, which are left, and what is said of constraints that evictions do not mend."""

from __future__ import annotations

from .builders import THREE, carried_out, node, rebalance_of, spread, standing


def test_what_holds_needs_no_eviction() -> None:
    found = rebalance_of([*THREE, *standing({"a1": 2, "b1": 1, "c1": 1}, spread())])
    assert (found.moves, found.constraints, found.is_met, found.bound) == ((), (), True, 0)


def test_nodes_that_are_not_ready_are_named() -> None:
    silent = node("a2", "a", taints=[{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}])
    others = [each for each in THREE if each["metadata"]["name"] != "a2"]
    objects = [silent, *others, *standing({"a1": 1, "a2": 1, "b1": 1, "c1": 1}, spread())]
    (warning,) = rebalance_of(objects).warnings
    assert warning.startswith("1 node is not ready: a2. The controllers may replace 1 pod there, ")
    assert rebalance_of([*THREE, *standing({"a2": 1, "b1": 1, "c1": 1}, spread())]).warnings == ()


def test_the_result_needs_no_eviction() -> None:
    objects = [*THREE, *standing({"a1": 4, "a2": 3}, spread()), *standing({"a1": 3, "c1": 2}, spread(2), name="api")]
    found = rebalance_of(objects)
    assert found.moves
    assert rebalance_of(carried_out(objects, found.moves)).moves == ()
