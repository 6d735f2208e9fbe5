"""SIGTERM ends a coroutine as Ctrl-C does: where it waits, and never between two steps of the event loop."""

from __future__ import annotations

import asyncio
import signal

import pytest

from topospread.live.run_or_terminate import run_or_terminate

PATIENCE = 60.0


def test_without_the_signal_it_is_as_without_this() -> None:
    async def work() -> str:
        return "done"

    async def failing() -> str:
        raise LookupError("what went wrong")

    before = signal.getsignal(signal.SIGTERM)
    assert run_or_terminate(work) == "done"
    with pytest.raises(LookupError, match="what went wrong"):
        run_or_terminate(failing)
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_signal_cancels_where_the_coroutine_waits() -> None:
    happened: list[str] = []

    async def beside() -> None:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            happened.append("what ran beside has ended")

    async def work() -> None:
        task = asyncio.create_task(beside())
        await asyncio.sleep(0)
        signal.raise_signal(signal.SIGTERM)
        happened.append("the step was finished")
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            happened.append("what was begun is taken back")

    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        run_or_terminate(work)
    assert happened == ["the step was finished", "what ran beside has ended", "what was begun is taken back"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_within_a_callback_of_the_loop_loses_nothing() -> None:
    """A task whose first step an exception takes away is waited for until the process is killed."""
    happened: list[str] = []

    async def work() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(signal.raise_signal, signal.SIGTERM)
        loop.call_soon(happened.append, "the next callback")
        await asyncio.sleep(PATIENCE)

    with pytest.raises(KeyboardInterrupt):
        run_or_terminate(work)
    assert happened == ["the next callback"]


def test_a_signal_that_comes_when_all_is_done_still_ends_the_command() -> None:
    async def work() -> str:
        signal.raise_signal(signal.SIGTERM)
        return "done"

    with pytest.raises(KeyboardInterrupt):
        run_or_terminate(work)


def test_what_cancels_itself_was_not_terminated() -> None:
    async def work() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run_or_terminate(work)
