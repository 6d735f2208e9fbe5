"""The plugins that are on without a word in the file, by version and feature gate."""

from __future__ import annotations

import pytest

from tests.unit.config.builders import configuration, off
from topospread.config.gates import gates_for
from topospread.config.load import default_profile, load_configuration

RESOURCES_AND_IMAGES = {"NodeResourcesBalancedAllocation": 1, "NodeResourcesFit": 1, "ImageLocality": 1}
OLD_WEIGHTS = {"TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1, "PodTopologySpread": 2}
NEW_WEIGHTS = {"TaintToleration": 3, "NodeAffinity": 2, "InterPodAffinity": 2, "PodTopologySpread": 2}
BEFORE_NODE_RESOURCES_FIT = {
    "NodeResourcesBalancedAllocation": 1,
    "NodeResourcesLeastAllocated": 1,
    "ImageLocality": 1,
    "NodePreferAvoidPods": 10000,
}


@pytest.mark.parametrize(
    ("version", "weights"),
    [
        ("1.37", RESOURCES_AND_IMAGES | NEW_WEIGHTS | {"VolumeBinding": 1, "DynamicResources": 2}),
        ("1.33", RESOURCES_AND_IMAGES | NEW_WEIGHTS | {"VolumeBinding": 1}),
        ("1.25", RESOURCES_AND_IMAGES | NEW_WEIGHTS | {"VolumeBinding": 1}),
        ("1.23", RESOURCES_AND_IMAGES | NEW_WEIGHTS | {"VolumeBinding": 1}),
        ("1.22", RESOURCES_AND_IMAGES | OLD_WEIGHTS),
        ("1.20", BEFORE_NODE_RESOURCES_FIT | OLD_WEIGHTS),
        ("1.19", BEFORE_NODE_RESOURCES_FIT | OLD_WEIGHTS | {"SelectorSpread": 1}),
        ("1.18", BEFORE_NODE_RESOURCES_FIT | OLD_WEIGHTS | {"PodTopologySpread": 1, "DefaultPodTopologySpread": 1}),
    ],
)
def test_score_plugins_and_weights(version: str, weights: dict[str, int]) -> None:
    assert default_profile(version).weights == weights


@pytest.mark.parametrize(
    ("version", "first"),
    [
        ("1.37", ["NodeName", "NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]),
        ("1.36", ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]),
        ("1.20", ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]),
        (
            "1.19",
            ["NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions"],
        ),
    ],
)
def test_filters_begin_with(version: str, first: list[str]) -> None:
    assert default_profile(version).enabled("filter")[:6] == tuple(first)


@pytest.mark.parametrize(
    ("version", "limits"),
    [("1.30", ["EBSLimits", "GCEPDLimits", "NodeVolumeLimits", "AzureDiskLimits"]), ("1.31", ["NodeVolumeLimits"])],
)
def test_volume_limits_of_in_tree_drivers_went_in_1_31(version: str, limits: list[str]) -> None:
    assert [name for name in default_profile(version).enabled("filter") if name.endswith("Limits")] == limits


@pytest.mark.parametrize(("version", "there"), [("1.25", False), ("1.26", False), ("1.27", True), ("1.37", True)])
def test_scheduling_gates(version: str, there: bool) -> None:
    assert ("SchedulingGates" in default_profile(version).enabled("pre_enqueue")) is there


@pytest.mark.parametrize(
    ("version", "overrides", "point", "plugin"),
    [
        ("1.26", {"PodSchedulingReadiness": True}, "pre_enqueue", "SchedulingGates"),
        ("1.26", {"DynamicResourceAllocation": True}, "filter", "DynamicResources"),
        ("1.35", {"GangScheduling": True, "GenericWorkload": True}, "permit", "GangScheduling"),
        ("1.37", {"GenericWorkload": True}, "permit", "GangScheduling"),
        ("1.35", {"NodeDeclaredFeatures": True}, "filter", "NodeDeclaredFeatures"),
        ("1.37", {"InPlacePodVerticalScalingSchedulerPreemption": True}, "filter", "DeferredPodScheduling"),
        (
            "1.37",
            {"TopologyAwareWorkloadScheduling": True, "GenericWorkload": True},
            "placement_generate",
            "TopologyPlacementGenerator",
        ),
        ("1.20", {"DefaultPodTopologySpread": False}, "score", "SelectorSpread"),
        ("1.22", {"DefaultPodTopologySpread": False}, "pre_score", "SelectorSpread"),
        ("1.23", {"DefaultPodTopologySpread": False}, "score", "SelectorSpread"),
        ("1.21", {"VolumeCapacityPriority": True}, "score", "VolumeBinding"),
        ("1.22", {"VolumeCapacityPriority": True}, "score", "VolumeBinding"),
        ("1.18", {"ResourceLimitsPriorityFunction": True}, "score", "NodeResourceLimits"),
    ],
)
def test_plugins_behind_gates(version: str, overrides: dict[str, bool], point: str, plugin: str) -> None:
    assert plugin not in default_profile(version).enabled(point)
    assert plugin in default_profile(version, gates_for(version, overrides)).enabled(point)


def test_topology_spread_of_1_18_can_be_switched_off() -> None:
    profile = default_profile("1.18", gates_for("1.18", {"EvenPodsSpread": False}))
    assert all("PodTopologySpread" not in profile.enabled(point) for point in profile.plugins)


def test_dynamic_resources_stand_before_preemption() -> None:
    assert default_profile("1.37").enabled("post_filter") == ("DynamicResources", "DefaultPreemption")


def test_node_resources_fit_comes_after_pods_waiting_to_grow() -> None:
    gates = gates_for("1.37", {"InPlacePodVerticalScalingSchedulerPreemption": True})
    filters = default_profile("1.37", gates).enabled("filter")
    assert filters.index("DeferredPodScheduling") + 1 == filters.index("NodeResourcesFit")


@pytest.mark.parametrize("minor", range(18, 38))
def test_every_version_has_a_default_profile(minor: int) -> None:
    profile = default_profile(f"1.{minor}")
    assert profile.scheduler_name == "default-scheduler"
    assert profile.enabled("queue_sort") == ("PrioritySort",)
    assert profile.enabled("bind") == ("DefaultBinder",)
    assert "PodTopologySpread" in profile.enabled("filter")
    assert "DefaultPreemption" in profile.enabled("post_filter")


def test_pods_choose_their_profile_by_name() -> None:
    data = configuration(profiles=[{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"score": off("*")}}])
    loaded = load_configuration(data)
    chosen = [loaded.profile_for(name) for name in ("a", "b", "c")]
    assert [profile and len(profile.weights) for profile in chosen] == [9, 0, None]
