"""Drills of files are run and compared with their expectations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.unit.drill.test_drill_file import HEAD, written
from topospread.drill.checking import check_drills, merged_checks
from topospread.drill.drill_file import DrillFile, find_drills
from topospread.drill.saved import read_check
from topospread.drill.shards import Shard
from topospread.errors import InputError, UsageError
from topospread.render.github import github
from topospread.render.junit import junit

from .builders import workload

ROOT = Path(__file__).parents[3]


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
