"""Runs a coroutine for which SIGTERM is what Ctrl-C is: it is cancelled where it waits, and takes back what it began.

An exception out of a signal's handler would come anywhere in the event loop, also where a task that was just taken off
the loop's queue is lost by it; who waits for that task waits for ever. asyncio.Runner does the same for SIGINT.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def _nothing() -> None:
    """There is nothing to cancel yet, or any more."""


@dataclass(slots=True)
class _Termination:
    """The record of a SIGTERM, and the task that it cancels."""

    asked: bool = False
    cancel: Callable[[], object] = _nothing

    def take(self, number: int, frame: object) -> None:
        """The signal's handler."""
        self.asked = True
        self.cancel()


def run_or_terminate(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """`asyncio.run` in the main thread; the handler of SIGTERM is afterwards what it was before.

    Raises:
        KeyboardInterrupt: SIGTERM or SIGINT came; the coroutine has ended.
    """
    termination = _Termination()

    async def cancellable() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        termination.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            if termination.asked:  # before there was anything to cancel
                raise asyncio.CancelledError
            return await work()
        finally:
            termination.cancel = _nothing

    before = signal.signal(signal.SIGTERM, termination.take)
    try:
        result = asyncio.run(cancellable())
    except asyncio.CancelledError:
        if not termination.asked:
            raise
    finally:
        signal.signal(signal.SIGTERM, before)
    if termination.asked:
        raise KeyboardInterrupt
    return result
