"""`topospread plan` as users run it: two folders, two revisions of a repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

ROOT = Path(__file__).parent.parent.parent
TOPOSPREAD = Path(sys.executable).parent / "topospread"
CLUSTER = ("--on", "zones=3,nodes=3,cpu=4")
APP = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: %d
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: a, image: a, resources: {requests: {cpu: "2"}}}]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: %s
        whenUnsatisfiable: DoNotSchedule
        labelSelector: {matchLabels: {app: web}}
        matchLabelKeys: [pod-template-hash]
"""
ZONE, OLD_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
Done = subprocess.CompletedProcess[str]


def plan(folder: Path, *words: str) -> Done:
    command = [TOPOSPREAD, "plan", *words]
    return subprocess.run(command, cwd=folder, env=os.environ, capture_output=True, text=True, check=False)


def git(folder: Path, *words: str) -> None:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *named, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "x")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    (tmp_path / ".gitattributes").write_text("deploy export-ignore\n")
    commit(tmp_path, "deploy/app.yaml", APP % (3, ZONE))
    commit(tmp_path, "deploy/app.yaml", APP % (7, ZONE))
    return tmp_path


def test_two_folders(tmp_path: Path) -> None:
    for name, replicas in (("old", 3), ("new", 4)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "app.yaml").write_text(APP % (replicas, ZONE))
    done = plan(tmp_path, "old", "new", *CLUSTER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("old → new\n\ndefault/web  Deployment · 3 placed → 4\n")
    assert done.stdout.endswith("\nnothing gets worse\n")


def test_two_revisions_of_the_working_directory(repository: Path) -> None:
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 1, done.stderr
    assert "3 placed → 6" in done.stdout
    assert done.stdout.endswith("worse: 1 pod newly pending\n")
    assert plan(repository, "HEAD", "HEAD~1", *CLUSTER).returncode == 0
    status = subprocess.run(["git", "status", "--porcelain"], cwd=repository, capture_output=True, check=True)
    assert status.stdout == b""


def test_a_revision_and_what_is_not_committed_yet(repository: Path) -> None:
    (repository / "deploy" / "app.yaml").write_text(APP % (4, ZONE))
    assert plan(repository / "deploy", "HEAD", ".", *CLUSTER).returncode == 0
    assert "6 placed → 4" in plan(repository / "deploy", "HEAD", ".", *CLUSTER).stdout


def test_findings_that_are_new_have_their_place_in_the_repository(repository: Path) -> None:
    commit(repository, "deploy/app.yaml", APP % (7, OLD_ZONE))
    done = plan(repository, "HEAD~1", "HEAD", "-f", "deploy", *CLUSTER)
    assert "New findings\n  deploy/app.yaml:13:9: warning: beta-topology-key (Deployment default/web)" in done.stdout
    assert "topospread-" not in done.stdout + done.stderr
    done = plan(repository, "HEAD~1", "HEAD", "-f", "deploy", *CLUSTER, "--no-lint")
    assert "New findings" not in done.stdout


def test_what_one_state_does_not_have_is_new(repository: Path) -> None:
    commit(repository, "more/app.yaml", (APP % (9, ZONE)).replace("web", "api"))
    done = plan(repository, "HEAD~1", "HEAD", "-f", "more", *CLUSTER)
    assert "default/api  Deployment · 0 placed → 6" in done.stdout
    assert "3 pods newly pending" in done.stdout
    assert "nowhere: neither state has it" in plan(repository, "HEAD~1", "HEAD", "-f", "nowhere", *CLUSTER).stderr


def test_errors_name_the_revision_and_the_file_in_it(repository: Path) -> None:
    commit(repository, "deploy/app.yaml", "a: [")
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER)
    assert done.returncode == 2
    assert done.stderr.startswith("error: HEAD: deploy/app.yaml:")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("HEAD~1", "nope"), "nope: neither a path nor a revision of the repository here"),
        (("--", "--output=x", "HEAD"), "--output=x: neither a path nor a revision"),
        (("HEAD", "-"), "standard input can be read once"),
    ],
)
def test_what_is_no_state(repository: Path, words: tuple[str, ...], said: str) -> None:
    done = plan(repository, *CLUSTER, *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_json_has_the_documented_form(repository: Path) -> None:
    commit(repository, "deploy/app.yaml", APP % (7, OLD_ZONE))
    done = plan(repository, "HEAD~2", "HEAD", *CLUSTER, "-o", "json")
    report = json.loads(done.stdout)
    schemas = {each.name: json.loads(each.read_text()) for each in (ROOT / "docs/reference").glob("*.schema.json")}
    registry = Registry().with_resources((name, Resource.from_contents(each)) for name, each in schemas.items())
    jsonschema.Draft202012Validator(schemas["plan.schema.json"], registry=registry).validate(report)
    assert report["worse"] is True
    # From 3 replicas to 7 that no node of the made-up cluster has a zone for.
    assert report["reasons"] == ["7 pods newly pending", "1 new error", "1 new warning"]
    assert "beta-topology-key" in {each["rule"] for each in report["findings"]["new"]}
    (why, *_) = (each["why"] for each in report["comparison"]["placements"] if each["why"])
    assert why["plugin"] == "PodTopologySpread"


def test_markdown_for_a_comment(repository: Path) -> None:
    done = plan(repository, "HEAD~1", "HEAD", *CLUSTER, "-o", "markdown")
    assert done.stdout.startswith("### topospread plan: `HEAD~1` → `HEAD`\n\n**⚠️ worse: 1 pod newly pending**\n")
    assert "| `default/web` Deployment | 3 → 6 |" in done.stdout
