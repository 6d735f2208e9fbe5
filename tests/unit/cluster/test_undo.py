"""Savepoints nest, and undoing goes back through the recorded steps, newest first."""

from __future__ import annotations

import pytest

from topospread.cluster.undo import UndoLog


def test_nothing_is_recorded_without_a_savepoint() -> None:
    log = UndoLog()
    log.record(list)
    assert log.steps is None


def test_steps_are_undone_newest_first_down_to_a_length() -> None:
    log, undone = UndoLog(), []
    log.open()
    for number in range(3):
        log.record(undone.append, number)
    log.back_to(1)
    assert undone == [2, 1]
    assert log.steps is not None
    assert len(log.steps) == 1


def test_an_inner_savepoint_begins_at_the_steps_recorded_so_far() -> None:
    log = UndoLog()
    assert log.open() == 0
    log.record(list)
    assert log.open() == 1
    log.close()
    assert log.steps is not None
    log.close()
    assert log.steps is None


def test_undoing_records_no_steps() -> None:
    log = UndoLog()
    log.open()
    log.record(lambda: log.record(list))
    log.back_to(0)
    assert log.steps == []


def test_a_step_that_fails_leaves_the_older_ones() -> None:
    def fail() -> None:
        raise ValueError

    log = UndoLog()
    log.open()
    log.record(list)
    log.record(fail)
    with pytest.raises(ValueError, match=r"^$"):
        log.back_to(0)
    assert log.steps == [(list, ())]
