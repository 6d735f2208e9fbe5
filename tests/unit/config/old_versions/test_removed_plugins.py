"""Arguments of plugins that kube-scheduler removed: what validation says, and what the plugins took."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import off, on, with_args, with_plugins
from tests.unit.config.test_validation import messages
from topospread.config.old_versions.removed_plugins import as_plugins_took

RATIO = {"shape": [{"utilization": 1}], "resources": [{"name": "cpu", "weight": -5}]}


@pytest.mark.parametrize(
    ("plugin", "args", "kube_version", "found"),
    [
        (
            *("NodeLabel", {"presentLabels": ["a", "b"], "absentLabels": ["b"]}, "1.22"),
            'presentLabels[1]: Invalid value: "b": conflict with profiles[0].pluginConfig[0].args.absentLabels[0]',
        ),
        (
            *("NodeResourcesMostAllocated", {"resources": [{"name": "cpu"}]}, "1.20"),
            "resources[0].weight: Invalid value: 0: resource weight of cpu not in valid range (0, 100]",
        ),
        (
            *("RequestedToCapacityRatio", {"resources": [{"name": "cpu", "weight": 500}]}, "1.20"),
            "shape: Required value: at least one point must be specified",
        ),
        (
            *("RequestedToCapacityRatio", RATIO, "1.20"),
            "resources[0].weight: Invalid value: -5: resource weight of cpu not in valid range [1, inf)",
        ),
    ],
)
def test_wrong_arguments(plugin: str, args: dict[str, Any], kube_version: str, found: str) -> None:
    data = with_args(plugin, args, "v1beta1")
    assert messages(data, kube_version) == [f"profiles[0].pluginConfig[0].args.{found}"]


@pytest.mark.parametrize("disabled", [True, False])
def test_only_one_of_two_plugins_scores_node_resources(disabled: bool) -> None:
    score = on("NodeResourcesFit") | (off("NodeResourcesLeastAllocated") if disabled else {})
    of_version = 'version "kubescheduler.config.k8s.io/v1beta1"'
    assert messages(with_plugins("v1beta1", score=score), "1.22") == [
        'profiles[0].plugins.score.enabled[8]: Invalid value: "NodeResourcesFit": was conflict with '
        f'["NodeResourcesLeastAllocated"] in {of_version} (KubeSchedulerConfiguration is {of_version})'
    ] * (not disabled)


@pytest.mark.parametrize(
    ("plugin", "given", "full", "found"),
    [
        ("NodeLabel", {}, {"a": 1}, {"a": 1}),
        ("PodTopologySpread", {}, {"defaultConstraints": [1]}, {"defaultingType": "System"}),
        ("PodTopologySpread", {"defaultConstraints": []}, {}, {"defaultConstraints": [], "defaultingType": "List"}),
        (
            "RequestedToCapacityRatio",
            {},
            {"resources": [{"name": "cpu"}]},
            {"resources": [{"name": "cpu", "weight": 1}]},
        ),
    ],
)
def test_plugins_had_defaults_of_their_own(
    plugin: str, given: dict[str, Any], full: dict[str, Any], found: dict[str, Any]
) -> None:
    assert as_plugins_took(plugin, given, full, has_defaulting_type=False) == found
    assert as_plugins_took("PodTopologySpread", given, full, has_defaulting_type=True) == full
