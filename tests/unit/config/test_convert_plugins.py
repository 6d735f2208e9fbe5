"""Plugins in another version of the configuration: names, weights, order, and what cannot be expressed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, off, on, with_args, with_plugins
from topospread.config.convert import convert
from topospread.config.load import load_configuration

OLD_WEIGHTS = on("InterPodAffinity:1", "NodeAffinity:1", "TaintToleration:1")
NEW_WEIGHTS = on("TaintToleration:3", "NodeAffinity:2", "InterPodAffinity:2")


@pytest.mark.parametrize(
    ("data", "to_version", "converted"),
    [
        (configuration("v1beta2"), "v1", with_plugins("v1", score=OLD_WEIGHTS)),
        (configuration("v1"), "v1beta2", with_plugins("v1beta2", score=NEW_WEIGHTS)),
        (
            configuration("v1"),
            "v1beta1",
            with_plugins("v1beta1", score=NEW_WEIGHTS | off("TaintToleration", "NodeAffinity", "InterPodAffinity")),
        ),
        (
            configuration("v1alpha2"),
            "v1",
            with_plugins(
                "v1", score=on("InterPodAffinity:1", "NodeAffinity:1", "TaintToleration:1", "PodTopologySpread:1")
            ),
        ),
    ],
)
def test_default_weights_of_the_original_are_said(
    data: dict[str, Any], to_version: str, converted: dict[str, Any]
) -> None:
    assert convert(data, to_version) == converted


def test_spreading_by_plugin_is_said_where_the_plugin_is() -> None:
    converted = convert(configuration("v1alpha2"), "v1beta2")
    profile = load_configuration(converted).profiles[0]
    assert profile.weights["SelectorSpread"] == 1
    assert profile.args.pod_topology_spread.constraints_in_force == ()


def test_built_in_constraints_succeed_spreading_by_plugin() -> None:
    profile = load_configuration(convert(configuration("v1alpha2"), "v1")).profiles[0]
    assert profile.args.pod_topology_spread.defaulting_type == "System"


def test_spreading_by_plugin_precedes_built_in_constraints() -> None:
    profile = load_configuration(convert(configuration("v1"), "v1alpha2")).profiles[0]
    assert profile.weights["DefaultPodTopologySpread"] == 1


def test_no_spreading_by_default_is_kept() -> None:
    converted = convert(with_args("PodTopologySpread", {"defaultingType": "List"}), "v1alpha2")
    assert "DefaultPodTopologySpread" not in load_configuration(converted).profiles[0].weights


MOST = on("NodeResourcesMostAllocated:3") | off("NodeResourcesLeastAllocated")


def test_scoring_plugin_becomes_a_strategy() -> None:
    converted = convert(with_plugins("v1beta1", score=MOST), "v1beta2")
    profile = load_configuration(converted).profiles[0]
    assert profile.weights["NodeResourcesFit"] == 3
    assert profile.args.node_resources_fit.scoring_strategy.type == "MostAllocated"


def test_strategy_becomes_a_scoring_plugin() -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    strategy = {
        "type": "RequestedToCapacityRatio",
        "resources": [{"name": "cpu", "weight": 4}],
        "requestedToCapacityRatio": {"shape": shape},
    }
    converted = convert(with_args("NodeResourcesFit", {"scoringStrategy": strategy}, "v1beta2"), "v1alpha2")
    profile = load_configuration(converted).profiles[0]
    assert profile.weights["RequestedToCapacityRatio"] == 1
    assert "NodeResourcesLeastAllocated" not in profile.weights
    found = profile.args.requested_to_capacity_ratio
    assert [(one.name, one.weight) for one in found.resources] == [("cpu", 4)]
    assert [(one.utilization, one.score) for one in found.shape] == [(0, 0), (100, 10)]


def test_order_of_the_file_is_kept() -> None:
    data = with_plugins("v1beta2", filter=on("TaintToleration", "NodeUnschedulable") | off("*"))
    converted = convert(data, "v1")
    assert load_configuration(converted).profiles[0].enabled("filter") == ("TaintToleration", "NodeUnschedulable")


def test_multi_point_is_said_point_by_point_where_there_is_none() -> None:
    converted = convert(with_plugins("v1", multiPoint=off("InterPodAffinity")), "v1beta2")
    profile = load_configuration(converted).profiles[0]
    assert all("InterPodAffinity" not in profile.enabled(point) for point in profile.plugins)
