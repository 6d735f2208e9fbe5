"""The effective configuration as data: its form, and where each part comes from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.config.builders import configuration, off, on, with_args, with_plugins
from topospread.config.gates import gates_for
from topospread.config.load import default_configuration, load_configuration, standard_configuration
from topospread.config.profile import Configuration
from topospread.config.show import SettingSides, describe, differences

ZONE = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}


def shown(data: dict[str, Any]) -> dict[str, Any]:
    """The first profile of a configuration as it is shown."""
    profile: dict[str, Any] = describe(load_configuration(data))["profiles"][0]
    return profile


def test_form() -> None:
    described = describe(default_configuration())
    assert list(described) == ["apiVersion", "kind", "configurationVersion", "profiles", "warnings"]
    assert list(described["profiles"][0]) == [
        "schedulerName",
        "percentageOfNodesToScore",
        "plugins",
        "off",
        "defaultConstraints",
        "args",
    ]
    assert json.loads(json.dumps(described)) == described


def test_built_in_constraints() -> None:
    assert shown(configuration())["defaultConstraints"] == {
        "defaultingType": "System",
        "defaultingTypeFrom": "default",
        "from": "built in",
        "inForce": True,
        "constraints": [
            {
                "maxSkew": 3,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "ScheduleAnyway",
                "from": "built in",
            },
            {
                "maxSkew": 5,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "ScheduleAnyway",
                "from": "built in",
            },
        ],
    }


def test_constraints_of_the_file() -> None:
    args = {"defaultConstraints": [ZONE | {"minDomains": 2}], "defaultingType": "List"}
    assert shown(with_args("PodTopologySpread", args))["defaultConstraints"] == {
        "defaultingType": "List",
        "defaultingTypeFrom": "profiles[0].pluginConfig[0].args.defaultingType",
        "from": "profiles[0].pluginConfig[0].args.defaultConstraints",
        "inForce": True,
        "constraints": [ZONE | {"minDomains": 2, "from": "profiles[0].pluginConfig[0].args.defaultConstraints[0]"}],
    }


def test_constraints_of_a_plugin_that_is_off() -> None:
    assert shown(with_plugins(multiPoint=off("PodTopologySpread")))["defaultConstraints"]["inForce"] is False


def test_no_constraints_because_the_list_is_left_empty() -> None:
    found = shown(with_args("PodTopologySpread", {"defaultingType": "List"}))["defaultConstraints"]
    assert (found["constraints"], found["from"]) == ([], "profiles[0].pluginConfig[0].args.defaultingType")


def test_plugins_with_weights_and_origins() -> None:
    score = shown(with_plugins(score=on("ImageLocality:4")))["plugins"]["score"]
    path = "profiles[0].plugins.score.enabled[0]"
    assert score[0] == {"name": "ImageLocality", "from": path, "weight": 4, "weightFrom": path}
    assert score[1] == {"name": "TaintToleration", "from": "default", "weight": 3, "weightFrom": "default"}


def test_filters_have_no_weight() -> None:
    assert shown(configuration())["plugins"]["filter"][0] == {"name": "NodeName", "from": "default"}


@pytest.mark.parametrize(
    ("data", "percentage"),
    [
        (configuration(), {"value": 0, "from": "default"}),
        (configuration(percentageOfNodesToScore=7), {"value": 7, "from": "percentageOfNodesToScore"}),
        (
            configuration(profiles=[{"percentageOfNodesToScore": 9}]),
            {"value": 9, "from": "profiles[0].percentageOfNodesToScore"},
        ),
    ],
)
def test_percentage(data: dict[str, Any], percentage: dict[str, Any]) -> None:
    assert shown(data)["percentageOfNodesToScore"] == percentage


def test_arguments_of_plugins_that_are_on() -> None:
    args = shown(with_args("InterPodAffinity", {"hardPodAffinityWeight": 5}))["args"]
    assert args["InterPodAffinity"] == {
        "values": {"hardPodAffinityWeight": 5, "ignorePreferredTermsOfExistingPods": False},
        "from": {"hardPodAffinityWeight": "profiles[0].pluginConfig[0].args.hardPodAffinityWeight"},
    }
    assert args["DefaultPreemption"]["from"] == {}
    assert "NodeLabel" not in args
    assert "InterPodAffinity" not in shown(with_plugins(multiPoint=off("InterPodAffinity")))["args"]


def test_warnings_are_passed_on() -> None:
    assert len(describe(load_configuration(configuration("v1beta3")))["warnings"]) == 1


def test_what_is_on_by_default_and_off_here() -> None:
    loaded = load_configuration(with_plugins("v1beta2", filter=off("NodePorts")), kube_version="1.25")
    described = describe(loaded, standard_configuration(loaded.api_version, gates_for("1.25")))
    assert described["profiles"][0]["off"] == {"filter": ["NodePorts"]}


DEFAULT = "default-scheduler"


def loaded(*profiles: dict[str, Any]) -> Configuration:
    data = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": list(profiles),
    }
    return load_configuration(data)


def settings(found: list[SettingSides]) -> dict[str, tuple[str, str]]:
    return {each.setting: each.values for each in found}


def test_same_configuration_has_none() -> None:
    assert differences(default_configuration(), loaded({"schedulerName": DEFAULT})) == []


def test_weight_and_plugins_off() -> None:
    plugins = {
        "multiPoint": {"enabled": [{"name": "TaintToleration", "weight": 7}]},
        "filter": {"disabled": [{"name": "NodePorts"}, {"name": "DynamicResources"}]},
    }
    found = differences(default_configuration(), loaded({"schedulerName": DEFAULT, "plugins": plugins}))
    assert settings(found) == {
        "filter NodePorts": ("on", ""),
        "filter DynamicResources": ("on", ""),
        "score TaintToleration": ("weight 3", "weight 7"),
    }
    assert {each.profile for each in found} == {DEFAULT}


def test_default_constraints_and_arguments() -> None:
    constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    args = [
        {"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": [constraint]}},
        {"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated"}}},
    ]
    found = settings(differences(default_configuration(), loaded({"schedulerName": DEFAULT, "pluginConfig": args})))
    assert found["default constraints"][1] == "List: zone maxSkew 1 DoNotSchedule"
    assert found["NodeResourcesFit.scoringStrategy.type"] == ("LeastAllocated", "MostAllocated")


def test_profile_of_one_side_differs_in_everything() -> None:
    both = loaded({"schedulerName": DEFAULT}, {"schedulerName": "other"})
    found = differences(default_configuration(), both)
    assert {each.profile for each in found} == {"other"}
    assert all(each.values[0] == "" for each in found)


def test_versions_differ_in_weights() -> None:
    found = settings(differences(default_configuration("1.22"), default_configuration("1.37")))
    assert found["score TaintToleration"] == ("weight 1", "weight 3")
