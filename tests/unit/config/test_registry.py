"""In-tree plugins by version."""

from __future__ import annotations

import pytest

from topospread.config.profile import EXTENSION_POINTS
from topospread.config.registry import extension_points, last_version_with
from topospread.config.versions import KubeVersion

VERSIONS = [KubeVersion(1, minor) for minor in range(18, 38)]


@pytest.mark.parametrize(
    ("plugin", "minor", "points"),
    [
        ("NodeResourcesFit", 21, {"pre_filter", "filter"}),
        ("NodeResourcesFit", 22, {"pre_filter", "filter", "score"}),
        ("NodeResourcesFit", 37, {"pre_filter", "filter", "pre_score", "score", "placement_score"}),
        ("NodeName", 36, {"filter"}),
        ("NodeName", 37, {"pre_filter", "filter"}),
        ("PodTopologySpread", 18, {"pre_filter", "filter", "pre_score", "score"}),
        ("DefaultPreemption", 31, {"post_filter"}),
        ("DefaultPreemption", 37, {"post_filter", "pre_enqueue", "pod_group_post_filter"}),
        ("GangScheduling", 35, {"pre_enqueue", "reserve", "permit"}),
        ("GangScheduling", 36, {"pre_enqueue", "permit"}),
    ],
)
def test_extension_points(plugin: str, minor: int, points: set[str]) -> None:
    assert extension_points(KubeVersion(1, minor))[plugin] == points


@pytest.mark.parametrize(
    ("plugin", "first", "last"),
    [
        ("SelectorSpread", 19, 28),
        ("DefaultPodTopologySpread", 18, 18),
        ("NodeResourcesLeastAllocated", 18, 22),
        ("EBSLimits", 18, 31),
        ("SchedulingGates", 26, 37),
        ("NodeDeclaredFeatures", 35, 37),
    ],
)
def test_plugins_come_and_go(plugin: str, first: int, last: int) -> None:
    there = [version.minor for version in VERSIONS if plugin in extension_points(version)]
    assert there == list(range(first, last + 1))


def test_only_known_points_are_named() -> None:
    for version in VERSIONS:
        assert set().union(*extension_points(version).values()) <= set(EXTENSION_POINTS)


def test_last_version() -> None:
    assert last_version_with("SelectorSpread") == KubeVersion(1, 28)
    assert last_version_with("NodeName") is None
    assert last_version_with("Coscheduling") is None
