"""Pods in flight and the events since each was popped; events that nobody needs are dropped, and an undo is exact."""

from __future__ import annotations

from typing import Any

from topospread.cluster.undo import UndoLog
from topospread.scheduling.in_flight import InFlight

A, B, C, D = events = tuple("ABCD")


def happen(it: InFlight, *names: Any) -> None:
    for each in names:
        it.happened(each)


def test_events_since_a_pod_was_popped() -> None:
    it = InFlight(UndoLog())
    happen(it, A)
    it.start("1")
    happen(it, B)
    it.start("2")
    happen(it, C)
    assert (it.since("1"), it.since("2"), it.since("3")) == ([B, C], [C], None)
    assert (it.uids, it.events, len(it), "1" in it, "3" in it) == (("1", "2"), (B, C), 2, True, False)


def test_events_are_dropped_with_the_first_pod_that_needs_them() -> None:
    it = InFlight(UndoLog())
    it.start("1")
    happen(it, A)
    it.start("2")
    happen(it, B)
    it.end("1")
    assert (it.events, it.since("2")) == ((B,), [B])
    it.start("3")
    happen(it, C)
    it.end("3")
    assert (it.events, it.since("2")) == ((B, C), [B, C])
    it.end("unknown")
    it.end("2")
    assert (it.events, it.uids) == ((), ())
    it.start("4")
    happen(it, D)
    assert it.since("4") == [D]


def test_every_step_is_undone() -> None:
    undo = UndoLog()
    it = InFlight(undo)
    it.start("1")
    happen(it, A)
    it.start("2")
    happen(it, B)
    before = (it.uids, it.events, it.since("1"), it.since("2"))
    for steps in (
        lambda: it.start("3"),
        lambda: happen(it, C),
        lambda: it.end("1"),
        lambda: (it.end("1"), it.end("2"), it.start("5"), happen(it, D), it.end("5")),
    ):
        length = undo.open()
        steps()
        undo.back_to(length)
        undo.close()
        assert (it.uids, it.events, it.since("1"), it.since("2")) == before
        assert "3" not in it
