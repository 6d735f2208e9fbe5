"""Whole configurations: profiles, origins, warnings, and the errors of loading."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, off, on, with_args, with_plugins
from topospread.config.args import DefaultConstraint
from topospread.config.load import default_configuration, load_configuration, problems
from topospread.errors import ConfigError, InvalidError, Place

ZONE = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}


def test_constraint_keeps_all_its_fields() -> None:
    full = ZONE | {
        "minDomains": 2,
        "nodeAffinityPolicy": "Ignore",
        "nodeTaintsPolicy": "Honor",
        "matchLabelKeys": ["pod-template-hash"],
    }
    data = with_args("PodTopologySpread", {"defaultConstraints": [full], "defaultingType": "List"})
    assert load_configuration(data).profiles[0].args.pod_topology_spread.default_constraints == (
        DefaultConstraint(
            1, "topology.kubernetes.io/zone", "ScheduleAnyway", 2, "Ignore", "Honor", ("pod-template-hash",)
        ),
    )


def test_origins_name_the_fields_of_the_file() -> None:
    data = configuration(
        percentageOfNodesToScore=50,
        profiles=[
            {
                "schedulerName": "a",
                "pluginConfig": [{"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 3}}],
            },
            {"schedulerName": "b", "percentageOfNodesToScore": 5},
        ],
    )
    loaded = load_configuration(data)
    assert loaded.profiles[0].origins == {
        "schedulerName": "profiles[0].schedulerName",
        "percentageOfNodesToScore": "percentageOfNodesToScore",
        "InterPodAffinity.hardPodAffinityWeight": "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
    }
    assert loaded.profiles[1].origins == {
        "schedulerName": "profiles[1].schedulerName",
        "percentageOfNodesToScore": "profiles[1].percentageOfNodesToScore",
    }


def test_resources_that_are_left_to_an_extender_stand_in_for_the_ignored_ones_of_every_profile() -> None:
    own = {"name": "NodeResourcesFit", "args": {"ignoredResources": ["own.example.com/x"]}}
    managed = [{"name": "example.com/a", "ignoredByScheduler": True}, {"name": "example.com/b"}]
    data = configuration(
        profiles=[{"schedulerName": "a", "pluginConfig": [own]}, {"schedulerName": "b"}],
        extenders=[{"urlPrefix": "http://one"}, {"urlPrefix": "http://two", "managedResources": managed}],
    )
    loaded = load_configuration(data).profiles
    assert [each.args.node_resources_fit.ignored_resources for each in loaded] == [("example.com/a",)] * 2
    origins = [each.origins["NodeResourcesFit.ignoredResources"] for each in loaded]
    assert origins == ["extenders[1].managedResources[0]"] * 2


@pytest.mark.parametrize(
    ("data", "kube_version", "warnings"),
    [
        (configuration(parallelism=4, leaderElection={"leaderElect": False}), "1.37", ()),
        (
            configuration("v1beta2"),
            "1.30",
            (
                "kubescheduler.config.k8s.io/v1beta2 is no longer served by Kubernetes 1.30; the last version that "
                "did is 1.27, and its defaults are used",
            ),
        ),
        (
            configuration(
                extenders=[
                    {"urlPrefix": "http://one", "filterVerb": "f", "prioritizeVerb": "p", "weight": 1},
                    {"urlPrefix": "http://two", "bindVerb": "b"},
                    {"urlPrefix": "http://three", "preemptVerb": "v"},
                ]
            ),
            "1.37",
            (
                "extenders[0] (http://one) is not asked: kube-scheduler would let it filter nodes and score nodes; "
                "--call-extenders asks it",
                "extenders[2] (http://three) is not asked: kube-scheduler would let it choose the victims of a "
                "preemption",
            ),
        ),
        (
            with_args("Coscheduling", {"a": 1}),
            "1.37",
            ('profiles[0].pluginConfig[0].args has no effect: "Coscheduling" is not a plugin of kube-scheduler',),
        ),
        (
            with_plugins("v1beta2", multiPoint=off("NodePorts")),
            "1.27",
            ("profiles[0].plugins.multiPoint has no effect: kube-scheduler ignores it in v1beta2",),
        ),
    ],
)
def test_warnings(data: dict[str, Any], kube_version: str, warnings: tuple[str, ...]) -> None:
    assert load_configuration(data, kube_version=kube_version).warnings == warnings


def test_arguments_of_a_plugin_that_is_off_are_warned_about() -> None:
    data = configuration(
        profiles=[
            {
                "plugins": {"multiPoint": off("InterPodAffinity")},
                "pluginConfig": [{"name": "InterPodAffinity", "args": {}}],
            }
        ]
    )
    assert load_configuration(data).warnings == (
        'profiles[0].pluginConfig[0].args has no effect: "InterPodAffinity" is not enabled',
    )


def test_multi_point_of_v1beta2_is_ignored_as_kube_scheduler_ignores_it() -> None:
    data = with_plugins("v1beta2", multiPoint=off("NodePorts"))
    assert "NodePorts" in load_configuration(data, kube_version="1.27").profiles[0].enabled("filter")


def test_refusal_lists_every_reason_and_names_the_version() -> None:
    data = configuration(parallelism=0, profiles=[{"plugins": {"filter": on("EBSLimits")}}])
    with pytest.raises(InvalidError) as caught:
        load_configuration(data, place=Place("scheduler.yaml"))
    assert caught.value.problems == (
        "parallelism: Invalid value: 0: should be an integer value greater than zero",
        'profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" '
        '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")',
    )
    assert str(caught.value).startswith("scheduler.yaml: parallelism: ")


def test_what_only_the_plugin_refuses_is_no_problem_of_validation() -> None:
    data = with_args("NodeResourcesFit", {"scoringStrategy": {"type": "Random"}})
    assert problems(data) == []
    with pytest.raises(InvalidError) as caught:
        load_configuration(data)
    assert caught.value.problems == (
        'profiles[0].pluginConfig[0].args.scoringStrategy.type: Unsupported value: "Random": supported values: '
        '"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
    )


def test_validation_can_be_left_out() -> None:
    data = configuration("v1", parallelism=0, profiles=[{"plugins": {"score": on("SelectorSpread:2")}}])
    with pytest.raises(InvalidError):
        load_configuration(data, kube_version="1.27")
    profile = load_configuration(data, kube_version="1.27", validate=False).profiles[0]
    assert profile.weights["SelectorSpread"] == 2


def test_unknown_kubernetes_version() -> None:
    with pytest.raises(ConfigError, match=r"Kubernetes 1\.99 is not supported"):
        load_configuration(configuration(), kube_version="1.99")


def test_without_a_file_there_is_nothing_to_warn_about() -> None:
    loaded = default_configuration("1.30")
    assert (loaded.api_version, loaded.warnings, len(loaded.profiles)) == ("kubescheduler.config.k8s.io/v1", (), 1)


@pytest.mark.parametrize("version", ["v1alpha2", "v1beta1", "v1beta2", "v1beta3", "v1"])
def test_an_empty_file_is_the_default_of_its_version(version: str) -> None:
    loaded = load_configuration(configuration(version))
    served = {"v1alpha2": "1.18", "v1beta1": "1.22", "v1beta2": "1.27", "v1beta3": "1.28", "v1": "1.37"}[version]
    again = load_configuration(configuration(version), kube_version=served)
    assert loaded.profiles[0].plugins == again.profiles[0].plugins


def test_profiles_are_a_thousand_at_most() -> None:
    data = configuration() | {"profiles": [{"schedulerName": f"a{number}"} for number in range(1001)]}
    with pytest.raises(ConfigError, match="1001 profiles; at most 1000 are allowed"):
        load_configuration(data)
