"""Scores of NodeAffinity that are out of range."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case


def verdict(weights: dict[str, int], cpu: str = "1") -> dict[str, Any]:
    """The verdict on a pod that prefers zones with weights; zone c has little cpu."""
    nodes = [
        {
            "metadata": {"name": zone, "labels": {"zone": zone}},
            "status": {"allocatable": {"cpu": "1" if zone == "c" else "4", "memory": "8Gi", "pods": "10"}},
        }
        for zone in "abc"
    ]
    terms = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]}}
        for zone, weight in weights.items()
    ]
    spec = {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}},
    }
    answer = judge_case({"nodes": nodes, "incoming": [{"metadata": {"name": "p"}, "spec": spec}]})
    found: dict[str, Any] = answer["verdicts"][0]
    return found


@pytest.mark.parametrize(("weights", "score"), [({"a": -5}, -5), ({"a": -5, "b": 65}, -7)])
def test_a_negative_score_is_an_error(weights: dict[str, int], score: int) -> None:
    assert verdict(weights)["error"] == (
        'applying score defaultWeights on Score plugins: plugin "NodeAffinity" returns an invalid score '
        f"{score}, it should in the range of [0, 100] after normalizing"
    )


def test_a_negative_score_that_go_truncates_to_0_is_none() -> None:
    assert verdict({"a": -1, "b": 200})["best"] == ["b"]


def test_only_feasible_nodes_are_scored() -> None:
    assert verdict({"c": -5}, cpu="2")["best"] == ["a", "b"]
