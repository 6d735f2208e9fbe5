"""Decoding: the fields of every version, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.config.builders import configuration, with_args, with_plugins
from topospread.config.document import decode
from topospread.config.versions import KubeVersion
from topospread.errors import ConfigError, DecodeError, Place

NEW = KubeVersion(1, 37)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "a KubeSchedulerConfiguration is an object, not NoneType"),
        ([], "a KubeSchedulerConfiguration is an object, not a list"),
        ({}, 'kind: kind is "", not KubeSchedulerConfiguration'),
        ({"kind": "Policy"}, 'kind: kind is "Policy", not KubeSchedulerConfiguration'),
    ],
)
def test_refuses_other_objects(data: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        decode(data, NEW)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "field", "message"),
    [
        (configuration(profile=[]), "profile", "unknown field"),
        (configuration(metadata={"name": "x"}), "metadata", "unknown field"),
        (configuration(profiles={}), "profiles", "must be a list, not an object"),
        (configuration(parallelism="16"), "parallelism", "must be a whole number, not a string"),
        (
            configuration(profiles=[{"plugins": {"score": {"enabled": [{"nam": "X"}]}}}]),
            "profiles[0].plugins.score.enabled[0].nam",
            "unknown field",
        ),
        (
            with_args("PodTopologySpread", {"defaultConstraints": [{"maxSkew": "1"}]}),
            "profiles[0].pluginConfig[0].args.defaultConstraints[0].maxSkew",
            "must be a whole number, not a string",
        ),
        (
            with_args("PodTopologySpread", {"constraints": []}),
            "profiles[0].pluginConfig[0].args.constraints",
            "unknown field",
        ),
        (
            with_args("PodTopologySpread", {"kind": "NodeAffinityArgs"}),
            "profiles[0].pluginConfig[0].args.kind",
            'must be "PodTopologySpreadArgs" (or left out), not "NodeAffinityArgs"',
        ),
        (
            with_args("PodTopologySpread", {"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}),
            "profiles[0].pluginConfig[0].args.apiVersion",
            'must be "kubescheduler.config.k8s.io/v1" (or left out), not "kubescheduler.config.k8s.io/v1beta3"',
        ),
        (
            configuration(a=1, profiles=[{"b": 2}]),
            "a",
            "unknown field; profiles[0].b: unknown field",
        ),
    ],
)
def test_refuses_fields(data: Any, field: str, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode(data, NEW, Place("scheduler.yaml"))
    assert (caught.value.place.field, caught.value.message) == (field, message)
    assert str(caught.value).startswith(f"scheduler.yaml: {field}: ")


# A field, the version of the configuration, and the first Kubernetes version that reads it there (None: never).
FIELDS = [
    (configuration("v1", delayCacheUntilActive=True), 28),
    (configuration("v1", profiles=[{"percentageOfNodesToScore": 5}]), 26),
    (configuration("v1", healthzBindAddress=""), None),
    (configuration("v1beta3", healthzBindAddress=""), None),
    (configuration("v1beta2", healthzBindAddress=""), 22),
    (configuration("v1beta3", profiles=[{"percentageOfNodesToScore": 5}]), None),
    (configuration("v1beta1", parallelism=4), 20),
    (configuration("v1alpha2", parallelism=4), None),
    (configuration("v1alpha2", disablePreemption=True), 18),
    (configuration("v1beta1", disablePreemption=True), None),
    (with_plugins("v1beta2", multiPoint={}), 23),
    (with_plugins("v1beta1", multiPoint={}), None),
    (with_plugins("v1beta3", preEnqueue={}), 26),
    (with_plugins("v1alpha2", unreserve={}), 18),
    (with_plugins("v1alpha2", postFilter={}), None),
    (with_plugins("v1", podGroupPostFilter={}), 37),
    (with_plugins("v1", placementScore={}), 36),
    (with_args("InterPodAffinity", {"ignorePreferredTermsOfExistingPods": True}), 27),
    (with_args("PodTopologySpread", {"defaultConstraints": [{"minDomains": 2}]}, "v1beta3"), 24),
    (with_args("PodTopologySpread", {"defaultConstraints": [{"matchLabelKeys": ["a"]}]}, "v1beta3"), 25),
    (with_args("PodTopologySpread", {"defaultingType": "List"}, "v1beta1"), 20),
    (with_args("NodeResourcesFit", {"scoringStrategy": {}}, "v1beta1"), 22),
    (with_args("NodeResourcesFit", {"ignoredResourceGroups": []}, "v1alpha2"), None),
    (with_args("DynamicResources", {"bindingTimeout": "1s"}), 35),
]


@pytest.mark.parametrize(("data", "first"), [(data, first) for data, first in FIELDS if first is not None])
def test_field_is_read_from_its_version_on(data: Any, first: int) -> None:
    assert decode(data, KubeVersion(1, first))
    assert decode(data, NEW)
    served = decode(data, NEW).api.first.minor
    if first > served:
        with pytest.raises(DecodeError, match="unknown field"):
            decode(data, KubeVersion(1, first - 1))


@pytest.mark.parametrize("data", [data for data, first in FIELDS if first is None])
def test_field_is_never_read(data: Any) -> None:
    with pytest.raises(DecodeError, match="unknown field"):
        decode(data, NEW)


def test_arguments_of_unknown_plugins_are_not_looked_into() -> None:
    document = decode(with_args("Coscheduling", {"permitWaitingTimeSeconds": 10, "kind": "X"}), NEW)
    assert document.profiles[0].plugin_config[0].args == {"permitWaitingTimeSeconds": 10, "kind": "X"}


def test_null_is_left_out() -> None:
    document = decode(configuration(parallelism=None, profiles=[None, {"plugins": None, "pluginConfig": None}]), NEW)
    assert document.given == {"apiVersion", "kind"}
    assert [(one.plugins, one.plugin_config) for one in document.profiles] == [(None, ()), (None, ())]
