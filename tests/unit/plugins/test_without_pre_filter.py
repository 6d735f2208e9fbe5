"""Plugins whose PreFilter or PreScore is off while their Filter or Score is on."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case

Json = dict[str, Any]

NODE: Json = {
    "metadata": {"name": "n1", "labels": {"zone": "a"}},
    "status": {"allocatable": {"pods": "10", "cpu": "4"}},
}
PLAIN: Json = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{"name": "c"}]}}


def verdict(pod: Json, node: Json, version: str = "1.37", **plugins: Json) -> Json:
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    api_version = "kubescheduler.config.k8s.io/v1"
    config = {"apiVersion": api_version, "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    case = {"name": "c", "kubeVersion": version, "nodes": [node], "incoming": [pod], "config": config}
    found: Json = judge_case(case)["verdicts"][0]
    return found


def off(name: str) -> Json:
    return {"disabled": [{"name": name}]}


@pytest.mark.parametrize("plugin", ["NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"])
def test_a_filter_without_its_pre_filter_fails(plugin: str) -> None:
    assert f'running "{plugin}" filter plugin: ' in verdict(PLAIN, NODE, preFilter=off(plugin))["error"]


def test_a_filter_that_is_not_reached_does_not_fail() -> None:
    cordoned = NODE | {"spec": {"unschedulable": True}}
    found = verdict(PLAIN, cordoned, preFilter=off("NodeResourcesFit"))
    assert "error" not in found
    assert found["rejected"]["n1"]["plugin"] == "NodeUnschedulable"


@pytest.mark.parametrize("plugin", ["TaintToleration", "PodTopologySpread", "InterPodAffinity"])
def test_a_score_without_its_pre_score_fails(plugin: str) -> None:
    words = f'running Score plugins: plugin "{plugin}" failed with: '
    assert verdict(PLAIN, NODE, preScore=off(plugin))["error"].startswith(words)


def test_a_score_does_not_fail_where_no_node_is_feasible() -> None:
    full = NODE | {"status": {"allocatable": {"pods": "0"}}}
    found = verdict(PLAIN, full, preScore=off("TaintToleration"))
    assert found["message"] == "0/1 nodes are available: 1 Too many pods."


def test_the_score_of_storage_rests_on_pre_filter_where_the_version_has_it() -> None:
    points = {"preFilter": off("VolumeBinding"), "filter": off("VolumeBinding")}
    assert verdict(PLAIN, NODE, **points)["error"] == 'running PreScore plugin "VolumeBinding": not found'
    assert verdict(PLAIN, NODE, "1.27", **points)["feasible"] == ["n1"]


@pytest.mark.parametrize("plugin", ["NodeAffinity", "NodeResourcesFit", "NodeResourcesBalancedAllocation"])
def test_plugins_that_prepare_late_answer_as_ever(plugin: str) -> None:
    pod = PLAIN | {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
    assert verdict(pod, NODE, preScore=off(plugin)) == verdict(pod, NODE)


@pytest.mark.parametrize("version", [f"1.{minor}" for minor in range(18, 38)])
def test_default_profile_of_every_version_lets_a_plain_pod_in(version: str) -> None:
    case = {"name": "c", "kubeVersion": version, "nodes": [NODE], "incoming": [PLAIN]}
    (found,) = judge_case(case)["verdicts"]
    assert found["feasible"] == ["n1"]


def test_every_pre_score_runs_before_the_first_score() -> None:
    preferred = {"weight": 1, "preference": {"matchExpressions": [{"key": "", "operator": "Exists"}]}}
    terms = {"preferredDuringSchedulingIgnoredDuringExecution": [preferred]}
    pod = PLAIN | {"spec": PLAIN["spec"] | {"affinity": {"nodeAffinity": terms}}}
    assert verdict(pod, NODE)["error"].startswith('running PreScore plugin "NodeAffinity": ')
    assert verdict(pod, NODE, preScore=off("TaintToleration"))["error"] == verdict(pod, NODE)["error"]
