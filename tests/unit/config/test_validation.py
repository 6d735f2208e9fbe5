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
        (
            with_plugins("v1beta1", score=on("NodeResourcesFit") | off("NodeResourcesLeastAllocated")),
            "1.22",
            [],
        ),
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
            [
                'leaderElection.resourceLock: Invalid value: "endpointsleases": resourceLock value must be "leases"',
            ],
        ),
        (configuration("v1beta1"), "1.19", []),
    ],
)
def test_by_version(data: dict[str, Any], kube_version: str, found: list[str]) -> None:
    assert messages(data, kube_version) == found


@pytest.mark.parametrize(
    ("data", "kube_version", "gates", "found"),
    [
        (
            with_args("VolumeBinding", {"shape": [{"utilization": 5}]}),
            "1.36",
            {},
            [
                'profiles[0].pluginConfig[0].args.shape: Invalid value: [{"Utilization":5,"Score":0}]: unexpected '
                "field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
            ],
        ),
        (
            with_args("VolumeBinding", {"shape": []}),
            "1.32",
            {},
            [
                "profiles[0].pluginConfig[0].args.shape: Invalid value: []: unexpected field `shape`, remove it or "
                "turn on the feature gate VolumeCapacityPriority"
            ],
        ),
        (with_args("VolumeBinding", {"shape": [{"utilization": 5}]}), "1.32", {"VolumeCapacityPriority": True}, []),
        (
            with_args("DynamicResources", {"filterTimeout": "1s", "bindingTimeout": "5s"}),
            "1.35",
            {"DRASchedulerFilterTimeout": False},
            [
                "profiles[0].pluginConfig[0].args.bindingTimeout: Forbidden: DRADeviceBindingConditions or "
                "DRAResourceClaimDeviceStatus feature gate is disabled",
                "profiles[0].pluginConfig[0].args.filterTimeout: Forbidden: DRASchedulingFilterTimeout feature gate "
                "is disabled",
            ],
        ),
    ],
)
def test_by_gate(data: dict[str, Any], kube_version: str, gates: dict[str, bool], found: list[str]) -> None:
    assert messages(data, kube_version, **gates) == found


def test_problems_have_type_and_field() -> None:
    (error,) = problems(configuration(parallelism=-1))
    assert (error.type, error.field) == ("FieldValueInvalid", "parallelism")
