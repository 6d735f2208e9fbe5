"""Every row of the page on the documentation's editions: our answer beside kube-scheduler's stored one."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import editions
from conformance.compare import validation_differences, verdict_differences

Json = dict[str, Any]
ROWS = {row["name"]: row for row in editions.rows()}
STORED = editions.stored()
JUDGED = [(name, version) for name, answers in STORED.items() for version in answers]
READ = [(name, version) for name, row in ROWS.items() for version in row.get("read", ())]


def test_every_row_is_judged_by_its_versions() -> None:
    assert list(STORED) == list(ROWS)
    assert {name: tuple(answers) for name, answers in STORED.items()} == {
        name: editions.versions(row) for name, row in ROWS.items()
    }


@pytest.mark.parametrize(("name", "version"), JUDGED)
def test_we_answer_as_kube_scheduler_does(name: str, version: str) -> None:
    row = ROWS[name]
    differences = validation_differences if editions.is_validated(row) else verdict_differences
    assert differences(editions.ours(row, version), STORED[name][version]) == []


@pytest.mark.parametrize("name", [name for name, answers in STORED.items() if len(answers) > 1])
def test_versions_that_are_judged_agree_with_each_other(name: str) -> None:
    outcomes = [editions.outcome(answer) for answer in STORED[name].values()]
    assert all(each["feasible"] == outcomes[0]["feasible"] for each in outcomes)


@pytest.mark.parametrize(("name", "version"), READ)
def test_versions_that_are_only_read(name: str, version: str) -> None:
    found = editions.outcome(editions.ours(ROWS[name], version))
    expected = {
        "min-domains-in-1.25": ["a1", "b1", "c1"],
        "default-constraints-of-1.18": ["a1", "b1"],
        "even-pods-spread-off": ["a1", "b1"],
        "even-pods-spread": ["b1"],
    }
    assert found["feasible"] == expected[name]


def test_each_row_sets_an_edition_apart_or_shows_that_all_agree() -> None:
    """A row in which nothing follows from any sentence shows nothing."""
    for name, row in ROWS.items():
        answers = STORED[name]
        found = editions.outcome(list(answers.values())[-1] if answers else editions.ours(row, row["read"][-1]))
        claims = [editions.follows(claim, found) for claim in row["editions"].values()]
        assert any(each is not None for each in claims)


def test_page_is_the_rows() -> None:
    assert editions.PAGE.read_text(encoding="utf-8") == editions.page()
