"""Victims of preemption that belong to pod groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.simulation.test_group_attempts import Json, group, low, node, placed, pod, pods, simulated


@pytest.mark.parametrize(
    ("items", "evicted"),
    [
        ([low("a"), low("b"), low("c"), low("d")], 2),
        ([low("a", "old"), low("b", "old"), low("c"), low("d"), group("old")], 2),
        ([*(low(each, "old") for each in "abc"), low("d"), group("old", disruptionMode={"all": {}})], 3),
        ([low("a", cpu="2"), low("b", cpu="500m"), low("c", cpu="500m")], 2),
    ],
    ids=["pods alone", "pods of a group, which are more important", "a group that goes as a whole", "small ones"],
)
def test_a_group_evicts_as_few_as_it_can(items: list[Json], evicted: int, tmp_path: Path) -> None:
    made = [node("n1"), *items, group("g", 2, priority=9), *pods("g", 2, priority=9)]
    result = simulated(tmp_path, *made)
    assert placed(result) == {"g-0": True, "g-1": True}
    assert len(result.evictions) == evicted
    assert {each.preemptor for each in result.evictions} == {"default/g-0"}


def test_a_pod_evicts_a_group_as_a_whole(tmp_path: Path) -> None:
    there = [pod(f"there-{i}", "g", cpu="3", nodeName=f"n{i}") for i in range(2)]
    whole = group("g", 2, disruptionMode={"all": {}})
    result = simulated(tmp_path, node("n0"), node("n1"), whole, *there, pod("high", priority=9, cpu="3"))
    assert placed(result)["high"]
    assert {each.name for each in result.evictions} == {"there-0", "there-1"}


def test_a_pod_of_a_group_is_more_important_than_a_pod_alone(tmp_path: Path) -> None:
    there = [low("a", cpu="2"), low("b", "g", "2")]
    result = simulated(tmp_path, node("n1"), *there, group("g", 1), pod("high", priority=9))
    assert [each.name for each in result.evictions] == ["a"]
