"""Among which nodes the draw of preemption is."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case
from conformance.judging.sequences import judge_sequence
from tests.unit.scheduling.test_dry_run import cluster_with, view_of
from tests.unit.scheduling.test_dry_run import pod as typed_pod
from topospread.scheduling.preemption import PreemptionSearch, SharedSearches

EARLIER, LATER = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


def pod(name: str, cpu: str, priority: int, node: str = "", started: str = "") -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "nodeName": node,
            "priority": priority,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}],
        },
        "status": {"startTime": started} if started else {},
    }


def node(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}}


@pytest.mark.parametrize(
    ("first", "second", "picked"),
    [
        ("", "", ["a", "b"]),
        (EARLIER, LATER, ["b"]),
        (LATER, LATER, ["a", "b"]),
        (LATER, "", ["b"]),
        ("", LATER, ["a"]),
        (EARLIER, "0000-02-29T1:00:00.5+24:60", ["a"]),
    ],
)
def test_the_victim_that_started_last_goes_and_one_that_has_not_started_counts_as_starting_now(
    first: str, second: str, picked: list[str]
) -> None:
    case = {
        "nodes": [node("a"), node("b")],
        # Pods stand in different places on their nodes, which must not matter.
        "pods": [pod("small", "1", 0, "a"), pod("x", "3", 5, "a", first), pod("y", "3", 5, "b", second)],
        "incoming": [pod("new", "3", 9)],
        "preempt": True,
    }
    assert judge_case(case)["verdicts"][0]["preemption"]["picked"] == picked


@pytest.mark.parametrize(("version", "spared"), [("1.27", "last"), ("1.36", "last"), ("1.37", "first")])
def test_of_victims_that_have_not_started_the_newer_versions_spare_the_first(version: str, spared: str) -> None:
    case = {
        "nodes": [node("a")],
        "pods": [pod("first", "2", 0, "a"), pod("last", "2", 0, "a")],
        "incoming": [pod("new", "2", 9)],
        "preempt": True,
        "kubeVersion": version,
    }
    (candidate,) = judge_case(case)["verdicts"][0]["preemption"]["candidates"].values()
    assert candidate["victims"] == [f"default/{'first' if spared == 'last' else 'last'}"]


def with_a_foreign_claim(low: dict[str, Any], *others: dict[str, Any], nodes: str = "a") -> dict[str, Any]:
    """A case in which NodeVolumeLimits fails beside a pod, because the pod's ephemeral claim has another owner."""
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "low", "uid": "another", "controller": True}
    claim = {"metadata": {"name": "low-v", "namespace": "default", "ownerReferences": [owner]}, "spec": {}}
    template = {"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}
    new = pod("new", "3", 9)
    low["spec"]["volumes"] = [template]
    new["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "own"}}]
    bound = {"apiVersion": "v1", "metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}}
    own = {**bound, "metadata": {**bound["metadata"], "name": "own", "namespace": "default"}}
    volume = {
        "metadata": {"name": "pv"},
        "spec": {"csi": {"driver": "d", "volumeHandle": "h"}, "claimRef": {"name": "own", "namespace": "default"}},
    }
    limits = {"drivers": [{"name": "d", "allocatable": {"count": 5}}]}
    return {
        "nodes": [node(each) for each in nodes],
        "csiNodes": [{"metadata": {"name": each}, "spec": limits} for each in nodes],
        "pods": [low, *others],
        "persistentVolumeClaims": [claim, {**own, "spec": {"volumeName": "pv"}, "status": {"phase": "Bound"}}],
        "persistentVolumes": [volume],
        "incoming": [new],
        "preempt": True,
    }


def test_a_plugin_that_fails_on_a_pod_put_back_makes_it_a_victim_and_is_no_error_of_the_node() -> None:
    (verdict,) = judge_case(with_a_foreign_claim(pod("low", "0", 0, "a"), pod("big", "4", 1, "a")))["verdicts"]
    assert verdict["preemption"] == {"candidates": {"a": {"victims": ["default/big", "default/low"]}}, "picked": ["a"]}


@pytest.mark.parametrize("version", ["1.27", "1.37"])
@pytest.mark.parametrize("nodes", ["ab", "ba"])
def test_a_plugin_that_fails_beside_a_pod_that_stays_is_the_message_whatever_other_nodes_lack(
    nodes: str, version: str
) -> None:
    stays, big = pod("low", "0", 9, "a"), pod("big", "4", 1, "a")
    error = 'running "NodeVolumeLimits" filter plugin: PVC default/low-v was not created for pod default/low'
    error += " (pod is not owner)"

    full = with_a_foreign_claim(stays, big, pod("important", "4", 9, "b"), nodes=nodes) | {"kubeVersion": version}
    freed = with_a_foreign_claim(stays, big, pod("lesser", "4", 1, "b"), nodes=nodes) | {"kubeVersion": version}

    assert judge_case(full)["verdicts"][0]["preemption"] == {"candidates": {}, "picked": [], "message": error}
    assert judge_case(freed)["verdicts"][0]["preemption"] == {
        "candidates": {"b": {"victims": ["default/lesser"]}},
        "picked": ["b"],
        "message": error,
    }


def budget(name: str, allowed: int, app: str) -> dict[str, Any]:
    spec = {"selector": {"matchExpressions": [{"key": "app", "operator": "In", "values": [app, "both"]}]}}
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
        "status": {"disruptionsAllowed": allowed},
    }


@pytest.mark.parametrize("again", [False, True])
def test_a_budget_that_came_again_is_asked_in_its_turn(again: bool) -> None:
    first, second = pod("first", "2", 5, "a", EARLIER), pod("second", "2", 5, "a", LATER)
    first["metadata"]["labels"], second["metadata"]["labels"] = {"app": "both"}, {"app": "x"}
    # The first victim takes what `a` allows, though it breaks `b`; asked the other way round, `b` alone would count.
    gone = {"kind": "PodDisruptionBudget", "namespace": "default", "name": "a"}
    changes = [{"remove": gone}, {"put": budget("a", 1, "x")}]
    case = {
        "nodes": [node("a")],
        "pods": [first, second],
        "podDisruptionBudgets": [budget("a", 1, "x"), budget("b", 0, "y")],
        "preempt": True,
        "sequence": [*(changes if again else ()), {"schedule": pod("new", "4", 9)}],
    }
    found = judge_sequence(case)["verdicts"][-1]["preemption"]
    assert found["candidates"] == {"a": {"victims": ["default/first", "default/second"], "pdbViolations": 2}}


@pytest.mark.parametrize(("version", "violations"), [("1.27", 2), ("1.36", 2), ("1.37", 1)])
def test_a_victim_that_breaks_one_budget_was_counted_by_the_others_until_1_36(version: str, violations: int) -> None:
    first, second = pod("first", "2", 5, "a", EARLIER), pod("second", "2", 5, "a", LATER)
    first["metadata"]["labels"], second["metadata"]["labels"] = {"app": "both"}, {"app": "x"}
    case = {
        "nodes": [node("a")],
        "pods": [first, second],
        "podDisruptionBudgets": [budget("a", 0, "y"), budget("b", 1, "x")],
        "incoming": [pod("new", "4", 9)],
        "preempt": True,
        "kubeVersion": version,
    }
    (candidate,) = judge_case(case)["verdicts"][0]["preemption"]["candidates"].values()
    assert candidate["pdbViolations"] == violations


@pytest.mark.parametrize(("gone", "evicted"), [("", "c"), ("c", "b"), ("a", "b"), ("x", "b")])
def test_of_victims_started_at_once_those_go_that_stand_last_on_the_node(gone: str, evicted: str) -> None:
    pods = [pod(name, "1", 0, "a", LATER) for name in ("x", "a", "b", "c")]
    left = {"kind": "Pod", "namespace": "default", "name": gone}
    case = {
        "nodes": [node("a")],
        "pods": pods,
        "preempt": True,
        "sequence": [{"remove": left}, {"schedule": pod("new", "2", 9)}]
        if gone
        else [{"schedule": pod("new", "1", 9)}],
    }
    found = judge_sequence(case)["verdicts"][-1]["preemption"]
    assert found["candidates"]["a"]["victims"] == [f"default/{evicted}"]


def test_a_pod_that_is_updated_stands_last() -> None:
    pods = [pod(name, "1", 0, "a", LATER) for name in ("x", "a", "b", "c")]
    case = {
        "nodes": [node("a")],
        "pods": pods,
        "preempt": True,
        "sequence": [{"put": pods[1] | {"kind": "Pod"}}, {"schedule": pod("new", "1", 9)}],
    }
    assert judge_sequence(case)["verdicts"][-1]["evicted"] == ["default/a"]


def test_nodes_without_a_less_important_pod_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[str] = []
    on_node = PreemptionSearch._on_node

    def noted(search: PreemptionSearch, name: str) -> Any:
        looked_at.append(name)
        return on_node(search, name)

    monkeypatch.setattr(PreemptionSearch, "_on_node", noted)
    case = {
        "nodes": [node("a"), node("b"), node("c")],
        "pods": [pod("x", "4", 9, "a"), pod("y", "3", 9, "b"), pod("z", "1", 5, "b"), pod("w", "4", 9, "c")],
        "incoming": [pod("new", "4", 9)],
        "preempt": True,
    }
    found = judge_case(case)["verdicts"][0]["preemption"]
    assert looked_at == ["b"]
    assert "2 No preemption victims found for incoming pod" in str(found)


def test_nodes_in_the_same_state_share_a_dry_run(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    dry_run = PreemptionSearch._dry_run

    def noted(search: PreemptionSearch, row: int, *given: Any) -> Any:
        tried.append(row)
        return dry_run(search, row, *given)

    monkeypatch.setattr(PreemptionSearch, "_dry_run", noted)
    case = {
        "nodes": [node("a"), node("b"), node("c")],
        "pods": [pod(f"x{name}", "2", 0, name) for name in "abc"] + [pod(f"y{name}", "1", 1, name) for name in "ab"],
        "incoming": [pod("new", "3", 9)],
        "preempt": True,
    }
    candidates = judge_case(case)["verdicts"][0]["preemption"]["candidates"]
    assert {name: each["victims"] for name, each in candidates.items()} == {
        "a": ["default/xa"],
        "b": ["default/xb"],
        "c": ["default/xc"],
    }
    assert len(tried) == 2


@pytest.mark.parametrize("version", ["1.26", "1.27"])
def test_evictions_do_not_help_against_a_taint(version: str) -> None:
    tainted = node("a") | {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    case = {"nodes": [tainted], "pods": [pod("x", "4", 0, "a")], "incoming": [pod("new", "4", 9)], "preempt": True}
    found = judge_case(case | {"kubeVersion": version})["verdicts"][0]["preemption"]
    assert found["message"] == "0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def test_dry_runs_are_kept_for_the_same_view_except_in_a_savepoint() -> None:
    cluster = cluster_with(typed_pod("a", cpu="1"))
    view, shared = view_of(cluster, typed_pod("new", cpu="2")), SharedSearches(cluster)
    kept = shared.results(view)
    assert kept is not None
    assert shared.results(view) is kept
    assert shared.results(view_of(cluster, typed_pod("other", cpu="2"))) is not kept
    with cluster.savepoint():
        assert shared.results(view) is None
