"""One strategy a plugin, before NodeResourcesFit took them over: points of each, and what counted differently."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.plugins.storage_builders import cluster, node, place, pod
from topospread.config.args import ResourceWeight, ScoringStrategy
from topospread.plugins.old_versions.resource_strategies import StrategyPlugin, StrategyRules

GPU = "example.com/gpu"


def points(
    kind: Any, cpu: str = "1", *, weights: dict[str, int] | None = None, there: str = "", **rules: bool
) -> list[int]:
    """Points of a node with 4 CPUs and a GPU, one with 2 CPUs, and one with nothing."""
    made = cluster({})
    for name, allocatable in (("big", {"cpu": "4", GPU: "1"}), ("small", {"cpu": "2"}), ("none", {})):
        made.add_node(node(name, {}, allocatable=allocatable | {"pods": "9"}))

    def of(amount: str, name: str) -> Any:
        return pod(name=name, containers=[{"name": "c", "resources": {"requests": {"cpu": amount}}}])

    if there:
        place(made, of(there, "there"), "small")
    resources = [ResourceWeight(name, weight) for name, weight in (weights or {"cpu": 1}).items()]
    plugin = StrategyPlugin(kind, ScoringStrategy(type=kind, resources=resources), StrategyRules(**rules))
    prepared = plugin.prepare(made.pod_class(of(cpu, "new")), made)
    assert prepared.score is not None
    return list(prepared.score.score(np.arange(3)).tolist())


OLD, NEW = {"weighs_every_resource": True}, {"weighs_every_resource": False}


@pytest.mark.parametrize("rules", [OLD, NEW])
@pytest.mark.parametrize(("kind", "expected"), [("LeastAllocated", [75, 50, 0]), ("MostAllocated", [25, 50, 0])])
def test_points_for_what_is_left_or_taken(kind: str, expected: list[int], rules: dict[str, bool]) -> None:
    assert points(kind, **rules) == expected


def test_resources_that_nobody_asks_for_weighed_before_1_21() -> None:
    weights = {"cpu": 1, GPU: 1}
    assert points("LeastAllocated", weights=weights, **OLD) == [(75 + 100) // 2, 25, 0]
    assert points("LeastAllocated", weights=weights, **NEW) == [75, 50, 0]
    assert points("MostAllocated", weights={"cpu": 3, GPU: 1}, **OLD) == [75 // 4, 150 // 4, 0]


def test_an_overcommitted_resource_is_full_since_1_19() -> None:
    given: dict[str, Any] = {"there": "2", **OLD}
    assert points("MostAllocated", caps_overcommitted=True, **given)[1] == 100
    assert points("MostAllocated", caps_overcommitted=False, **given)[1] == 0
    assert points("LeastAllocated", **given)[1] == 0
