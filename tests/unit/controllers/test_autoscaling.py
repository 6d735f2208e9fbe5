"""HorizontalPodAutoscalers bring replicas within their bounds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import topospread
from tests.parted import parted
from tests.unit.controllers.manifests import Json, inventory, node, pod, queued, row, workload
from topospread import Session
from topospread.api.workload import HorizontalPodAutoscaler
from topospread.controllers.autoscaling import Autoscalers
from topospread.controllers.planner import plan
from topospread.errors import UsageError
from topospread.simulation.simulate import simulate


def autoscaler(least: int | None = None, most: int = 9, *, name: str = "web", **reference: str) -> Json:
    version = "v1" if reference.get("kind") == "ReplicationController" else "apps/v1"
    target = {"apiVersion": version, "kind": "Deployment", "name": "web"} | reference
    spec: Json = {"scaleTargetRef": target, "maxReplicas": most}
    if least is not None:
        spec["minReplicas"] = least
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_replicas_are_those_that_the_controller_itself_keeps() -> None:
    with gzip.open(Path(__file__).parent / "autoscaling.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    changed = 0
    for case, kept in zip(lines[::2], lines[1::2], strict=True):
        scaler = msgspec.convert(case["autoscaler"], HorizontalPodAutoscaler)
        found = Autoscalers([scaler], "keep").replicas((case["kind"], "ns", "web"), case["replicas"], None)
        assert (case["replicas"] if found is None else found) == kept, case
        changed += kept != case["replicas"]
    assert changed > 50


def replicas(*objects: Json, **options: Any) -> int:
    planned = plan(inventory(node("n"), *objects), **options)
    assert len(queued(planned, "web")) == row(planned, "web").replicas
    return row(planned, "web").replicas


@pytest.mark.parametrize(
    ("given", "least", "most", "kept"),
    [(None, 6, 9, 6), (None, None, 9, 1), (3, 6, 9, 6), (12, 6, 9, 9), (7, 6, 9, 7), (0, 6, 9, 0), (1, 0, 9, 1)],
)
def test_replicas_are_brought_within_the_bounds(given: int | None, least: int | None, most: int, kept: int) -> None:
    own = {} if given is None else {"replicas": given}
    assert replicas(workload("Deployment", "web", **own), autoscaler(least, most)) == kept


@pytest.mark.parametrize("kind", ["StatefulSet", "ReplicaSet", "ReplicationController"])
def test_every_kind_that_has_replicas_is_scaled(kind: str) -> None:
    assert replicas(workload(kind, "web"), autoscaler(4, kind=kind)) == 4


@pytest.mark.parametrize(
    "reference", [{"kind": "StatefulSet"}, {"apiVersion": "extensions/v1beta1"}, {"apiVersion": ""}]
)
def test_what_is_not_its_target_is_left_alone(reference: dict[str, str]) -> None:
    assert replicas(workload("Deployment", "web"), autoscaler(4, **reference)) == 1


def test_scale_wins() -> None:
    objects = workload("Deployment", "web"), autoscaler(4)
    assert replicas(*objects, scale={"deploy/web": 2}) == 2
    assert replicas(*objects, scale={"deploy/web": 20}, autoscale="max") == 20


def test_the_bounds_themselves_can_be_asked_for() -> None:
    objects = workload("Deployment", "web", replicas=5), autoscaler(4)
    assert (replicas(*objects, autoscale="min"), replicas(*objects, autoscale="max")) == (4, 9)
    assert replicas(workload("Deployment", "web", replicas=0), autoscaler(4), autoscale="max") == 0
    with pytest.raises(UsageError, match="autoscale='more': use 'keep'"):
        Session(inventory(node("n"))).simulate(autoscale="more")


def test_of_two_on_one_target_the_first_by_name_is_heeded_and_both_are_told_of() -> None:
    objects = workload("Deployment", "web"), autoscaler(7, name="b"), autoscaler(4, name="a")
    planned = plan(inventory(node("n"), *objects))
    assert row(planned, "web").replicas == 4
    assert any("two HorizontalPodAutoscalers, a and b" in each for each in planned.warnings)


def test_one_of_what_is_not_there_is_told_of() -> None:
    rollout = autoscaler(4, name="r", kind="Rollout", apiVersion="argoproj.io/v1alpha1")
    planned = plan(inventory(node("n"), workload("Deployment", "other"), autoscaler(4), rollout))
    assert (
        planned.notes[0]
        == "1 HorizontalPodAutoscaler has a scale target that does not exist: default/web (Deployment web)"
    )
    assert not any(
        "HorizontalPod" in each
        for each in plan(inventory(node("n"), workload("Deployment", "web"), autoscaler(4))).notes
    )


def test_pods_beyond_the_most_are_removed() -> None:
    there = [pod(f"web-{i}", "ReplicaSet/web", "n", labels={"app": "web"}) for i in range(4)]
    objects = workload("ReplicaSet", "web", replicas=4), autoscaler(1, 3, kind="ReplicaSet"), *there
    assert len(plan(inventory(node("n"), *objects)).removed) == 1


@pytest.mark.parametrize(
    ("given", "options", "note"),
    [
        (1, {}, "HorizontalPodAutoscaler web keeps 6 to 9 replicas: 6 instead of 1"),
        (1, {"scale": {"deploy/web": 2}}, "HorizontalPodAutoscaler web keeps 6 to 9 replicas; --scale says 2"),
        (0, {}, "HorizontalPodAutoscaler web keeps 6 to 9 replicas, but is disabled while replicas are 0"),
        (7, {}, None),
    ],
)
def test_the_report_says_so(given: int, options: dict[str, Any], note: str | None) -> None:
    objects = workload("Deployment", "web", replicas=given), autoscaler(6)
    result = simulate(inventory(node("n"), *objects), **parted(options))
    (shown,) = result.to_dict()["workloads"]
    assert shown["notes"] == ([note] if note else [])
    expected = {"name": "web", "minReplicas": 6, "maxReplicas": 9, "givenReplicas": given}
    assert shown["autoscaler"] == expected


def test_the_old_versions_are_read(tmp_path: Any) -> None:
    file = tmp_path / "app.yaml"
    head = "apiVersion: autoscaling/%s\nkind: HorizontalPodAutoscaler\nmetadata: {name: %s}\nspec:\n"
    target = "  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  maxReplicas: 9\n"
    file.write_text(
        head % ("v1", "a") + target + "  targetCPUUtilizationPercentage: 80\n---\n"
        + head % ("v2beta1", "b") + target
        + "  metrics: [{type: Resource, resource: {name: cpu, targetAverageUtilization: 80}}]\n---\n"
        + head % ("v2beta1", "d") + target
        + "  minReplicas: 0\n  metrics: [{type: External, external: {metricName: m, targetAverageValue: 1}}]\n---\n"
        + head % ("v2beta2", "c") + target
        + "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]\n"
    )  # fmt: skip
    found = topospread.load(str(file), cluster="nodes=1", strict=True).horizontal_pod_autoscalers
    assert [(each.name, each.spec.max_replicas) for each in found] == [("a", 9), ("b", 9), ("d", 9), ("c", 9)]
    file.write_text(head % ("v1", "a") + target + "  targetCPUUtilizationPercentage: 0\n")
    with pytest.raises(topospread.InputError, match="averageUtilization"):
        topospread.load(str(file), cluster="nodes=1")
