from __future__ import annotations

import io
import sys

import pytest

from topospread.cli import terminal
from topospread.drill.forked import answers


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Let the test write to a terminal. No fixture: pytest exchanges the streams between a fixture and its test."""
    for name in ("NO_COLOR", "TERM", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    made = Screen()
    monkeypatch.setattr(sys, "stdout", made)
    monkeypatch.setattr(sys, "stderr", made)
    return made


def test_colour_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen(monkeypatch)
    assert terminal.has_colours("auto")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colour_where_the_environment_says_so(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    screen(monkeypatch)
    monkeypatch.setenv(name, value)
    assert not terminal.has_colours("auto")
    assert terminal.has_colours("always")


def test_an_empty_no_color_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen(monkeypatch)
    monkeypatch.setenv("NO_COLOR", "")
    assert terminal.has_colours("auto")


@pytest.mark.parametrize(
    ("columns", "width"), [("200", 200), ("", 80), ("0", 80), ("-9", 80), ("wide", 80), ("9" * 9, 80)]
)
def test_a_pipe_has_the_columns_of_the_environment(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", columns)
    assert terminal.width() == width


def test_no_colour_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert not terminal.has_colours("auto")
    assert terminal.width() == 80


def test_the_width_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    screen(monkeypatch)
    monkeypatch.setenv("COLUMNS", "132")
    assert terminal.width() == 132


def test_no_bar_where_nobody_sees_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with terminal.progress("reading") as bar:
        assert bar is None


class Clock:
    """Time as a test wants it; the command began at 0."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(terminal, "_BEGIN", 0.0)
        monkeypatch.setattr(terminal.time, "monotonic", lambda: self.now)


def test_a_bar_only_after_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = screen(monkeypatch), Clock(monkeypatch)
    with terminal.progress("reading") as bar:
        assert bar is not None
        clock.now = 0.9
        bar(1, 4)
        assert shown.getvalue() == ""
        clock.now = 1.5
        bar(2, 4)
        assert "reading" in shown.getvalue()
        assert "50%" in shown.getvalue()
        bar(3, 4)
        assert "75%" not in shown.getvalue(), "too soon to draw again"
    assert shown.getvalue().endswith("\r\x1b[2K")


def test_a_second_step_of_a_slow_command_shows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = screen(monkeypatch), Clock(monkeypatch)
    clock.now = 1.2
    with terminal.progress("placing"):
        assert "placing" in shown.getvalue()


def test_copies_of_the_process_draw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen(monkeypatch)
    assert terminal.draws_progress()
    assert answers(lambda _: terminal.draws_progress(), [0], 1) == [False]


def test_a_bar_without_a_known_end(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, clock = screen(monkeypatch), Clock(monkeypatch)
    with terminal.progress("reading") as bar:
        assert bar is not None
        clock.now = 2.0
        bar(3 << 20, None)
        assert "3 MiB" in shown.getvalue()


@pytest.mark.parametrize(("encoding", "text"), [("ascii", "a -> # - <= x ?"), ("latin-1", "a -> # - <= \xd7 ?")])
def test_signs_that_an_encoding_lacks_are_replaced(encoding: str, text: str) -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    terminal.print_anywhere(stream)
    stream.write("a → █ − ≤ × ✗")
    stream.flush()
    assert raw.getvalue().decode(encoding) == text


def test_utf_8_is_left_alone() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    terminal.print_anywhere(stream)
    assert stream.errors == "strict"
