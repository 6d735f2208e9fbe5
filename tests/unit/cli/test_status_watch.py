"""What ``status --watch`` prints again, and what it says of its age."""

from __future__ import annotations

import re

import pytest

from topospread.cli.status_watch import Printed, Screen, check_watch, head_line
from topospread.errors import UsageError
from topospread.live.follow_state import FollowState

FRESH = FollowState(ready=True, version=1)
BEHIND = FollowState(ready=True, version=1, behind_since=100.0, problems={"pods": "connection refused"})


def test_the_age_and_the_reason_stand_in_the_head() -> None:
    assert head_line(FRESH, 135.0) == "1970-01-01T00:02:15Z  up to date"
    assert head_line(BEHIND, 135.0) == "1970-01-01T00:02:15Z  not up to date for 35 s: pods: connection refused"


def test_without_a_terminal_only_another_text_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = Printed(plain=True)
    for text in ("one\n", "one\n", "two\n"):
        printed.draw(text, FRESH)
    for state in (FRESH, BEHIND, BEHIND, FRESH):
        printed.mark(state)
    shown = capsys.readouterr()
    assert shown.out == "one\ntwo\n"
    assert [re.sub(r"^(warning: )?\S+  ", r"\1", line) for line in shown.err.splitlines()][1:] == ["up to date"]
    assert shown.err.startswith("warning: ")


def test_a_terminal_is_drawn_in_place_and_no_line_is_left_below(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "6")
    monkeypatch.setenv("COLUMNS", "80")
    screen = Screen()
    screen.draw("".join(f"line {number}\n" for number in range(9)), FRESH)
    shown = capsys.readouterr().out
    assert shown.count("\n") == 5
    assert shown.endswith("more: -o summary, -n and -l show less\x1b[K\n\x1b[J")
    screen.mark(FRESH)
    assert capsys.readouterr().out == ""
    screen.mark(BEHIND)
    assert "not up to date" in capsys.readouterr().out
    screen.mark(FRESH)
    assert "up to date" in capsys.readouterr().out


def test_it_follows_a_live_cluster_and_nothing_else() -> None:
    given = {"paths": (), "cluster": None, "check": False}
    check_watch(given)
    for more in ({"paths": ("a.json",)}, {"cluster": "zones=3"}, {"check": True}):
        with pytest.raises(UsageError, match=r"--watch follows|--check is"):
            check_watch(given | more)
