"""Drills in files: how they are read, what is refused where, and what they are held to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from topospread.drill.checking import check_drills, merged_checks
from topospread.drill.drill_file import DrillFile, find_drills
from topospread.drill.expectations import Expectations, shortfalls
from topospread.drill.saved import read_check
from topospread.drill.shards import Shard
from topospread.drill.steps import AddNodes, Apply, Fail, Scale, Wait, read_rollout
from topospread.errors import InputError, UsageError
from topospread.render.github import github
from topospread.render.junit import junit

from .builders import at, budget, nodes, spread, told, workload

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
    assert (found.name, found.manifests.cluster, found.settings.kube_version) == ("all", "zones=2,nodes=4", "1.35")
    assert found.manifests.paths == (str(tmp_path / "web.yaml"),)
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
        (("pending: 0", "pendng: 0"), "did you mean pending?", 15),
        (("kubeVersion", "kubeversion"), "did you mean kubeVersion?", 7),
        (("- fail:", "- fial:"), "did you mean fail?", 9),
        (("zone=zone-a", "zone-a"), "write KEY=VALUE", 9),
        (("90s", "90"), "put it in quotes", 10),
        (("number: 2, ", ""), "number is missing", 12),
        (("number: 2", "number: 0"), "at least 1", 12),
        (("number: 2", "number: 100001"), "at most 100000 nodes in all steps", 8),
        (("pending: 0", "pending: -1"), "at least 0", 15),
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
    with pytest.raises(UsageError, match="no drill found"):
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
    answer = checked.answer()
    assert answer.text().startswith("no: 1 of 2 drills misses expectations\n")
    assert "line 30 " in answer.text()
    assert github(each for drill in answer.drills for each in answer.findings(drill)).startswith(
        "::error file=docs/how-to/zone-loss/drills/zone-loss.yaml,line=30,"
    )
    suites: Any = ElementTree.fromstring(
        junit("topospread drill", {"zone-loss": [(each.name, answer.findings(each)) for each in answer.drills]})
    )
    assert (suites.get("tests"), suites.get("failures")) == ("2", "1")
    assert [len(case) for case in suites.iter("testcase")] == [0, 1]
    as_json = checked.to_dict()
    assert as_json["drills"][1]["shortfalls"][0]["line"] == 30
    assert as_json["drills"][1]["result"]["kind"] == "DrillResult"


def test_an_error_of_a_step_says_which_drill_it_is_of(tmp_path: Path) -> None:
    text = HEAD + "spec:\n  cluster: zones=1,nodes=1\n  steps:\n    - fail: zone=b\n  expect: {pending: 0}\n"
    with pytest.raises(InputError, match=r"d.yaml:5:.*no node has"):
        check_drills(find_drills([written(tmp_path, text)]))


SETTINGS = """metadata: {name: settings}
spec:
  cluster: zones=2,nodes=2,cpu=2
  manifests: [web.yaml]
  helm: {values: [values.yaml], set: [a=b], release: shop}
  withHooks: true
  strict: true
  featureGates: {MatchLabelKeysInPodTopologySpreadSelectorMerge: false}
  apiserverFeatureGates: {MatchLabelKeysInPodTopologySpreadSelectorMerge: true}
  pools: [pools.yaml]
  seed: 7
  runs: 2
  preemption: false
  steps: [{wait: 1s}]
  expect: {pending: 0}
"""


def test_a_file_says_all_that_the_command_line_does(tmp_path: Path) -> None:
    (found,) = find_drills([written(tmp_path, HEAD + SETTINGS)])
    how, given = found.settings, found.manifests
    assert (how.pools, how.seed, how.runs, how.preemption) == ((str(tmp_path / "pools.yaml"),), 7, 2, False)
    gate = "MatchLabelKeysInPodTopologySpreadSelectorMerge"
    assert how.apiserver_gates.enabled(gate)
    assert not how.gates.enabled(gate)
    rendering = given.rendering
    assert rendering.helm_values == (str(tmp_path / "values.yaml"),)
    assert (rendering.helm_set, rendering.helm_release, given.with_hooks, given.strict) == (
        ("a=b",),
        "shop",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("change", "says", "line"),
    [
        (("preemption: false", "preemption: no one"), "expected true or false", 15),
        (("runs: 2", "runs: 0"), "from 1", 14),
        (("runs: 2", "runs: 101"), "from 1 to 100", 14),
        (("release: shop", "relase: shop"), "did you mean release?", 7),
        (("SelectorMerge: false", "SelectorMerges: false"), "unrecognized feature gate", 10),
        (("  withHooks: true", "  raw: true"), "raw and helm cannot be combined", 7),
    ],
)
def test_settings_that_mean_nothing_are_refused_with_their_line(
    tmp_path: Path, change: tuple[str, str], says: str, line: int
) -> None:
    assert change[0] in SETTINGS
    with pytest.raises(InputError) as caught:
        find_drills([written(tmp_path, HEAD + SETTINGS.replace(*change))])
    assert says in str(caught.value)
    assert caught.value.place.line == line


POOLS = """apiVersion: topospread.dev/v1alpha1
kind: Pools
pools:
  - {name: spare, zone: zone-a, shape: {cpu: 4, memory: 8Gi}, min: 0, max: 3}
