"""Points for resources of which a node has less than nothing: the API server refuses them, an input may hold them."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case


@pytest.mark.parametrize(
    ("cpu", "memory", "requests", "points"),
    [
        ("2", "-1Gi", {"cpu": "1"}, {"NodeResourcesFit": 25, "NodeResourcesBalancedAllocation": 62}),
        ("-500m", "1Gi", {"memory": "1Gi"}, {"NodeResourcesFit": 0, "NodeResourcesBalancedAllocation": 50}),
    ],
)
def test_negative_amounts_get_kube_schedulers_points(
    cpu: str, memory: str, requests: dict[str, str], points: dict[str, int]
) -> None:
    def pod(name: str, node: str, amounts: dict[str, str]) -> dict[str, Any]:
        containers = [{"name": "c", "resources": {"requests": amounts}}]
        return {"metadata": {"name": name}, "spec": {"nodeName": node, "containers": containers}}

    node = {"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "10"}}}
    there = [pod("there", "a", {"cpu": "300m"})] if cpu.startswith("-") else []
    [verdict] = judge_case({"nodes": [node], "pods": there, "incoming": [pod("new", "", requests)]})["verdicts"]
    assert {name: verdict["scores"]["a"][name] for name in points} == points
