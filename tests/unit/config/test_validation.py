"""Refusals that the stored verdicts of 1.37 cannot show: those of earlier versions, and of gates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, on
from topospread.config.gates import gates_for
from topospread.config.load import problems
from topospread.config.validation import go_form, same_args


def messages(data: dict[str, Any], kube_version: str = "1.37", **gates: bool) -> list[str]:
    """What validation says."""
    return [error.message for error in problems(data, kube_version=kube_version, gates=gates_for(kube_version, gates))]


@pytest.mark.parametrize(
    ("data", "kube_version", "found"),
    [
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
