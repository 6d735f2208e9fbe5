"""Requests of a pod that is resized in place."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.pod import Pod
from topospread.api.running_resources import StatusRule, integers, quantities, readers, rounded

Json = dict[str, Any]
TOLD: Json = {"name": "c", "allocatedResources": {"cpu": "3"}, "resources": {"requests": {"cpu": "2"}}}
INFEASIBLE = {"type": "PodResizePending", "reason": "Infeasible"}


def counted(rule: StatusRule, spec: str, **status: Any) -> list[int]:
    """Millicores of the container by each reader."""
    container = {"name": "c", "resources": {"requests": {"cpu": spec}}}
    pod = msgspec.convert({"spec": {"containers": [container]}, "status": status}, Pod)
    return [integers(read(pod.spec.containers[0]))["cpu"] for read in readers(pod, rule)]  # type: ignore[index]


@pytest.mark.parametrize(
    ("rule", "found", "infeasible"),
    [
        ("ignored", [1000], [1000]),
        ("allocated", [3000], [3000]),
        ("running", [2000], [2000]),
        ("running or allocated", [3000], [3000]),
        ("whole pod", [1000, 3000, 2000], [3000, 2000]),
    ],
)
def test_the_largest_amount_counts_by_version(rule: StatusRule, found: list[int], infeasible: list[int]) -> None:
    assert counted(rule, "1", containerStatuses=[TOLD]) == found
    assert counted(rule, "1", containerStatuses=[TOLD], conditions=[INFEASIBLE], resize="Infeasible") == infeasible
    assert counted(rule, "1") == [1000]


def test_an_impossible_resize_does_not_count() -> None:
    told = {"containerStatuses": [TOLD], "conditions": [INFEASIBLE]}
    assert counted("running or allocated", "9", **told) == [3000]
    assert counted("running or allocated", "9", containerStatuses=[TOLD]) == [9000]
    assert counted("running", "9", containerStatuses=[TOLD], resize="Infeasible") == [2000]


def test_amounts_are_rounded_up_to_the_units_of_kube_scheduler() -> None:
    found = rounded(quantities({"cpu": "1.5m", "memory": "0.1", "pods": None}))
    assert {name: str(each) for name, each in found.items()} == {"cpu": "2m", "memory": "1", "pods": "0"}
