"""Arguments as Go prints them; the words around them are among the stored verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, on
from topospread.config.load import problems
from topospread.config.validation import go_form, same_args

PROFILES = [
    {"schedulerName": "a", "plugins": {"queueSort": on("NodeAffinity")}},
    {"schedulerName": "b", "plugins": {"queueSort": on("NodeAffinity")}},
]


@pytest.mark.parametrize(
    ("plugin", "args", "printed"),
    [
        ("Coscheduling", {"b": 1, "a": []}, {"b": 1, "a": []}),
        ("InterPodAffinity", {}, {"HardPodAffinityWeight": 0, "IgnorePreferredTermsOfExistingPods": False}),
        ("NodeAffinity", {}, {"AddedAffinity": None}),
        ("NodeAffinity", {"addedAffinity": {}}, {"AddedAffinity": {}}),
        (
            "NodeAffinity",
            {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
            {"AddedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": None}}},
        ),
        ("DynamicResources", {"filterTimeout": "90s"}, {"FilterTimeout": "1m30s", "BindingTimeout": None}),
        (
            "VolumeBinding",
            {"bindTimeoutSeconds": 5, "shape": [{"score": 3}]},
            {"BindTimeoutSeconds": 5, "Shape": [{"Utilization": 0, "Score": 3}]},
        ),
        (
            "PodTopologySpread",
            {"defaultConstraints": [{"topologyKey": "zone", "minDomains": 2, "matchLabelKeys": []}]},
            {
                "DefaultConstraints": [{"maxSkew": 0, "topologyKey": "zone", "whenUnsatisfiable": "", "minDomains": 2}],
                "DefaultingType": "",
            },
        ),
    ],
)
def test_form(plugin: str, args: dict[str, Any], printed: dict[str, Any]) -> None:
    assert go_form(plugin, args) == printed
    assert list(go_form(plugin, args)) == list(printed)


def test_nothing_and_an_empty_list_are_the_same() -> None:
    assert same_args("NodeResourcesFit", {"ignoredResources": []}, {})
    assert not same_args("NodeResourcesFit", {"ignoredResources": ["a"]}, {})
    assert not same_args("Coscheduling", {"a": []}, {})


def test_message_shows_them() -> None:
    args = {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1}]}}
    second = PROFILES[1] | {"pluginConfig": [{"name": "NodeAffinity", "args": args}]}
    (error,) = problems(configuration(profiles=[PROFILES[0], second]))
    assert error.message == (
        'profiles[1].pluginConfig.args: Invalid value: {"AddedAffinity":'
        '{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{}}]}}: '
        "queueSort must be the same for all profiles"
    )
