"""Plans without an eviction too many."""

from __future__ import annotations

from .builders import node, rebalance_of, spread, standing


def test_no_eviction_of_a_plan_can_be_left_out() -> None:
    """Web's pods first take the room of big's, so that big needs a third eviction; with big first two do."""
    made = [node(f"n{at:02}", "abc"[at % 3], cpu="4") for at in range(18) if at != 4]
    web = dict.fromkeys(["n00", "n03"], 2) | dict.fromkeys(["n06", "n09", "n12", "n15", "n01", "n07", "n10", "n02"], 1)
    big = dict.fromkeys(["n02", "n05", "n08", "n11", "n14", "n17", "n06", "n09"], 1)
    found = rebalance_of([*made, *standing(web, spread()), *standing(big, spread(2), name="big", cpu="3")])
    assert [each.workload for each in found.moves] == ["ReplicaSet/big"] * 2 + ["ReplicaSet/web"] * 4
    assert found.is_proved
