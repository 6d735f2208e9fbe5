"""Run a function in forked copies of this process, each starting from the current state.

Forked processes share memory until they write to it, so a large cluster is built only once. `can_fork` returns False on
systems without fork.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TypeVar

from .interruption import Interrupted

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_TRIES = 2
"""Attempts for an item whose process died."""


def can_fork() -> bool:
    """Return whether this process can fork.

    Workers and a `HeldProcess` cannot: they are daemon processes, since they may be killed at any time, and Python lets
    no daemon process start children.
    """
    return "fork" in multiprocessing.get_all_start_methods() and not multiprocessing.current_process().daemon


def cores() -> int:
    """Return how many processes can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers(
    ask: Callable[[Item], Answer],
    items: Sequence[Item],
    workers: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Answer]:
    """Compute the answers for items in forked processes, ``workers`` at a time; return them in the items' order.

    Raises:
        ChildProcessError: if an item's process died twice.
        Exception: the exception of a function call.
        Interrupted: on Ctrl-C, with the answers so far.
    """
    found: dict[int, Answer] = {}
    gc.freeze()  # a garbage collection in a child would write to shared memory
    try:
        for number, answer in _as_they_come(ask, items, workers):
            found[number] = answer
            if progress is not None:
                progress(len(found), len(items))
    except KeyboardInterrupt:
        raise Interrupted([found[number] for number in sorted(found)]) from None
    finally:
        gc.unfreeze()
    return [found[number] for number in range(len(items))]


def _as_they_come(ask: Callable[[Item], Answer], items: Sequence[Item], workers: int) -> Iterator[tuple[int, Answer]]:
    waiting = [(number, 1) for number in reversed(range(len(items)))]
    running: dict[Connection, tuple[int, int, BaseProcess]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                number, attempt = waiting.pop()
                connection, process = _begun(ask, items[number])
                running[connection] = (number, attempt, process)
            for ready in wait(list(running)):
                assert isinstance(ready, Connection)
                number, attempt, process = running.pop(ready)
                answer: tuple[Answer, Exception | None] | None = _received(ready)
                process.join()
                if answer is None and attempt == _TRIES:
                    how = f"signal {-code}" if (code := process.exitcode or 0) < 0 else f"exit code {code}"
                    raise ChildProcessError(f"the process for {items[number]} died twice ({how})")
                if answer is None:
                    waiting.append((number, attempt + 1))
                    continue
                if isinstance(answer[1], Exception):
                    raise answer[1]
                yield number, answer[0]
    finally:
        for _, _, process in running.values():
            process.terminate()


def _begun(ask: Callable[[Item], Answer], item: Item) -> tuple[Connection, BaseProcess]:
    here, there = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=_answer, args=(ask, item, there), daemon=True)
    process.start()
    there.close()
    return here, process


def _answer(ask: Callable[[Item], Answer], item: Item, connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends Ctrl-C to children, too
    try:
        connection.send((ask(item), None))
    except Exception as error:
        connection.send((None, _sendable(error)))


def _sendable(error: Exception) -> Exception:
    """Return the error, or a RuntimeError with its message if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _received(connection: Connection) -> tuple[Answer, Exception | None] | None:
    """Return the result from a process; None if it died first."""
    try:
        received: tuple[Answer, Exception | None] = connection.recv()
    except EOFError:
        return None
    finally:
        connection.close()
    return received