"""


def test_pools_of_a_file_grow(tmp_path: Path) -> None:
    web = workload("Deployment", replicas=2)
    (tmp_path / "web.yaml").write_text(json.dumps(web))
    text = HEAD + "spec:\n  cluster: zones=1,nodes=1,cpu=2\n  manifests: [web.yaml]\n"
    text += "  steps: [{scale: shop/deploy/web=6}]\n  expect: {pending: 0}\n"
    drills = find_drills([written(tmp_path, text)])
    assert [each.path for each in check_drills(drills).drills[0].shortfalls] == ["spec.expect.pending"]
    (tmp_path / "pools.yaml").write_text(POOLS)
    drills = find_drills([written(tmp_path, text.replace("  steps", "  pools: [pools.yaml]\n  steps"))])
    assert check_drills(drills).passed


def several(folder: Path, number: int = 5) -> list[DrillFile]:
    (folder / "web.yaml").write_text(json.dumps(workload("Deployment", replicas=3)))
    text = HEAD + "spec:\n  cluster: zones=2,nodes=4\n  manifests: [web.yaml]\n  steps: [{fail: zone=zone-a}]\n"
    documents = [f"{text}  expect: {{ready: {{shop/deploy/web: {least}}}}}\n" for least in range(number)]
    return find_drills([written(folder, "---\n".join(documents))])


def test_drills_come_to_the_same_however_they_are_shared_out(tmp_path: Path) -> None:
    drills = several(tmp_path)
    whole = check_drills(drills, workers=1)
    assert not whole.passed
    assert check_drills(drills, workers=3).to_json() == whole.to_json()
    for number in (1, 2, 7):
        paths = [tmp_path / f"{index}.json" for index in range(number)]
        for index, path in enumerate(paths):
            path.write_text(check_drills(drills, workers=2, shard=Shard(index, number)).to_json())
        parts = [(str(path), read_check(str(path))) for path in reversed(paths)]
        assert merged_checks(parts).to_json() == whole.to_json()
        assert merged_checks(parts).answer().text() == whole.answer().text()
    with pytest.raises(UsageError, match="is a complete result"):
        merged_checks([("whole", whole)])


def test_the_first_error_is_told_whoever_finds_it(tmp_path: Path) -> None:
    text = HEAD + "spec:\n  cluster: zones=1,nodes=1\n  steps:\n    - fail: zone={}\n  expect: {{pending: 0}}\n"
    files = find_drills([written(tmp_path, "---\n".join(text.format(zone) for zone in ("zone-a", "b", "c")))])
    for workers in (1, 2):
        with pytest.raises(InputError, match=r"no node has .*zone=b"):
            check_drills(files, workers=workers)


def test_what_falls_short_in_any_of_the_drills_alike_falls_short() -> None:
    objects = [*nodes(*"abc"), workload("Deployment", replicas=6, spec={"topologySpreadConstraints": [spread()]})]
    found = told(objects, read_rollout("deploy/web", "rollout"))
    alike = sorted((found, *found.others), key=lambda each: each.workloads[0].spread[0].skew)
    mild = replace(alike[0], others=tuple(alike[1:]))
    skews = [each.workloads[0].spread[0].skew for each in alike]
    assert skews[0] < skews[-1]
    (shortfall,) = shortfalls(mild, Expectations(skew=skews[0]))
    assert f"(in {sum(each > skews[0] for each in skews)} of {found.runs} runs)" in shortfall.message
