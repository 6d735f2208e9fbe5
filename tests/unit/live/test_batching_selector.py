"""A loop that is woken all the time sees to several things together, one that is woken rarely to each at once."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from topospread.live import batching_selector
from topospread.live.batching_selector import BatchingSelector

REST = 0.2


@contextmanager
def listening(count: int = 1) -> Iterator[tuple[BatchingSelector, list[socket.socket]]]:
    """A selector of some sockets, and their other ends."""
    with ExitStack() as opened, BatchingSelector() as selector:
        others = []
        for _ in range(count):
            ours, theirs = socket.socketpair()
            opened.enter_context(ours)
            others.append(opened.enter_context(theirs))
            selector.register(ours, selectors.EVENT_READ)
        yield selector, others


def take(selector: BatchingSelector, timeout: float | None) -> tuple[float, int]:
    """How long a wait took, and how many sockets could be read at its end."""
    began = time.monotonic()
    events = selector.select(timeout)
    waited = time.monotonic() - began
    for key, _ in events:
        assert isinstance(key.fileobj, socket.socket)
        key.fileobj.recv(1000)
    return waited, len(events)


def busy(selector: BatchingSelector, other: socket.socket) -> None:
    """Much comes, one after another."""
    for _ in range(4):
        other.send(b".")
        waited, came = take(selector, None)
        assert (waited < REST / 2, came) == (True, 1)


def test_the_first_are_told_of_at_once_and_those_that_follow_them_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching_selector, "_REST", REST)
    with listening(2) as (selector, (one, other)):
        busy(selector, one)
        for _ in range(2):
            one.send(b".")
            later = threading.Timer(REST / 4, other.send, [b"."])
            later.start()
            waited, came = take(selector, None)
            assert (waited >= REST, came) == (True, 2)


def test_where_only_one_has_come_the_next_are_told_of_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching_selector, "_REST", REST)
    with listening() as (selector, (other,)):
        busy(selector, other)
        other.send(b".")
        waited, came = take(selector, None)
        assert (waited >= REST, came) == (True, 1)
        busy(selector, other)


def test_once_nothing_has_come_for_a_while_the_next_is_told_of_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching_selector, "_REST", 0.01)
    with listening() as (selector, (other,)):
        busy(selector, other)
        waited, came = take(selector, 0.1)
        assert (waited > 0.09, came) == (True, 0)
        monkeypatch.setattr(batching_selector, "_REST", 60.0)
        other.send(b".")
        assert take(selector, None)[1] == 1


def test_what_is_due_meanwhile_is_waited_for_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching_selector, "_REST", 60.0)
    with listening() as (selector, (other,)):
        busy(selector, other)
        assert take(selector, 0.01) == (pytest.approx(0.01, abs=0.5), 0)
        assert take(selector, 0)[1] == 0
