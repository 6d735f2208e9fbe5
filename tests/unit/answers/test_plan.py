"""`plan` on a cluster with running pods: pods that are not judged, and rollouts of changed templates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import topospread
from tests.unit.simulation.test_unknown import deployment
from topospread.answers.plan import plan
from topospread.cli.plan import plan as command
from topospread.simulation.options import SimulationOptions
from topospread.sources.folders import OTHER_AT_INSTALLATION


def running(*, priority: int = 0) -> list[dict[str, Any]]:
    """Return a node, the running pod of the Deployment web, and a pending pod with a claim that is not judged."""
    labels = {"app": "web", "pod-template-hash": "1"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}

    def owned(name: str, kind: str, owner: str) -> dict[str, Any]:
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": True}
        return {"name": name, "namespace": "default", "uid": name, "labels": labels, "ownerReferences": [reference]}

    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    claim = {"name": "gpu", "resourceClaimTemplateName": "gpu"}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "n1"}},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": owned("web-1", "Deployment", "web"),
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": owned("web-1-a", "ReplicaSet", "web-1"),
            "spec": {"nodeName": "n1", "containers": [container]},
            "status": {"phase": "Running"},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "train", "namespace": "ml"},
            "spec": {"containers": [container], "resourceClaims": [claim], "priority": priority},
        },
    ]


def planned(folder: Path, old: dict[str, Any], new: dict[str, Any], objects: list[dict[str, Any]], *more: str) -> str:
    """Return the text of the plan of a change from one Deployment to another."""
    for name, item in (("old", old), ("new", new)):
        (folder / f"{name}.yaml").write_text(json.dumps(item))
    stored = {**old, "metadata": {**old["metadata"], "namespace": "default", "uid": "web"}}
    (folder / "cluster.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [stored, *objects]}))
    words = [
        str(folder / "old.yaml"),
        str(folder / "new.yaml"),
        "--on",
        str(folder / "cluster.json"),
        "--no-lint",
        *more,
    ]
    return " ".join(CliRunner().invoke(command, words).stdout.split())


def web(replicas: int = 1, **container: str) -> dict[str, Any]:
    made = deployment("web", replicas, "1")
    made["spec"]["template"]["spec"]["containers"][0].update(container)
    return made


def test_an_unjudged_pod_that_the_change_cannot_affect_is_named_and_does_not_count(tmp_path: Path) -> None:
    said = planned(tmp_path, web(), web(image="j"), running())
    assert said.startswith("yes: nothing gets worse not judged: ml/train: resource claims need ResourceSlices")
    assert "the same before and after" in said


@pytest.mark.parametrize(("change", "priority"), [({"replicas": 2}, 0), ({"image": "j"}, 1)])
def test_an_unjudged_pod_that_a_change_could_affect_is_unknown(
    tmp_path: Path, change: dict[str, Any], priority: int
) -> None:
    """A new replica takes room. A pod that preemption deletes is created again from the changed template."""
    said = planned(tmp_path, web(), web(**change), running(priority=priority))
    assert said.startswith("unknown: nothing is proved to get worse; resourceClaims of ml/train are not judged")


def test_a_rollout_that_only_the_old_template_completes_is_worse(tmp_path: Path) -> None:
    new = web()
    new["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
    said = planned(tmp_path, web(), new, running()[:3])
    assert "default/web keeps less: a rollout replaces 0 of 1, not 1" in said
    assert "new.yaml:1 cpu 1 → 4" in said
    assert said.startswith("no: ")


def test_a_rollout_that_neither_template_completes_is_told_and_not_worse(tmp_path: Path) -> None:
    full = running()[:3]
    full[0]["status"]["allocatable"]["cpu"] = "1"
    said = planned(tmp_path, web(), web(image="j"), full)
    assert said.startswith(
        "yes: nothing gets worse; the rollout of default/web stops at 0 of 1 pods, with and without the change"
    )


def test_a_rollout_for_which_no_time_is_left_is_unknown(tmp_path: Path) -> None:
    said = planned(tmp_path, web(), web(image="j"), running()[:3], "--seconds", "0")
    assert said.startswith("unknown: nothing is proved to get worse; rollouts of default/web are not judged")


def test_an_equal_note_on_an_unstable_chart_is_shown_because_its_templates_may_differ(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(running()[0]))
    old, new = (topospread.load(str(tmp_path / "a.json")) for _ in range(2))
    unstable = f"./web: {OTHER_AT_INSTALLATION}, because of a.yaml:1 (now)"
    for each in (old, new):
        each.notes += [unstable, "another note"]
    assert plan((old, new), (SimulationOptions(), SimulationOptions())).notes == (unstable,)
