"""What each version fills in where the file says nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, with_args
from topospread.config.args import (
    CPU_AND_MEMORY,
    SYSTEM_CONSTRAINTS,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    PluginArgs,
    ResourceWeight,
    ScoringStrategy,
    ShapePoint,
    VolumeBindingArgs,
)
from topospread.config.gates import gates_for
from topospread.config.load import default_profile, load_configuration

ZONE = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}


def args_of(data: dict[str, Any], kube_version: str = "1.37", **gates: bool) -> PluginArgs:
    """The arguments of the first profile."""
    chosen = gates_for(kube_version, gates)
    return load_configuration(data, kube_version=kube_version, gates=chosen).profiles[0].args


def test_arguments_without_a_word_in_the_file() -> None:
    args = default_profile().args
    assert args.pod_topology_spread.constraints_in_force == SYSTEM_CONSTRAINTS
    assert args.node_resources_fit.scoring_strategy == ScoringStrategy("LeastAllocated", CPU_AND_MEMORY)
    assert args.node_resources_balanced_allocation.resources == CPU_AND_MEMORY
    assert args.inter_pod_affinity == InterPodAffinityArgs(1, False)
    assert args.default_preemption == DefaultPreemptionArgs(10, 100)
    assert args.node_affinity.added_affinity is None
    assert args.volume_binding == VolumeBindingArgs(600, (ShapePoint(0, 10), ShapePoint(100, 0)))
    assert args.dynamic_resources == DynamicResourcesArgs(10 * 10**9, 600 * 10**9)


@pytest.mark.parametrize(
    ("version", "kube_version", "args", "kind"),
    [
        ("v1", "1.37", {}, "System"),
        ("v1", "1.37", {"defaultingType": "List"}, "List"),
        ("v1beta3", "1.23", {}, "System"),
        ("v1beta2", "1.22", {}, "System"),
        ("v1beta1", "1.22", {}, "System"),
        ("v1beta1", "1.22", {"defaultConstraints": [ZONE]}, "List"),
        ("v1beta1", "1.22", {"defaultConstraints": []}, "System"),
        ("v1beta1", "1.20", {"defaultConstraints": [ZONE]}, "List"),
        ("v1beta1", "1.19", {}, "List"),
        ("v1alpha2", "1.18", {}, "List"),
        ("v1alpha2", "1.18", {"defaultConstraints": [ZONE]}, "List"),
        ("v1alpha2", "1.37", {"defaultConstraints": [ZONE]}, "List"),
    ],
)
def test_defaulting_type(version: str, kube_version: str, args: dict[str, Any], kind: str) -> None:
    assert (
        args_of(with_args("PodTopologySpread", args, version), kube_version).pod_topology_spread.defaulting_type == kind
    )


@pytest.mark.parametrize(
    ("version", "kube_version", "args", "on", "kind"),
    [
        ("v1beta1", "1.20", {}, False, "List"),
        ("v1beta2", "1.23", {}, False, "List"),
        ("v1beta1", "1.19", {}, True, "System"),
        ("v1beta1", "1.19", {"defaultConstraints": []}, True, "List"),
    ],
)
def test_defaulting_type_behind_its_gate(
    version: str, kube_version: str, args: dict[str, Any], on: bool, kind: str
) -> None:
    found = args_of(with_args("PodTopologySpread", args, version), kube_version, DefaultPodTopologySpread=on)
    assert found.pod_topology_spread.defaulting_type == kind


def test_strategy_without_resources_takes_cpu_and_memory() -> None:
    args = args_of(with_args("NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated"}}))
    assert args.node_resources_fit.scoring_strategy == ScoringStrategy("MostAllocated", CPU_AND_MEMORY)


@pytest.mark.parametrize("weight", [{}, {"weight": 0}, {"weight": None}])
def test_resource_without_weight_weighs_one(weight: dict[str, Any]) -> None:
    resources = [{"name": "cpu", "weight": 5}, {"name": "gpu", **weight}]
    strategy = {"type": "LeastAllocated", "resources": resources}
    found = args_of(with_args("NodeResourcesFit", {"scoringStrategy": strategy})).node_resources_fit
    assert found.scoring_strategy.resources == (ResourceWeight("cpu", 5), ResourceWeight("gpu", 1))


@pytest.mark.parametrize(
    ("kube_version", "gates", "shape"),
    [
        ("1.36", {}, ()),
        ("1.36", {"StorageCapacityScoring": True}, (ShapePoint(0, 10), ShapePoint(100, 0))),
        ("1.32", {"VolumeCapacityPriority": True}, (ShapePoint(0, 0), ShapePoint(100, 10))),
        ("1.37", {"StorageCapacityScoring": False}, ()),
    ],
)
def test_shape_of_storage_scoring(kube_version: str, gates: dict[str, bool], shape: tuple[ShapePoint, ...]) -> None:
    assert args_of(configuration(), kube_version, **gates).volume_binding.shape == shape


def test_a_single_profile_is_the_default_scheduler() -> None:
    assert load_configuration(configuration(profiles=[{}])).profiles[0].scheduler_name == "default-scheduler"
    assert load_configuration(configuration(profiles=[])).profiles[0].scheduler_name == "default-scheduler"
    named = load_configuration(configuration(profiles=[{"schedulerName": "mine"}]))
    assert named.profiles[0].scheduler_name == "mine"


@pytest.mark.parametrize(
    ("fields", "shares"),
    [
        ({}, [0, 0]),
        ({"percentageOfNodesToScore": 40}, [40, 40]),
        ({"percentageOfNodesToScore": 40, "own": 7}, [7, 40]),
        ({"percentageOfNodesToScore": 40, "own": 0}, [0, 40]),
    ],
)
def test_percentage_of_a_profile_goes_before_that_of_all(fields: dict[str, Any], shares: list[int]) -> None:
    fields = dict(fields)
    own = {"percentageOfNodesToScore": fields.pop("own")} if "own" in fields else {}
    data = configuration(**fields, profiles=[{"schedulerName": "a", **own}, {"schedulerName": "b"}])
    assert [profile.percentage_of_nodes_to_score for profile in load_configuration(data).profiles] == shares


def test_preemption_of_1_18_needs_no_plugin() -> None:
    on, off = (load_configuration(configuration("v1alpha2", disablePreemption=value)) for value in (False, True))
    assert on.profiles[0].enabled("post_filter") == ("DefaultPreemption",)
    assert off.profiles[0].enabled("post_filter") == ()


def test_bind_timeout_of_1_18_is_everybodys() -> None:
    assert args_of(configuration("v1alpha2", bindTimeoutSeconds=5)).volume_binding.bind_timeout_seconds == 5
