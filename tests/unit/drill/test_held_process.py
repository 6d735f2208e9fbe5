"""A process that holds something: it is asked again and again, bounded in memory, and ended at once."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from functools import partial

import pytest

from topospread.drill import held_process
from topospread.drill.held_process import AbandonedError, HeldProcess, Told
from topospread.errors import UsageError
from topospread.scheduling.verdict import Verdict


def add(number: int, held: list[int], _: Told) -> int:
    held.append(number)
    return sum(held)


def works_for_long(_: list[int], told: Told) -> None:
    told("on its way")
    time.sleep(600)


def refuse(_: list[int], __: Told) -> None:
    raise UsageError("no such thing")


def take(size: int, _: list[int], __: Told) -> int:
    return len(bytearray(size))


def leave(_: list[int], __: Told) -> None:
    os._exit(1)


class Scores:
    """Totals that are computed once the event is set."""

    def __init__(self, known: threading.Event) -> None:
        self.known, self.asked = known, threading.Event()

    @property
    def total(self) -> dict[str, int]:
        self.asked.set()
        self.known.wait()
        return {"node-1": 9, "node-2": 7}


def best(scores: Scores) -> tuple[str, ...]:
    found: tuple[str, ...] = vars(Verdict)["best"].__get__(scores)
    return found


def best_of_known(_: list[int], __: Told) -> tuple[str, ...]:
    known = threading.Event()
    known.set()
    return best(Scores(known))


@pytest.fixture
def process() -> Iterator[HeldProcess[list[int]]]:
    made = HeldProcess([1], list)
    yield made
    made.end()


def ask(process: HeldProcess[list[int]], number: int) -> int:
    return process.ask(partial(add, number), lambda: False, print)


def test_it_keeps_what_questions_change_and_the_original_stays(process: HeldProcess[list[int]]) -> None:
    assert [ask(process, 2), ask(process, 3)] == [3, 6]


def test_an_error_is_raised_here_and_the_process_goes_on(process: HeldProcess[list[int]]) -> None:
    with pytest.raises(UsageError, match="no such thing"):
        process.ask(refuse, lambda: False, print)
    assert ask(process, 2) == 3


def test_a_property_that_another_thread_computes_at_the_fork_can_be_computed_in_the_process() -> None:
    slow, until = Scores(threading.Event()), time.monotonic() + 30
    thread = threading.Thread(target=best, args=(slow,))
    thread.start()
    slow.asked.wait()
    process = HeldProcess([1], list)
    try:
        assert process.ask(best_of_known, lambda: time.monotonic() > until, print) == ("node-1",)
    finally:
        slow.known.set()
        thread.join()
        process.end()


def test_work_that_nobody_waits_for_ends_at_once(process: HeldProcess[list[int]]) -> None:
    said: list[str] = []
    with pytest.raises(AbandonedError):
        process.ask(works_for_long, lambda: bool(said), said.append)
    assert said == ["on its way"]
    assert not process._process.is_alive()


def test_a_process_that_takes_too_much_memory_says_so(
    process: HeldProcess[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_process, "MOST_MEMORY", 1 << 30)
    small = HeldProcess([1], list)
    with pytest.raises(UsageError, match="more than 1 GiB of memory"):
        small.ask(partial(take, 2 << 30), lambda: False, print)
    small.end()


def test_a_process_that_dies_is_an_error_and_no_wait_for_ever(process: HeldProcess[list[int]]) -> None:
    with pytest.raises(UsageError, match="process that computed this answer ended early"):
        process.ask(leave, lambda: False, print)


def test_a_system_without_fork_holds_it_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_process, "can_fork", lambda: False)
    assert [ask(HeldProcess([1], list), 2)] == [2]
