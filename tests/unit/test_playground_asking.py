"""What the playground asks, here where numpy has integers of 64 bits: the answers are those of the commands."""

from __future__ import annotations

import html
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from release.playground import asking
from tests.markup import foreign_markup

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web}]}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("question", "target", "command"),
    [
        ("simulate", "left out", "topospread simulate -f app.yaml --on zones=3,nodes=3"),
        ("why", "deploy/web", "topospread why deploy/web -f app.yaml --on zones=3,nodes=3"),
        ("lint", "", "topospread lint app.yaml --on zones=3,nodes=3"),
        ("promise show", "", "topospread promise show -f app.yaml --on zones=3,nodes=3"),
    ],
)
def test_a_question_is_a_command(question: str, target: str, command: str) -> None:
    told = json.loads(asking.ask(question, WEB, "zones=3,nodes=3\n", target))
    assert told["command"] == command
    assert told["html"].startswith('<div class="ts">')
    assert asking.run([*command.split()[1:], "-o", "json"])[0].startswith("{")


def test_what_pyodide_lacks_is_not_imported() -> None:
    script = "import sys; sys.modules.update(dict.fromkeys(('ssl', '_ssl', 'sqlite3', 'lzma', 'distutils')))\n"
    script += "from release.playground import asking\n"
    script += (
        f"for each in ('simulate', 'why', 'lint', 'promise show'): print(asking.ask(each, {WEB!r}, 'zones=3,nodes=3'))"
    )
    root = Path(asking.__file__).parents[2]
    ran = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": str(root)}, check=True, stdout=-1
    )
    assert [list(json.loads(line))[1] for line in ran.stdout.splitlines()] == ["html"] * 4


def test_the_modules_of_every_question_are_imported_for_the_snapshot() -> None:
    imported = asking.prepare()
    for command in ("simulate", "why", "lint", "promise_show"):
        assert any(path.endswith(f"/topospread/cli/{command}.py") for path in imported)


def test_a_cluster_is_a_file_unless_one_line_makes_it_up() -> None:
    told = json.loads(
        asking.ask(
            "simulate",
            WEB,
            "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 4, pods: 9}}\n",
        )
    )
    assert told["command"] == "topospread simulate -f app.yaml --on cluster.yaml"
    assert "html" in told


@pytest.mark.parametrize("target", ["--help", "-o=text", "--version"])
def test_a_target_that_is_an_option_gets_no_answer_as_html(target: str) -> None:
    told = json.loads(asking.ask("why", WEB, "zones=3,nodes=3", target))
    assert told["error"]
    assert "html" not in told


EVIL = '<img src> onerror <script>&"\' onerror "'


@pytest.mark.parametrize("question", ["simulate", "why", "lint", "promise show"])
def test_pasted_text_is_no_markup(question: str) -> None:
    """The page puts an answer in as HTML."""
    stored = {"uid": "1", "resourceVersion": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    manifest = yaml.safe_load(WEB)
    manifest["metadata"] = {"name": EVIL, "namespace": EVIL, **stored}
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 9}
    pods = manifest["spec"]["template"]["spec"]
    pods["topologySpreadConstraints"] = [spread | {"labelSelector": {"matchLabels": {"app": "web"}}}]
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{EVIL}{zone}", "labels": {"zone": f"{EVIL}{zone}"}, **stored},
            "spec": {"taints": [{"key": EVIL, "value": EVIL, "effect": "NoSchedule"}]} if zone else {},
            "status": {"allocatable": {"cpu": "1", "pods": "9"}},
        }
        for zone in range(3)
    ]
    # A name that the API server refuses stands in a cluster only, and lint needs none.
    items = nodes if question == "lint" else [*nodes, manifest]
    cluster = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=1)
    target = f"{EVIL}/deploy/{EVIL}" if question == "why" else ""
    told = json.loads(asking.ask(question, json.dumps(manifest) if question == "lint" else WEB, cluster, target))
    assert html.escape(EVIL) in told["html"]
    assert foreign_markup(told["html"]) == set()


def test_an_error_is_told_as_the_command_tells_it() -> None:
    told = json.loads(asking.ask("simulate", "kind: [", "zones=3,nodes=3"))
    assert told["error"].startswith("error: app.yaml")


def test_numbers_keep_64_bits_where_numpy_would_take_32() -> None:
    bit = 1 << 40
    assert asking._where(np.array([True, False]), bit, 0).tolist() == [bit, 0]
    assert asking._where(np.array([True]), bit, 0).dtype == np.int64
    assert asking._where(np.array([False, True]))[0].tolist() == [1]
    assert asking._bincount(np.array([1, 1], dtype=np.int64), minlength=3).tolist() == [0, 2, 0]
