"""`topospread simulate --orders` as users run it."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.answer_schema import schema_of
from tests.command import Done, forked

ROOT = Path(__file__).parent.parent.parent
POD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s}
spec:
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      nodeSelector: {%s}
      containers: [{name: a, image: a, resources: {requests: {cpu: "2"}}}]
---
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    text = POD % ("any", "any", "any", "") + POD % ("picky", "picky", "picky", "kubernetes.io/hostname: node-1")
    (tmp_path / "app.yaml").write_text(text)
    return tmp_path


def run(folder: Path, *words: str) -> Done:
    return forked("simulate", "-f", "app.yaml", "--on", "zones=1,nodes=2,cpu=2", *words, cwd=folder)


def test_ranges_are_shown_and_pending_pods_are_a_no(app: Path) -> None:
    done = run(app, "--orders", "20")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("no: 0–1 pod is pending; in ")
    assert "default/picky" in done.stdout


def test_json_has_the_documented_form(app: Path) -> None:
    report = json.loads(run(app, "--orders", "20", "-o", "json").stdout)
    schema = schema_of("Orders")
    jsonschema.Draft202012Validator(schema).validate(report)
    assert (report["orders"], report["pending"]) == (20, {"least": 0, "most": 1})


@pytest.mark.parametrize("words", [("-o", "name")])
def test_what_has_no_ranges_is_refused(app: Path, words: tuple[str, ...]) -> None:
    done = run(app, "--orders", "3", *words)
    assert done.returncode == 2
    assert "--orders gives ranges" in done.stderr
