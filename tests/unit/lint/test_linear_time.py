"""Lint takes time in proportion to its input, also where every object is related to every other one."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from topospread.lint.fixing import unified_diff
from topospread.lint.reading import Question
from topospread.lint.run import run
from topospread.lint.settings import Settings

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


def selectors(count: int) -> list[Json]:
    made = alike(count)
    for number, each in enumerate(made):
        (over,) = each["spec"]["template"]["spec"]["topologySpreadConstraints"]
        over["labelSelector"] = {"matchExpressions": [{"key": f"x{number}", "operator": "DoesNotExist"}]}
    return made


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
    return seconds_for(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def seconds_for(text: str) -> float:
    begun = time.process_time()
    assert run(Question(paths=["-"], settings=Settings()), io.BytesIO(text.encode())).findings
    return time.process_time() - begun


@pytest.mark.parametrize("made", [alike, different, selectors, budgets, jobs], ids=lambda made: made.__name__)
def test_time_is_within_twice_of_linear(made: Callable[[int], list[Json]]) -> None:
    seconds(made(FEW))  # reads the tables of rules
    few = min(seconds(made(FEW)) for _ in range(3))
    assert seconds(made(FEW * TIMES)) < 2 * TIMES * few


def ignored_lines(count: int) -> str:
    data = "".join(f"  k{number}: a # topospread: ignore no-budget\n" for number in range(count))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{data}"


def ignores_above_each_other(count: int) -> str:
    return "# topospread: ignore no-budget\n" * count + ignored_lines(1)


CONFIGURATION = "apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration"
PROFILE = "{{schedulerName: s{}, plugins: {{filter: {{enabled: [{{name: X}}]}}}}}}"


def profiles(count: int) -> str:
    return f"{{{CONFIGURATION}, profiles: [{', '.join(map(PROFILE.format, range(count // 4)))}]}}\n"


def configurations(count: int) -> str:
    block = f"|\n    {{{CONFIGURATION}, profiles: [{PROFILE.format(0)}]}}\n"
    data = "".join(f"  k{number}: {block}" for number in range(count // 2))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n{data}"


@pytest.mark.parametrize(
    "made", [ignored_lines, ignores_above_each_other, profiles, configurations], ids=lambda made: made.__name__
)
def test_texts_take_time_within_twice_of_linear(made: Callable[[int], str]) -> None:
    seconds_for(made(FEW))
    few = min(seconds_for(made(FEW)) for _ in range(3))
    assert seconds_for(made(FEW * TIMES)) < 2 * TIMES * few


def test_a_diff_takes_time_within_twice_of_linear() -> None:
    def seconds_of_diff(count: int) -> float:
        before = "kind: List\n" + "- a: 1\n  b: 2\n  c: 3\n  d: 4\n  e: 5\n" * count
        begun = time.process_time()
        assert unified_diff(before, before.replace("c: 3", "c: 3\n  f: 6"), "a.yaml").count("+  f: 6") == count
        return time.process_time() - begun

    few = min(seconds_of_diff(FEW) for _ in range(3))
    assert seconds_of_diff(FEW * TIMES) < 2 * TIMES * few
