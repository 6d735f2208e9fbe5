"""Rejected pods of a log, with the sums at that time."""

from __future__ import annotations

from pathlib import Path

from tests.unit.drill.builders import node
from tests.unit.replay.builders import BEFORE, REAL, pod, record, refused, replayed
from topospread.answers.why_history import history_answer
from topospread.replay.replay import replay
from topospread.sources.load import load


def test_a_real_log_says_who_was_refused_by_which_sums_and_what_began_it() -> None:
    found = replay(load([BEFORE]), REAL)
    (each,) = found.refusals
    assert (each.pod, each.agrees, each.placed_on) == ("default/web-2", True, "c1")
    assert each.cause is not None
    assert (each.cause.what, each.cause.node) == ("cordoned", "c1")
    (told,) = history_answer(found).refusals
    assert [(one.domain, one.exceeds) for one in told.sums] == [("a", True), ("b", True), ("c", False)]
    assert [one[1:] for one in found.placed] == [
        ("default/web-0", "a1"),
        ("default/web-1", "b1"),
        ("default/web-2", "c1"),
    ]


def test_a_log_without_refusals_is_yes_and_unknown_if_changes_are_missing(tmp_path: Path) -> None:
    quiet = history_answer(replayed(tmp_path / "log"))
    assert (quiet.verdict, quiet.says) == ("yes", "no pod was rejected")
    bare = record(1, "patch", node("b1", "b", unschedulable=True))
    del bare["responseObject"]
    missing = history_answer(replayed(tmp_path / "log", bare))
    assert (missing.verdict, [each.what for each in missing.unjudged]) == ("unknown", ["log"])


def test_a_pod_that_waits_to_the_end_is_said(tmp_path: Path) -> None:
    cordoned = node("b1", "b", unschedulable=True)
    log = [record(1, "patch", cordoned), record(3, "create", pod("web-1")), refused(4, "web-1")]
    answer = history_answer(replayed(tmp_path / "log", *log))
    assert answer.says.startswith("1 pod was pending: shop/web-1 from ")
    assert answer.says.endswith("; it had no node at the end of the log")
    assert [each.code for each in answer.causes] == ["node-changed"]
