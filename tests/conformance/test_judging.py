"""Nulls where Go reads the zero of a map's values."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case, read, scheduler_of
from conformance.judging.sequences import judge_sequence
from topospread.api.pod import Pod


def test_a_null_in_a_map_is_the_zero_of_its_values() -> None:
    node = {"metadata": {"name": "a", "labels": {"x": None}}, "status": {"allocatable": {"pods": "1", "cpu": None}}}
    spec = {"nodeSelector": {"x": ""}, "containers": [{"name": "c", "resources": {"requests": {"cpu": None}}}]}
    case = {"nodes": [node], "pods": [], "incoming": [{"metadata": {"name": "p", "namespace": "d"}, "spec": spec}]}
    assert judge_case(case)["verdicts"][0]["feasible"] == ["a"]


def test_so_it_is_in_the_steps_of_a_sequence() -> None:
    node = {"kind": "Node", "metadata": {"name": "a", "labels": {"x": None}}, "status": {"allocatable": {"pods": "1"}}}
    pod = {"metadata": {"name": "p", "namespace": "d", "labels": {"y": None}}, "spec": {"nodeSelector": {"x": ""}}}
    answer = judge_sequence({"sequence": [{"put": node}, {"schedule": pod}]})
    assert answer["verdicts"][1]["feasible"] == ["a"]


def test_a_constraint_that_does_not_compile_is_of_no_account_once_a_plugin_before_has_rejected_the_pod() -> None:
    node = {"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}}
    selector = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
    hard = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}
    claim = {"name": "v", "persistentVolumeClaim": {"claimName": "missing"}}
    spec = {"containers": [{"name": "c"}], "volumes": [claim], "topologySpreadConstraints": [hard]}
    case = {"nodes": [node], "incoming": [{"metadata": {"name": "p", "namespace": "d"}, "spec": spec}]}
    (verdict,) = judge_case(case)["verdicts"]
    assert "error" not in verdict
    assert verdict["rejected"]["a"]["reasons"] == ['persistentvolumeclaim "missing" not found']


@pytest.mark.parametrize(
    ("point", "off", "failed"),
    [
        ("score", "NodeAffinity", 'running PreScore plugin "NodeAffinity": '),
        ("preScore", "NodeAffinity", 'running Score plugins: plugin "NodeAffinity" failed with: '),
        ("score", "*", ""),
    ],
)
def test_a_term_that_does_not_parse_fails_where_plugins_score_and_one_of_two_points_reads_it(
    point: str, off: str, failed: str
) -> None:
    term = {"matchExpressions": [{"key": "disk", "operator": "Exists", "values": ["x"]}]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    spec = {"containers": [{"name": "c"}], "affinity": {"nodeAffinity": preferred}}
    case = {
        "nodes": [{"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}}],
        "incoming": [{"metadata": {"name": "p", "namespace": "d"}, "spec": spec}],
        "config": without(off, point),
    }
    (verdict,) = judge_case(case)["verdicts"]
    assert verdict.get("error", "").startswith(failed)
    assert bool(verdict.get("error")) == bool(failed)


@pytest.mark.parametrize(
    ("point", "volumes", "failed"),
    [
        ("reserve", [], 'running PreBindPreFlight "VolumeBinding": no pod volume found for node "a"'),
        ("reserve", ["v"], "preBind"),
        ("preFilter,filter,preScore,score", [], 'running Reserve plugin "VolumeBinding": not found'),
        ("filter", ["v"], ""),
        ("preBind", [], ""),
    ],
)
def test_volume_binding_on_at_some_of_its_points_only_binds_no_pod_or_no_claim(
    point: str, volumes: list[str], failed: str
) -> None:
    named = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in volumes]
    storage_class = {"metadata": {"name": "c"}, "provisioner": "p", "volumeBindingMode": "WaitForFirstConsumer"}
    claim = {
        "metadata": {"name": "v", "namespace": "d"},
        "spec": {
            "storageClassName": "c",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
        "status": {"phase": "Pending"},
    }
    pod = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{"name": "c"}], "volumes": named}}
    case = {
        "nodes": [{"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}}],
        "storageClasses": [storage_class],
        "persistentVolumeClaims": [claim],
        "sequence": [{"schedule": pod}],
        "config": without("VolumeBinding", point),
    }
    (answer,) = judge_sequence(case)["verdicts"]
    assert answer["chosen"] == "a"
    assert answer.get("failed", "") == failed
    assert answer["claims"] == {"d/v": "Pending"}
    verdict = scheduler_of(case | {"sequence": []}).schedule(read([pod], Pod)[0])
    assert verdict.unbound == bool(failed)


@pytest.mark.parametrize("plugin", ["", "DefaultPreemption", "*"])
def test_nobody_is_preempted_for_a_pod_whose_profile_has_preemption_off(plugin: str) -> None:
    spec = {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}
    there = {"metadata": {"name": "low", "namespace": "d"}, "spec": spec | {"nodeName": "a"}}
    case = {
        "nodes": [{"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9", "cpu": "1"}}}],
        "pods": [there],
        "incoming": [{"metadata": {"name": "p", "namespace": "d"}, "spec": spec | {"priority": 1}}],
        "preempt": True,
    }
    if plugin:
        case["config"] = without(plugin, "postFilter")
    (verdict,) = judge_case(case)["verdicts"]
    assert ("preemption" in verdict) == (not plugin)


def without(plugin: str, points: str) -> dict[str, Any]:
    off = {point: {"disabled": [{"name": plugin}]} for point in points.split(",")}
    profile = {"schedulerName": "default-scheduler", "plugins": off}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }


def test_of_what_is_wrong_with_plugins_that_is_said_at_which_kube_scheduler_stops() -> None:
    plugins = {"permit": {"enabled": [{"name": "NodeName"}]}, "score": {"enabled": [{"name": ""}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    assert judge_case({"config": config | {"profiles": [profile]}})["error"] == 'ScorePlugin "" does not exist'
