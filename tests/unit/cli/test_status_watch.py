"""What ``status --watch`` prints again, and what it says of its age."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from topospread.api.inventory import Inventory
from topospread.cli.status_watch import Printed, Screen, Waiting, _made, check_watch, head_line
from topospread.errors import UsageError
from topospread.live.follow_state import FollowState

FRESH = FollowState(ready=True, version=1)
PATIENCE = 60.0
BEHIND = FollowState(ready=True, version=1, behind_since=100.0, problems={"pods": "connection refused"})


def test_the_age_and_the_reason_stand_in_the_head() -> None:
    assert head_line(FRESH, 135.0) == "1970-01-01T00:02:15Z  up to date"
    assert head_line(BEHIND, 135.0) == (
        "1970-01-01T00:02:15Z  not up to date: the last state is of 1970-01-01T00:01:40Z; pods: connection refused"
    )


def test_a_server_that_is_away_is_one_cause_and_not_a_list_of_all_resources() -> None:
    away = {f"resource-{number}": "the connection was refused" for number in range(20)} | {"pods": "it does not answer"}
    line = head_line(replace(BEHIND, problems=away), 135.0)
    assert line.endswith("1970-01-01T00:01:40Z; 21 resources cannot be followed: the connection was refused")


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
    assert shown.endswith("more: -n and -l show less\x1b[K\n\x1b[J")
    screen.mark(FRESH)
    assert capsys.readouterr().out == ""
    screen.mark(BEHIND)
    assert "not up to date" in capsys.readouterr().out
    screen.mark(FRESH)
    assert "up to date" in capsys.readouterr().out


class Noted(Screen):
    """A terminal that tells when something stands on it."""

    def __init__(self) -> None:
        super().__init__()
        self.waits = threading.Semaphore(0)

    def wait(self, why: str, seconds: float) -> None:
        super().wait(why, seconds)
        self.waits.release()


def test_until_there_is_a_status_a_terminal_shows_how_long_and_on_what_is_waited(
    capsys: pytest.CaptureFixture[str],
) -> None:
    screen = Noted()
    with Waiting(screen, prompt=0.01) as waiting:
        assert screen.waits.acquire(timeout=PATIENCE)
        waiting.why = "the cluster is being read"
        for _ in range(2):
            assert screen.waits.acquire(timeout=PATIENCE)
    screen.draw("a status\n", FRESH)
    shown = capsys.readouterr().out.split("\x1b[H")
    assert re.fullmatch(r"no answer from the API server yet, for \d+ s\x1b\[K\n\x1b\[J", shown[1])
    assert re.fullmatch(r"the cluster is being read, for \d+ s\x1b\[K\n\x1b\[J", shown[-2])
    assert "a status" in shown[-1]
    assert shown[-1].endswith("\x1b[J"), "nothing of the waiting is left"


def test_without_a_terminal_each_reason_to_wait_is_said_once_and_not_in_the_text(
    capsys: pytest.CaptureFixture[str],
) -> None:
    printed = Printed(plain=True)
    for seconds in (2.0, 3.0):
        printed.wait("no answer from the API server yet", seconds)
    printed.wait("the cluster is being read", 4.0)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "no answer from the API server yet, for 2 s\nthe cluster is being read, for 4 s\n"


def test_an_error_in_place_of_a_status_is_one_line() -> None:
    def fail(_: Inventory) -> str:
        raise UsageError("a\nyes: all is well")

    followed = SimpleNamespace(state=FRESH, inventory=Inventory)
    assert _made(fail, followed).text == "a\\nyes: all is well\n"  # type: ignore[arg-type]


def test_it_follows_a_live_cluster_and_nothing_else() -> None:
    given = {"paths": (), "cluster": None, "outputs": ()}
    check_watch(given)
    outputs = [{"outputs": (each,)} for each in (("html", "a.html"), ("svg", ""))]
    for more in ({"paths": ("a.json",)}, {"cluster": "zones=3"}, *outputs):
        with pytest.raises(UsageError, match=r"--watch requires|cannot be combined with --watch"):
            check_watch(given | more)
