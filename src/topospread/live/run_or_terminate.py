"""Run a coroutine that SIGTERM cancels like Ctrl-C, so that it can clean up.

An exception from a signal handler could interrupt the event loop between taking a task from its queue and running it.
The task would be lost, and its waiters would wait forever. asyncio.Runner uses the same method for SIGINT.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


def _nothing() -> None:
    """Do nothing; no task can be cancelled at this moment."""


@dataclass(slots=True)
class _Termination:
    """Records a SIGTERM, and the task to cancel."""

    asked: bool = False
    cancel: Callable[[], object] = _nothing

    def take(self, number: int, frame: object) -> None:
        """Handle the signal."""
        self.asked = True
        self.cancel()


def run_or_terminate(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run the coroutine like `asyncio.run`, in the main thread. Restore SIGTERM's handler afterwards.

    Raises:
        KeyboardInterrupt: after SIGTERM or SIGINT, once the coroutine has ended.
    """
    termination = _Termination()

    async def cancellable() -> T:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        termination.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            if termination.asked:  # before there was a task to cancel
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
