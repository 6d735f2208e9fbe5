"""Records of an audit log: changes, failed requests, and lines that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.drill.builders import inventory, node
from tests.unit.replay.builders import bound, record, replayed
from topospread.errors import InputError
from topospread.replay.replay import replay


def test_what_is_logged_without_what_changed_is_counted_and_said(tmp_path: Path) -> None:
    bare = record(1, "patch", node("b1", "b", unschedulable=True))
    del bare["responseObject"]
    found = replayed(tmp_path / "log", bare, bound(2, "unknown", "a1"))
    assert found.alterations == ()
    assert found.warnings[0].startswith("2 changes of nodes and pods are not replayed: the log lacks the objects")


def test_what_was_before_the_snapshot_is_left_out(tmp_path: Path) -> None:
    log = [record(at, "patch", node(f"{zone}1", zone, unschedulable=True)) for at, zone in ((1, "b"), (5, "a"))]
    found = replayed(tmp_path / "log", *log, since="2026-01-01T00:00:03Z")
    assert [each.node for each in found.alterations] == ["a1"]


def test_requests_that_failed_changed_nothing(tmp_path: Path) -> None:
    failed = record(1, "patch", node("b1", "b", unschedulable=True), responseStatus={"code": 409})
    assert replayed(tmp_path / "log", failed).alterations == ()


@pytest.mark.parametrize("line", ["{", "[]", '{"kind": "Pod"}'])
def test_a_line_that_is_no_record_is_refused_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log"
    path.write_text(f"\n{line}\n")
    with pytest.raises(InputError) as raised:
        replay(inventory(node("a1", "a")), path)
    assert raised.value.place.line == 2


def test_a_log_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        replay(inventory(node("a1", "a")), tmp_path / "none")
