"""A trial has bounds: of nodes, of pods, of the time in it and of the time it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest

import topospread
from tests.unit.web.test_answers import deployment
from topospread.simulation.options import SimulationOptions
from topospread.web import trial_limits
from topospread.web.answers import Answers, PageQuestion
from topospread.web.pages import Pages
from topospread.web.served import InputWords, ServedCluster
from topospread.web.timeline import StepError
from topospread.web.trials import read_trial

HPA = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "minReplicas": 1,
        "maxReplicas": 2_000_000_000,
    },
}
_REPLICAS = '[{"op":"replace","path":"/spec/replicas","value":2000000000}]'


@pytest.fixture
def answers(tmp_path: Any) -> Answers:
    file = tmp_path / "app.json"
    items = [deployment("web", 6, "10m"), HPA]
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    inventory = topospread.load(file, cluster="zones=3,nodes=3,cpu=8")
    served = ServedCluster.begin(inventory, SimulationOptions(), InputWords("app.json"))
    return Answers(served, Pages(served))


def asked(*steps: str) -> PageQuestion:
    return PageQuestion(read_trial(steps), "", {})


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("scale shop/deploy/web=2000000000", "50,000 pods, this step needs 2,000,000,006"),
        (f"patch Deployment/shop/web {_REPLICAS}", "50,000 pods"),
        ("autoscale shop/hpa/web", "50,000 pods"),
        ("add 10000 like node-1", "10,000 nodes, this step needs 10,003"),
        ("wait 8760h", "wait at most 168h, got 8760h"),
    ],
)
def test_a_step_beyond_a_bound_is_not_played(answers: Answers, step: str, words: str) -> None:
    with pytest.raises(StepError, match=words):
        answers.trial(asked(step))


def test_bounds_add_up_over_the_steps(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_limits, "MOST_NODES", 10)
    assert answers.trial(asked("add 5 like node-1"))
    with pytest.raises(StepError, match="needs 13") as caught:
        answers.trial(asked("add 5 like node-1", "add 5 like node-1"))
    assert caught.value.number == 1


def test_work_that_takes_too_long_ends(answers: Answers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_limits, "MOST_SECONDS", 0.0)
    with pytest.raises(StepError, match="more than 0 s of work"):
        answers.trial(asked("scale shop/deploy/web=12"))
    monkeypatch.undo()
    assert answers.trial(asked("scale shop/deploy/web=12"))
