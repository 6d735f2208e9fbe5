"""Between versions: what stays as it is, what has to be said, and what cannot be said."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.generate_config import Generator
from tests.unit.config.builders import configuration, off, on, with_args, with_plugins
from topospread.config.api_versions import API_VERSIONS
from topospread.config.convert import convert
from topospread.config.load import load_configuration
from topospread.config.profile import Profile
from topospread.errors import ConfigError, InputError, InvalidError

VERSIONS = list(API_VERSIONS)
ZONE = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}


@pytest.mark.parametrize(
    ("data", "to_version", "converted"),
    [
        (configuration("v1beta3"), "v1", configuration("v1")),
        (configuration("v1"), "kubescheduler.config.k8s.io/v1beta3", configuration("v1beta3")),
        (configuration("v1beta1"), "v1beta2", configuration("v1beta2")),
        (
            with_plugins("v1beta3", multiPoint=off("ImageLocality"), score=on("NodeAffinity:7")),
            "v1",
            with_plugins("v1", multiPoint=off("ImageLocality"), score=on("NodeAffinity:7")),
        ),
        (
            with_args("PodTopologySpread", {"defaultConstraints": [ZONE], "defaultingType": "List"}, "v1beta3"),
            "v1",
            with_args("PodTopologySpread", {"defaultConstraints": [ZONE], "defaultingType": "List"}, "v1"),
        ),
        (configuration("v1beta3", parallelism=3), "v1", configuration("v1", parallelism=3)),
        (with_args("Mine", {"a": 1}, "v1beta3"), "v1", with_args("Mine", {"a": 1}, "v1")),
    ],
)
def test_stays_as_it_is(data: dict[str, Any], to_version: str, converted: dict[str, Any]) -> None:
    assert convert(data, to_version) == converted


def test_constraints_that_v1beta1_took_for_a_list() -> None:
    converted = convert(with_args("PodTopologySpread", {"defaultConstraints": [ZONE]}, "v1beta1"), "v1beta2")
    assert converted == with_args(
        "PodTopologySpread", {"defaultConstraints": [ZONE], "defaultingType": "List"}, "v1beta2"
    )


@pytest.mark.parametrize("disabled", [True, False])
def test_preemption_to_and_fro(disabled: bool) -> None:
    original = configuration("v1alpha2", disablePreemption=disabled, bindTimeoutSeconds=30)
    there = convert(original, "v1")
    profile = load_configuration(there).profiles[0]
    assert ("DefaultPreemption" in profile.enabled("post_filter")) is not disabled
    assert profile.args.volume_binding.bind_timeout_seconds == 30
    back = convert(there, "v1alpha2")
    assert (back.get("disablePreemption", False), back["bindTimeoutSeconds"]) == (disabled, 30)


def test_extenders_of_1_18() -> None:
    extender = {"urlPrefix": "http://x", "enableHttps": True, "httpTimeout": 1_500_000_000}
    converted = convert(configuration("v1alpha2", extenders=[extender]), "v1beta1")
    assert converted["extenders"] == [{"urlPrefix": "http://x", "enableHTTPS": True, "httpTimeout": "1.5s"}]
    back = convert(converted, "v1alpha2")["extenders"]
    assert back == [{"urlPrefix": "http://x", "enableHttps": True, "httpTimeout": 1_500_000_000}]


def test_percentage_of_all_profiles_becomes_that_of_the_configuration() -> None:
    converted = convert(configuration("v1", profiles=[{"percentageOfNodesToScore": 30}]), "v1beta3")
    assert converted == configuration("v1beta3", percentageOfNodesToScore=30)


def test_address_that_serves_nothing_is_dropped() -> None:
    assert "healthzBindAddress" not in convert(configuration("v1beta2", healthzBindAddress="0.0.0.0:0"), "v1beta3")


@pytest.mark.parametrize(
    ("data", "to_version", "field", "message"),
    [
        (
            configuration("v1beta2", healthzBindAddress="0.0.0.0:10251"),
            "v1",
            "healthzBindAddress",
            "cannot be expressed in v1: unknown field",
        ),
        (
            configuration("v1", delayCacheUntilActive=True),
            "v1beta3",
            "delayCacheUntilActive",
            "cannot be expressed in v1beta3: unknown field",
        ),
        (
            with_args("InterPodAffinity", {"ignorePreferredTermsOfExistingPods": True}),
            "v1beta1",
            "profiles[0].pluginConfig[0].args.ignorePreferredTermsOfExistingPods",
            "cannot be expressed in v1beta1: unknown field",
        ),
        (
            with_args("NodeAffinity", {"addedAffinity": {}}),
            "v1alpha2",
            "profiles[0].pluginConfig[0].args",
            "cannot be expressed: v1alpha2 has no arguments for NodeAffinity",
        ),
        (
            with_plugins("v1beta2", score=on("SelectorSpread:3")),
            "v1",
            "profiles[0].plugins.score.enabled[0]",
            "cannot be expressed: v1 has no plugin SelectorSpread at score",
        ),
        (
            with_plugins("v1beta1", score=on("NodeResourcesMostAllocated")),
            "v1beta3",
            "profiles[0].plugins.score.enabled[0]",
            "NodeResourcesLeastAllocated and NodeResourcesMostAllocated together cannot be expressed in v1beta3",
        ),
        (
            configuration(
                "v1", profiles=[{"schedulerName": "a", "percentageOfNodesToScore": 5}, {"schedulerName": "b"}]
            ),
            "v1beta3",
            "profiles",
            "percentageOfNodesToScore cannot be expressed: v1beta3 has one value for all profiles, but they differ",
        ),
        (
            configuration(
                "v1", profiles=[{"schedulerName": "a"}, {"schedulerName": "b", "plugins": {"postFilter": off("*")}}]
            ),
            "v1alpha2",
            "profiles",
            "plugins.postFilter cannot be expressed: v1alpha2 has one value for all profiles, but they differ",
        ),
        (
            configuration(),
            "v2",
            "",
            '"v2" is not a version to convert to; known are v1alpha2, v1beta1, v1beta2, v1beta3, v1',
        ),
    ],
)
def test_cannot_be_expressed(data: dict[str, Any], to_version: str, field: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        convert(data, to_version)
    assert (caught.value.place.field, caught.value.message) == (field, message)


def test_original_must_be_good() -> None:
    with pytest.raises(InvalidError):
        convert(configuration(parallelism=0), "v1beta3")


def effect(profile: Profile) -> tuple[Any, ...]:
    """What decides placements, as far as every version can say it."""
    filters = frozenset(profile.enabled("filter")) - {"DynamicResources", "NodeDeclaredFeatures"}
    limits = {"EBSLimits", "GCEPDLimits", "AzureDiskLimits"}
    scores = {
        name: weight for name, weight in profile.weights.items() if name not in ("VolumeBinding", "DynamicResources")
    }
    args = profile.args
    return (
        profile.scheduler_name,
        profile.percentage_of_nodes_to_score,
        filters - limits,
        scores,
        "DefaultPreemption" in profile.enabled("post_filter"),
        args.pod_topology_spread,
        args.node_affinity,
        args.node_resources_fit,
        args.node_resources_balanced_allocation,
        args.inter_pod_affinity,
        args.default_preemption,
    )


@pytest.mark.parametrize("version", ["v1beta2", "v1beta3"])
def test_random_configurations_keep_their_effect(version: str) -> None:
    generator = Generator(31)
    compared = 0
    for _ in range(400):
        data = generator.configuration()
        try:
            before = load_configuration(data)
            converted = convert(data, version)
        except InputError:
            continue
        compared += 1
        after = load_configuration(converted)
        assert [effect(profile) for profile in after.profiles] == [effect(profile) for profile in before.profiles]
        again = load_configuration(convert(converted, "v1"))
        assert [effect(profile) for profile in again.profiles] == [effect(profile) for profile in before.profiles]
    assert compared > 25


@pytest.mark.parametrize("source", VERSIONS)
@pytest.mark.parametrize("target", VERSIONS)
def test_every_version_converts_to_every_other(source: str, target: str) -> None:
    converted = convert(configuration(source), target)
    assert converted["apiVersion"] == f"kubescheduler.config.k8s.io/{target}"
    weights = [load_configuration(data).profiles[0].weights for data in (configuration(source), converted)]
    for plugin in ("TaintToleration", "NodeAffinity", "InterPodAffinity", "PodTopologySpread", "ImageLocality"):
        assert weights[0][plugin] == weights[1][plugin]
