"""Lint takes time in proportion to its input, also where every object is related to every other one."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from topospread.linting.reading import Question
from topospread.linting.run import run
from topospread.linting.settings import Settings

Json = dict[str, Any]
FEW, TIMES = 250, 8


def workload(number: int, skew: int = 1) -> Json:
    counted = {"matchLabels": {"tier": "x"}}
    over = {"maxSkew": skew, "topologyKey": "example.com/zone", "whenUnsatisfiable": "DoNotSchedule"}
    labels = {"app": f"w{number}", "tier": "x"}
    spec = {
        "containers": [{"name": "a", "image": "a"}],
        "topologySpreadConstraints": [over | {"labelSelector": counted}],
    }
    template = {"metadata": {"labels": labels}, "spec": spec}
    scaled = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": f"w{number}"}, "spec": scaled}


def alike(count: int) -> list[Json]:
    return [workload(number) for number in range(count)]


def different(count: int) -> list[Json]:
    return [workload(number, 1 + number) for number in range(count)]


def budgets(count: int) -> list[Json]:
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"tier": "x"}}}
    kind = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": spec}
    return alike(count // 2) + [kind | {"metadata": {"name": f"b{number}"}} for number in range(count // 2)]


def jobs(count: int) -> list[Json]:
    template = {"metadata": {"labels": {"app": "j"}}, "spec": workload(0)["spec"]["template"]["spec"]}
    pods = template["spec"] | {"restartPolicy": "Never", "topologySpreadConstraints": []}
    job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"parallelism": 3, "template": template | {"spec": pods}}}
    service = {"apiVersion": "v1", "kind": "Service"}
    return [
        each
        for number in range(count // 2)
        for each in (
            job | {"metadata": {"name": f"j{number}"}},
            service | {"metadata": {"name": f"s{number}"}, "spec": {"selector": {"app": f"{number}"}}},
        )
    ]


def seconds(items: list[Json]) -> float:
    """Return the processor time of a run."""
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
    begun = time.process_time()
    assert run(Question(paths=["-"], settings=Settings()), io.BytesIO(data)).findings
    return time.process_time() - begun


@pytest.mark.parametrize("made", [alike, different, budgets, jobs], ids=lambda made: made.__name__)
def test_time_is_within_twice_of_linear(made: Callable[[int], list[Json]]) -> None:
    seconds(made(FEW))  # reads the tables of rules
    few = min(seconds(made(FEW)) for _ in range(3))
    assert seconds(made(FEW * TIMES)) < 2 * TIMES * few
