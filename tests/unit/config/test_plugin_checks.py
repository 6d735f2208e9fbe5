"""Plugins that a version refuses at an extension point."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import on, with_plugins
from tests.unit.config.test_validation import messages
from topospread.config.api_versions import API_VERSIONS
from topospread.config.plugin_checks import checked_points, unmerged_points
from topospread.config.versions import KubeVersion


@pytest.mark.parametrize(
    ("data", "kube_version", "found"),
    [
        (
            *(with_plugins("v1beta2", score=on("NodeResourcesLeastAllocated")), "1.22"),
            'score.enabled[7]: Invalid value: "NodeResourcesLeastAllocated": was removed in version '
            '"kubescheduler.config.k8s.io/v1beta2"',
        ),
        (
            *(with_plugins("v1", preScore=on("SelectorSpread")), "1.28"),
            'preScore.enabled[0]: Invalid value: "SelectorSpread": was invalid in version "v1"',
        ),
        (with_plugins("v1beta3", preScore=on("SelectorSpread")), "1.28", ""),
        (with_plugins("v1", filter=on("EBSLimits")), "1.30", ""),
    ],
)
def test_removed_plugins_are_refused(data: dict[str, Any], kube_version: str, found: str) -> None:
    words = f'profiles[0].plugins.{found} (KubeSchedulerConfiguration is version "")'
    assert messages(data, kube_version) == ([words] if found else [])


def test_points_of_a_version() -> None:
    assert "placement_score" not in checked_points(KubeVersion(1, 35))
    assert set(checked_points(KubeVersion(1, 18))) < set(checked_points(KubeVersion(1, 37)))
    assert unmerged_points(API_VERSIONS["v1"], KubeVersion(1, 37)) == ()
