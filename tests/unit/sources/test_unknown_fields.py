"""Fields that no version of the API has are warned of, as kubectl refuses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread import Session
from topospread.drill import steps

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web%s}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      topologySpreadConstraint: []
      containers: [{name: c, image: i}]
"""
NODES = """\
---
apiVersion: v1
kind: Node
metadata: {name: a, labels: {topology.kubernetes.io/zone: a}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: b, labels: {topology.kubernetes.io/zone: b}}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
"""
SAID = 'unknown field "spec.template.spec.topologySpreadConstraint" was dropped; is "topologySpreadConstraints" meant?'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "web.yaml"
    made.write_text(WEB % "")
    return made


def test_every_command_warns(path: Path) -> None:
    (path.parent / "nodes.yaml").write_text(NODES)
    session = Session([path, path.parent / "nodes.yaml"])
    answers = [
        session.simulate(),
        session.why("deploy/web"),
        session.promises.check(),
        session.promises.show(),
        session.drill(steps.Fail(steps.NodeChoice("zone", "a"))),
        session.status(),
    ]
    for each in answers:
        (said,) = [words for words in each.warnings if "unknown field" in words]
        assert said.endswith(f"Deployment web: {SAID}")
        assert SAID in " ".join(each.text().split())


def test_a_stored_object_and_a_field_of_an_older_version_are_not_warned_of(path: Path) -> None:
    path.write_text(WEB.replace("{name: web%s}", "{name: web, uid: u, resourceVersion: '1'}") + NODES)
    assert not [each for each in Session(path).simulate().warnings if "unknown field" in each]


def test_the_first_are_named_and_the_others_counted(path: Path) -> None:
    path.write_text("---\n".join(WEB % number for number in range(25)) + NODES)
    said = [each for each in Session(path).simulate().warnings if "unknown field" in each]
    assert len(said) == 21
    assert said[-1] == "5 more unknown fields were dropped: topospread lint names them"
