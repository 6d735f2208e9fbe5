"""Which pods NodeResourcesBalancedAllocation scores."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case


@pytest.mark.parametrize("names", [("running", "plain"), ("plain", "running")])
def test_only_the_pod_is_scored_of_which_the_kubelet_says_resources(names: tuple[str, str]) -> None:
    told = {"containerStatuses": [{"name": "c", "allocatedResources": {"memory": "1Gi"}}]}
    incoming: list[dict[str, Any]] = [
        {
            "metadata": {"name": name, "namespace": name},
            "spec": {"containers": [{"name": "c"}]},
            "status": told if name == "running" else {},
        }
        for name in names
    ]
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "10"}
    nodes = [{"metadata": {"name": name}, "status": {"allocatable": allocatable}} for name in "ab"]

    verdicts = judge_case({"nodes": nodes, "incoming": incoming})["verdicts"]

    scored = {verdict["pod"]: "NodeResourcesBalancedAllocation" in verdict["scores"]["a"] for verdict in verdicts}
    assert scored == {"running/running": True, "plain/plain": False}
