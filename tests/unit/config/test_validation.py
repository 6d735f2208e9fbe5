"""Refusals that the stored verdicts of 1.37 cannot show: those of earlier versions, and of gates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, off, on, with_args, with_plugins
from topospread.config.gates import gates_for
from topospread.config.load import problems


def messages(data: dict[str, Any], kube_version: str = "1.37", **gates: bool) -> list[str]:
    """What validation says."""
    return [error.message for error in problems(data, kube_version=kube_version, gates=gates_for(kube_version, gates))]


@pytest.mark.parametrize(
    ("data", "kube_version", "found"),
    [
        (
            with_plugins("v1beta2", score=on("NodeResourcesLeastAllocated")),
            "1.22",
            [
                'profiles[0].plugins.score.enabled[7]: Invalid value: "NodeResourcesLeastAllocated": was removed in '
                'version "kubescheduler.config.k8s.io/v1beta2" (KubeSchedulerConfiguration is version "")'
            ],
        ),
        (
            with_plugins("v1", preScore=on("SelectorSpread")),
            "1.28",
            [
                'profiles[0].plugins.preScore.enabled[0]: Invalid value: "SelectorSpread": was invalid in version "v1" '
                '(KubeSchedulerConfiguration is version "")'
            ],
        ),
        (with_plugins("v1beta3", preScore=on("SelectorSpread")), "1.28", []),
        (with_plugins("v1", filter=on("EBSLimits")), "1.30", []),
        (
            with_plugins("v1beta1", score=on("NodeResourcesFit")),
            "1.22",
            [
                'profiles[0].plugins.score.enabled[8]: Invalid value: "NodeResourcesFit": was conflict with '
                '["NodeResourcesLeastAllocated"] in version "kubescheduler.config.k8s.io/v1beta1" '
                '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1beta1")'
            ],
        ),
        (with_plugins("v1beta1", score=on("NodeResourcesFit") | off("NodeResourcesLeastAllocated")), "1.22", []),
        (
            with_args("NodeLabel", {"presentLabels": ["a", "b"], "absentLabels": ["b"]}, "v1beta1"),
            "1.22",
            [
                'profiles[0].pluginConfig[0].args.presentLabels[1]: Invalid value: "b": conflict with '
                "profiles[0].pluginConfig[0].args.absentLabels[0]"
            ],
        ),
        (
            with_args("NodeResourcesMostAllocated", {"resources": [{"name": "cpu"}]}, "v1beta1"),
            "1.20",
            [
                "profiles[0].pluginConfig[0].args.resources[0].weight: Invalid value: 0: resource weight of cpu not in "
                "valid range (0, 100]"
            ],
        ),
        (
            with_args("RequestedToCapacityRatio", {"resources": [{"name": "cpu", "weight": 500}]}, "v1beta1"),
            "1.20",
            ["profiles[0].pluginConfig[0].args.shape: Required value: at least one point must be specified"],
        ),
        (
            with_args(
                "RequestedToCapacityRatio",
                {"shape": [{"utilization": 1}], "resources": [{"name": "cpu", "weight": -5}]},
                "v1beta1",
            ),
            "1.20",
            [
                "profiles[0].pluginConfig[0].args.resources[0].weight: Invalid value: -5: resource weight of cpu not "
                "in valid range [1, inf)"
            ],
        ),
        (configuration("v1beta3", leaderElection={"resourceLock": "endpointsleases"}), "1.25", []),
        (
            configuration("v1beta3", leaderElection={"resourceLock": "endpointsleases"}),
            "1.26",
            ['leaderElection.resourceLock: Invalid value: "endpointsleases": resourceLock value must be "leases"'],
        ),
        (configuration("v1beta1"), "1.19", []),
    ],
)
def test_by_version(data: dict[str, Any], kube_version: str, found: list[str]) -> None:
    assert messages(data, kube_version) == found


def test_problems_have_type_and_field() -> None:
    (error,) = problems(configuration(parallelism=-1))
    assert (error.type, error.field) == ("FieldValueInvalid", "parallelism")


@pytest.mark.parametrize(("kube_version", "refused"), [("1.25", False), ("1.26", True), ("1.37", True)])
def test_lease_as_long_as_its_renewal(kube_version: str, refused: bool) -> None:
    election = {"leaderElect": True, "leaseDuration": "15s", "renewDeadline": "15s"}
    assert bool(messages(configuration("v1", leaderElection=election), kube_version)) is refused


@pytest.mark.parametrize(("api_version", "refused"), [("v1beta2", False), ("v1beta3", True)])
def test_queue_sort_differs_by_what_is_disabled_only_where_that_is_remembered(api_version: str, refused: bool) -> None:
    profiles = [
        {"schedulerName": "one", "plugins": {"queueSort": {"disabled": [{"name": "EBSLimits"}]}}},
        {"schedulerName": "two"},
    ]
    assert bool(messages(configuration(api_version, profiles=profiles), "1.25")) is refused
