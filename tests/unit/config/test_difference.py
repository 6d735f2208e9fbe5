"""What two configurations decide differently."""

from __future__ import annotations

from typing import Any

from topospread.config.load import default_configuration, load_configuration
from topospread.config.profile import Configuration
from topospread.config.show import SettingSides, differences

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
