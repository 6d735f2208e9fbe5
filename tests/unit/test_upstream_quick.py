"""What `make upstream` makes of its list and of what Go prints: nothing that is listed can go missing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.upstream import quick

PRINTED = """=== RUN   TestA
    --- PASS: TestA/one (1.00s)
    --- FAIL: TestA/two,_zone_2/1 (1.00s)
    --- SKIP: TestA/three (0.00s)
--- FAIL: TestA (2.00s)
"""


def test_cases_are_read_by_package() -> None:
    assert quick.listed("# a word\n\ntaint TestA\nfilters TestB/x\ntaint TestC\n") == {
        "taint": ["TestA", "TestC"],
        "filters": ["TestB/x"],
    }


def test_the_list_names_each_case_once() -> None:
    listed = quick.listed((quick.HERE / "quick.txt").read_text())
    assert all(listed.values())
    assert all(len(names) == len(set(names)) for names in listed.values())


def test_exactly_the_listed_cases_are_asked_for() -> None:
    name = "TestA/place_on_2/0_with_{1,2},_isn't_<_(all)"
    levels = quick.pattern([name]).split("/")
    assert [bool(re.match(each, part)) for each, part in zip(levels, name.split("/"), strict=True)] == [True] * 3
    assert not re.match(levels[0], "TestAlso")
    assert quick.pattern(["A", "B/c"]) == "^A$|^B$/^c$"


def test_verdicts_are_read_as_go_prints_them() -> None:
    assert quick.verdicts(PRINTED) == {
        "TestA": "FAIL",
        "TestA/one": "PASS",
        "TestA/two,_zone_2/1": "FAIL",
        "TestA/three": "SKIP",
    }


def test_what_was_judged_with_kubernetes_own_scheduler_is_no_verdict() -> None:
    assert quick.verdicts(f"{PRINTED}EXTERNAL: no: the test brings its own Go plugins\n") == {}


def test_a_case_that_fails_once_is_tried_again_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[list[str]] = []

    def run(binary: Path, names: list[str], log: Path) -> dict[str, str]:
        asked.append(names)
        return {name: "FAIL" if name == "slow" and len(asked) == 1 else "PASS" for name in names}

    monkeypatch.setattr(quick, "run", run)
    assert quick.judged(tmp_path / "taint.test", ["fine", "slow"], tmp_path / "log") == {}
    assert asked == [["fine", "slow"], ["slow"]]


def test_a_case_that_fails_thrice_or_is_not_run_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(quick, "run", lambda binary, names, log: {"bad": "FAIL", "fine": "PASS"})
    left = quick.judged(tmp_path / "taint.test", ["fine", "bad", "renamed"], tmp_path / "log")
    assert left == {"bad": "FAIL", "renamed": "not run"}
