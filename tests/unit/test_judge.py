"""Nulls where Go reads the zero of a map's values."""

from __future__ import annotations

import pytest

from topospread.judge import judge_case
from topospread.sequence import judge_sequence


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
    ("off", "failed"), [("NodeAffinity", 'running PreScore plugin "NodeAffinity": '), ("*", "")], ids=["one", "all"]
)
def test_a_plugin_that_only_prepares_for_scoring_fails_where_others_score(off: str, failed: str) -> None:
    node = {"metadata": {"name": "a"}, "status": {"allocatable": {"pods": "9"}}}
    term = {"matchExpressions": [{"key": "disk", "operator": "Exists", "values": ["x"]}]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}]}
    spec = {"containers": [{"name": "c"}], "affinity": {"nodeAffinity": preferred}}
    profile = {"schedulerName": "default-scheduler", "plugins": {"score": {"disabled": [{"name": off}]}}}
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    case = {
        "nodes": [node],
        "incoming": [{"metadata": {"name": "p", "namespace": "d"}, "spec": spec}],
        "config": config | {"profiles": [profile]},
    }
    (verdict,) = judge_case(case)["verdicts"]
    assert verdict.get("error", "").startswith(failed)
    assert bool(verdict.get("error")) == bool(failed)


def test_of_what_is_wrong_with_plugins_that_is_said_at_which_kube_scheduler_stops() -> None:
    plugins = {"permit": {"enabled": [{"name": "NodeName"}]}, "score": {"enabled": [{"name": ""}]}}
    profile = {"schedulerName": "default-scheduler", "plugins": plugins}
    config = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    assert judge_case({"config": config | {"profiles": [profile]}})["error"] == 'ScorePlugin "" does not exist'
