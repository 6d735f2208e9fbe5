"""Helm's hooks are left out with a note, as their pods do not stay."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import topospread
from topospread.lint.reading import Question
from topospread.lint.run import run
from topospread.sources.load import load

Json = dict[str, Any]

HELMS = "---\n# Source: app/templates/all.yaml\n"
NODE: Json = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}}
SPEC: Json = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
LABELS = {"app": "web"}


def made(kind: str, hook: str | None, name: str = "x", **metadata: str) -> Json:
    annotations = {} if hook is None else {"helm.sh/hook": hook}
    spec: Json = {"template": {"metadata": {"labels": LABELS}, "spec": SPEC}}
    if kind == "Pod":
        spec = SPEC
    elif kind == "Deployment":
        spec = {
            "selector": {"matchLabels": LABELS},
            "template": {"metadata": {"labels": LABELS}, "spec": SPEC | {"restartPolicy": "Always"}},
        }
    elif kind == "PersistentVolumeClaim":
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    version = {"Job": "batch/v1", "Deployment": "apps/v1"}.get(kind, "v1")
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, "annotations": annotations, **metadata},
        "spec": spec,
    }


def read(*objects: Json, **options: Any) -> topospread.Inventory:
    listed = {"apiVersion": "v1", "kind": "List", "items": [NODE, *objects]}
    return load(["-"], stdin=BytesIO((HELMS + json.dumps(listed)).encode()), **options)


def kinds(inventory: topospread.Inventory) -> set[str]:
    return {each.kind for each in inventory.objects()} - {"Node"}


@pytest.mark.parametrize(
    ("kind", "hook", "stays"),
    [
        ("Pod", "test", False),
        ("Pod", "test-success", False),
        ("Job", "pre-install,pre-upgrade", False),
        ("Job", "post-install", False),
        ("Job", None, True),
        ("Job", "", True),
        ("Deployment", "pre-install", True),
        ("Deployment", "Post-Install,Post-Upgrade", True),
        ("Deployment", "test, pre-delete", False),
        ("PersistentVolumeClaim", "pre-install", True),
    ],
)
def test_what_runs_and_goes_is_left_out(kind: str, hook: str | None, stays: bool) -> None:
    assert (kinds(read(made(kind, hook))) == {kind}) == stays
    assert kinds(read(made(kind, hook), with_hooks=True)) == {kind}


@pytest.mark.parametrize(("policy", "stays"), [("hook-succeeded", False), ("before-hook-creation", True)])
def test_a_workload_that_helm_deletes_when_it_has_succeeded_does_not_stay(policy: str, stays: bool) -> None:
    puller = made("Deployment", "pre-install,pre-upgrade")
    puller["metadata"]["annotations"]["helm.sh/hook-delete-policy"] = f"before-hook-creation, {policy}"
    assert (kinds(read(puller)) == {"Deployment"}) == stays


def test_a_note_names_them() -> None:
    found = read(made("Job", "pre-install", "migrate"), made("Pod", "test", "ping"))
    assert found.notes == [
        "2 Helm hooks are left out, as their pods do not last: Job migrate (pre-install), Pod ping (test); "
        "--with-hooks places them"
    ]
    assert read(made("Job", None, "migrate")).notes == []


def test_what_an_api_server_has_stored_is_there() -> None:
    assert kinds(read(made("Job", "post-install", uid="1"))) == {"Job"}


def test_they_are_linted_and_not_simulated() -> None:
    for helms, stays in ((HELMS, False), ("", True)):
        piped = BytesIO((helms + json.dumps(made("Job", "pre-install"))).encode())
        given = run(Question(paths=["-"]), piped).given
        assert [each.kind for each in given.manifests] == ["Job"]
        assert bool(given.inventory.jobs) == stays


def test_kubectl_applies_those_of_other_manifests(tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    file.write_text(json.dumps(made("Job", "test")))
    assert kinds(topospread.load(str(file), cluster="nodes=1")) >= {"Job"}


@pytest.mark.parametrize("name", ["app.yaml", "-"])
def test_a_comment_of_helm_in_a_file_is_anybodys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_text(HELMS + json.dumps(made("Job", "test")))
    assert kinds(topospread.load(f"./{name}", cluster="nodes=1")) >= {"Job"}


def test_a_comment_within_a_pipe_is_anybodys() -> None:
    text = f"{json.dumps(NODE)}\n{HELMS}{json.dumps(made('Job', 'test'))}"
    assert kinds(load(["-"], stdin=BytesIO(text.encode()))) == {"Job"}
