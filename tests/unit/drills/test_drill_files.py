"""Drills in files: how they are read, what is refused where, and what they are held to."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from topospread.drills.checking import check_drills
from topospread.drills.drill_file import find_drills
from topospread.drills.expectations import Expectations, shortfalls
from topospread.drills.steps import AddNodes, Apply, Fail, Scale, Wait
from topospread.errors import InputError, UsageError
from topospread.report.drill_check import check_github, check_junit, check_text
from topospread.report.layout import Layout

from .builders import at, budget, nodes, told, workload

ROOT = Path(__file__).parents[3]
HEAD = "apiVersion: topospread.dev/v1alpha1\nkind: Drill\n"
WHOLE = (
    HEAD
    + """metadata: {name: all}
spec:
  cluster: zones=2,nodes=4
  manifests: [web.yaml]
  kubeVersion: "1.35"
  steps:
    - fail: zone=zone-a
    - wait: 90s
    - scale: deploy/web=3
    - addNodes: {number: 2, like: node-1}
    - apply: more/web.yaml
  expect:
    pending: 0
    skew: {deploy/web: 1}
    ready: {deploy/web: 2}
    settledWithin: 10m
"""
)


def written(folder: Path, text: str, name: str = "d.yaml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def test_everything_that_may_stand_in_a_file_is_read(tmp_path: Path) -> None:
    (found,) = find_drills([written(tmp_path, WHOLE)])
    assert (found.name, found.cluster, found.kube_version) == ("all", "zones=2,nodes=4", "1.35")
    assert found.manifests == (str(tmp_path / "web.yaml"),)
    assert found.steps == (
        Fail(at("zone=zone-a")),
        Wait(90),
        Scale("deploy/web", 3),
        AddNodes(2, "node-1"),
        Apply(str(tmp_path / "more/web.yaml")),
    )
    assert found.expect == Expectations(
        pending=0, skew_of={"deploy/web": 1}, ready={"deploy/web": 2}, settled_within=600
    )


@pytest.mark.parametrize(
    ("change", "says", "line"),
    [
        (("pending: 0", "pendng: 0"), "did you mean 'pending'?", 15),
        (("kubeVersion", "kubeversion"), "did you mean 'kubeVersion'?", 7),
        (("- fail:", "- fial:"), "did you mean 'fail'?", 9),
        (("zone=zone-a", "zone-a"), "write KEY=VALUE", 9),
        (("90s", "90"), "put it in quotes", 10),
        (("number: 2, ", ""), "number is missing", 12),
        (("number: 2", "number: 0"), "from 1", 12),
        (("pending: 0", "pending: -1"), "from 0", 15),
        (("settledWithin: 10m", "settledWithin: soon"), "duration", 18),
        (("v1alpha1", "v2"), "apiVersion topospread.dev/v1alpha1", 1),
        (("[web.yaml]", "web.yaml"), "expected a list", 6),
        (('"1.35"', '"1.5"'), "1.5", 7),
    ],
)
def test_what_means_nothing_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], says: str, line: int
) -> None:
    assert change[0] in WHOLE
    with pytest.raises(InputError) as caught:
        find_drills([written(tmp_path, WHOLE.replace(*change))])
    assert says in str(caught.value)
    assert caught.value.place.line == line


@pytest.mark.parametrize("missing", ["steps", "expect"])
def test_steps_and_expectations_are_required(tmp_path: Path, missing: str) -> None:
    parts = {"steps": "  steps: [{wait: 1s}]\n", "expect": "  expect: {pending: 0}\n"}
    del parts[missing]
    with pytest.raises(InputError, match=f"spec.{missing}: it is missing"):
        find_drills([written(tmp_path, HEAD + "spec:\n" + "".join(parts.values()))])


def test_other_files_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    written(tmp_path, "kind: Service", "a.yaml")
    written(tmp_path, "{{ no yaml }}:\n  - {", "chart.yaml")
    written(tmp_path, WHOLE)
    assert [each.name for each in find_drills([str(tmp_path)])] == ["all"]


def test_a_path_without_drills_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no drill in it"):
        find_drills([written(tmp_path, "kind: Service")])


@pytest.mark.parametrize(
    ("expected", "paths"),
    [
        (Expectations(pending=0), ["spec.expect.pending"]),
        (Expectations(pending=2), []),
        (Expectations(skew=1), []),
        (Expectations(ready={"deploy/web": 3}), ["spec.expect.ready[deploy/web]"]),
        (Expectations(ready={"deploy/web": 2, "sts/db": 1}), []),
        (Expectations(broken_budgets=0), ["spec.expect.brokenBudgets"]),
        (Expectations(settled_within=350), []),
        (Expectations(settled_within=349), ["spec.expect.settledWithin"]),
        (Expectations(not_evicted=0), []),
    ],
)
def test_shortfalls(expected: Expectations, paths: list[str]) -> None:
    small = [
        *nodes("a", "b"),
        workload("Deployment", replicas=4),
        workload("StatefulSet", "db", 2),
        budget(minAvailable=3),
    ]
    small[1]["status"]["allocatable"]["cpu"] = "3"
    found = told(small, Fail(at("zone=a")))
    assert len(found.pending[0].pods) in (1, 2)
    assert [each.path for each in shortfalls(found, expected)] == paths


def test_a_workload_that_is_not_there_is_named() -> None:
    found = told([*nodes("a"), workload("Deployment")], Wait(1))
    with pytest.raises(UsageError, match="did you mean shop/deployment/web"):
        shortfalls(found, Expectations(ready={"deploy/wep": 1}))


def test_reports_name_what_falls_short_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    checked = check_drills(find_drills(["docs/how-to/zone-loss"]))
    assert [len(each.shortfalls) for each in checked.drills] == [0, 1]
    assert "zone-loss.yaml:30)" in check_text(checked, Layout(120))
    assert check_github(checked).startswith("::error file=docs/how-to/zone-loss/drills/zone-loss.yaml,line=30,")
    suites: Any = ElementTree.fromstring(check_junit(checked))
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    assert [len(case) for case in suites.iter("testcase")] == [0, 1]
    as_json = checked.to_dict()
    assert as_json["drills"][1]["shortfalls"][0]["line"] == 30
    assert as_json["drills"][1]["result"]["kind"] == "DrillResult"


def test_an_error_of_a_step_says_which_drill_it_is_of(tmp_path: Path) -> None:
    text = HEAD + "spec:\n  cluster: zones=1,nodes=1\n  steps:\n    - fail: zone=b\n  expect: {pending: 0}\n"
    with pytest.raises(InputError, match=r"d.yaml:5:.*no node has"):
        check_drills(find_drills([written(tmp_path, text)]))
