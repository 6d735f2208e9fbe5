"""Defaults that plain data and typed objects share."""

from __future__ import annotations

import pytest

from topospread.api.pod_defaults import complete_pod_level, label_key_requirements

HUGE = "hugepages-2Mi"


def test_keys_that_the_pod_has_become_requirements() -> None:
    labels = {"a": "1", "b": "2"}
    assert list(label_key_requirements(labels, ["a", "gone"], ["b"])) == [("a", "In", "1"), ("b", "NotIn", "2")]
    assert list(label_key_requirements(labels, None)) == []


@pytest.mark.parametrize(
    ("requests", "limits", "needs_limits", "found"),
    [
        ({}, {}, False, ({"cpu": 1, HUGE: 3}, {HUGE: 3})),
        ({}, {"cpu": 9}, True, ({"cpu": 1, HUGE: 3}, {"cpu": 9, HUGE: 3})),
        ({"cpu": 5, HUGE: 4}, {}, True, ({"cpu": 5, HUGE: 4}, {})),
        ({HUGE: 4}, {"memory": 7, "gpu": 1}, True, ({HUGE: 4, "cpu": 1, "memory": 7}, {"memory": 7, "gpu": 1})),
    ],
)
def test_missing_amounts_of_the_pod_come_from_its_containers_and_limits(
    requests: dict[str, int], limits: dict[str, int], needs_limits: bool, found: tuple[dict[str, int], dict[str, int]]
) -> None:
    complete_pod_level(requests, limits, {"cpu": 1, "gpu": 2}, {HUGE: 3, "cpu": 8}, needs_limits=needs_limits)
    assert (requests, limits) == found
