"""``-o FORMAT[=FILE]``: several formats of one answer, and the exit code of its verdict."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from topospread.answer import Answer
from topospread.base import Word
from topospread.cli.output import check_outputs, output_options, wants, write_answer
from topospread.errors import UsageError
from topospread.render.blocks import Fact, Page, Section, Verdict


class Small(Answer, frozen=True, kw_only=True):
    PAGE = "tests.unit.cli.test_output:small_page"


def small_page(answer: Answer) -> Page:
    hidden = Section("More", (Fact("note", "all of it"),), wide=True)
    return Page("small", (Verdict(answer.verdict, answer.says), hidden))


def command(verdict: Word) -> click.Command:
    @click.command()
    @output_options("name")
    def small(**given: Any) -> int:
        check_outputs(given)
        answer = Small(kind="Small", verdict=verdict, says="6 pods find nodes")
        return write_answer(answer, {**given, "color": "auto"}, {"name": lambda: "web-0\n"})

    return small


def run(*words: str, verdict: Word = "yes") -> tuple[str, int]:
    done = CliRunner().invoke(command(verdict), list(words), standalone_mode=False)
    if done.exception:
        raise done.exception
    return done.output, done.return_value


def test_without_o_text_is_printed() -> None:
    assert run() == ("yes: 6 pods find nodes\n", 0)
    assert run("-o", "wide") == ("yes: 6 pods find nodes\n\nMore\nnote: all of it\n", 0)


def test_one_run_writes_several_formats(tmp_path: Path) -> None:
    text, _ = run("-o", f"json={tmp_path / 'a.json'}", "-o", f"md={tmp_path / 'a.md'}", "-o", "name")
    assert text == "web-0\n"
    assert json.loads((tmp_path / "a.json").read_text())["says"] == "6 pods find nodes"
    assert (tmp_path / "a.md").read_text().startswith("### ✅ 6 pods find nodes\n")
    assert run("-o", f"json={tmp_path / 'a.json'}")[0] == "yes: 6 pods find nodes\n"


@pytest.mark.parametrize(
    ("words", "verdict", "code"),
    [
        ((), "no", 1),
        ((), "unknown", 4),
        (("--allow-unknown",), "unknown", 0),
        (("--allow-unknown",), "no", 1),
        (("--exit-zero",), "no", 0),
    ],
)
def test_the_exit_code_is_the_verdicts(words: tuple[str, ...], verdict: Word, code: int) -> None:
    assert run(*words, verdict=verdict)[1] == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-o", "jsn"), "-o jsn: did you mean json?"),
        (("-o", "pdf"), "-o pdf: formats are text, wide, json, yaml, md, html, svg, name"),
        (("-o", "json="), "-o json=: name a file, or write -o json"),
        (("-o", "json", "-o", "md"), "-o json and -o md both print: write one to a file, -o md=FILE"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: tuple[str, ...], message: str) -> None:
    with pytest.raises((click.ClickException, UsageError), match=re.escape(message)):
        run(*words)


def test_wants() -> None:
    assert wants({"outputs": (("json", "a.json"),)}, "json", "yaml")
    assert not wants({"outputs": ()}, "json")
