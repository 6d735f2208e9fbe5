"""Ctrl-C while several questions are answered: what was answered is shown, marked as partial."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tests.unit.drills.builders import nodes, workload
from topospread.cli.promise_check import check as command
from topospread.guarantees.proofs import Proof
from topospread.guarantees.questions import EndQuestion


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "all.yaml").write_text("\n---\n".join(map(json.dumps, [*nodes("a", "b"), workload("Deployment")])))
    return ["-f", str(tmp_path / "all.yaml"), "--never-pending", "--max-skew", "1"]


def press_at(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Press Ctrl-C while that question is looked at, from 1."""
    prove, asked = Proof.of, []

    def pressed(self: Proof, question: EndQuestion) -> str:
        asked.append(question)
        if len(asked) == number:
            raise KeyboardInterrupt
        return prove(self, question)

    monkeypatch.setattr(Proof, "of", pressed)


def test_answers_that_were_there_are_shown(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    press_at(2, monkeypatch)
    done = CliRunner().invoke(command, words, standalone_mode=False)
    assert done.return_value == 130
    assert done.stdout.startswith("always: no pod stays pending")
    assert done.stdout.splitlines()[-1] == (
        "1 of 1 question always; 3 pods in any order on 2 nodes; partial: ended in question 2 of 2"
    )


def test_they_do_not_hold_in_the_json(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    press_at(2, monkeypatch)
    found = json.loads(CliRunner().invoke(command, [*words, "-o", "json"], standalone_mode=False).stdout)
    assert (found["holds"], found["partial"], len(found["answers"])) == (False, "ended in question 2 of 2", 1)


def test_without_an_answer_there_is_nothing_to_show(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    press_at(1, monkeypatch)
    with pytest.raises(click.Abort):
        CliRunner().invoke(command, words, standalone_mode=False, catch_exceptions=False)
