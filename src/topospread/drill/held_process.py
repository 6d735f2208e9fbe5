"""A forked process that keeps an object and runs functions on it, one at a time. It can be killed."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, Generic, TypeVar, cast

from topospread.errors import TopospreadError, UsageError

from .forked import can_fork

MOST_MEMORY: Final = 4 << 30
"""Bytes that a process may use in addition to shared memory."""
_LOOK: Final = 0.05
_MOST_FILES: Final = 4096
_COUNT: Final = re.compile(r"(?<!\S)\d[\d,]*(?!\S)")

T = TypeVar("T")
Held = TypeVar("Held")
Told = Callable[[str], None]


class AbandonedError(UsageError):
    """The client of a question no longer waits for the answer."""


class HeldProcess(Generic[Held]):
    """A forked process that answers one question at a time. On systems without fork, this process answers.

    Args:
        held: the object that questions are about. Questions may change it, because the process has its own copy.
        anew: function that creates a separate object, for systems without fork.
    """

    def __init__(self, held: Held, anew: Callable[[], Held]) -> None:
        self._lock = threading.Lock()
        self._held = None if can_fork() else anew()
        if self._held is None:
            self._here, there = multiprocessing.Pipe()
            fork = multiprocessing.get_context("fork")
            self._process = fork.Process(target=_serve, args=(held, there), daemon=True)
            self._process.start()
            there.close()

    def ask(self, question: Callable[[Held, Told], T], is_over: Callable[[], bool], told: Told) -> T:
        """Answer a question in the process.

        Args:
            question: a picklable function.
            is_over: function that returns True once the client no longer waits; the process is then killed.
            told: receives progress messages.

        Raises:
            AbandonedError: if the client no longer waits.
            TopospreadError: if the question fails, or the process needs too much memory.
        """
        with self._lock:
            if is_over():
                raise AbandonedError("it was cancelled")
            if self._held is not None:
                return question(self._held, told)
            try:
                self._here.send(question)
                while True:
                    while not self._here.poll(_LOOK):
                        if is_over():
                            self.end()
                            raise AbandonedError("it was cancelled")
                    kind, value = self._here.recv()
                    if kind == "error":
                        raise value
                    if kind == "answer":
                        return cast(T, value)
                    told(value)
            except (EOFError, OSError):
                raise UsageError(
                    "the process that computed this answer ended early; it may have needed too much memory"
                ) from None

    @property
    def is_busy(self) -> bool:
        """True while a question is being answered."""
        return self._lock.locked()

    def end(self) -> None:
        """Kill the process."""
        if self._held is None:
            self._process.kill()
            self._process.join()


def _serve(held: Held, connection: Connection) -> None:
    """Answer questions until the parent closes its end. The parent's sockets and signal handlers are not used."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    own = connection.fileno()
    os.closerange(3, own)
    os.closerange(own + 1, _MOST_FILES)
    gc.freeze()  # a garbage collection would write to shared memory
    _release_cached_properties()
    _bound_memory()
    last, stage = 0.0, ""

    def told(words: str) -> None:
        nonlocal last, stage
        # New counts of the same work are sent from time to time. New work may last long without a further message.
        if stage != (stage := _COUNT.sub("", words)) or time.monotonic() - last > 2 * _LOOK:
            last = time.monotonic()
            connection.send(("progress", words))

    with suppress(EOFError, OSError):
        while True:
            question = connection.recv()
            try:
                answer: tuple[str, Any] = ("answer", question(held, told))
            except MemoryError:
                answer = ("error", UsageError(f"this takes more than {MOST_MEMORY >> 30} GiB of memory"))
            except TopospreadError as error:
                answer = ("error", _sendable(error))
            connection.send(answer)


def _release_cached_properties() -> None:
    """Give each cached_property of topospread's classes a new lock; Python 3.11 has one in each.

    A thread of the parent may have held it at the fork. That thread does not exist here and would never release it.
    """
    for name, module in [*sys.modules.items()]:
        for kind in vars(module).values() if name.startswith("topospread.") else ():
            for each in vars(kind).values() if isinstance(kind, type) else ():
                if isinstance(each, cached_property):
                    vars(each).update(lock=threading.RLock())


def _bound_memory() -> None:
    with suppress(ImportError, OSError, ValueError):
        import resource

        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + MOST_MEMORY, taken + MOST_MEMORY))


def _sendable(error: TopospreadError) -> TopospreadError:
    try:
        pickle.loads(pickle.dumps(error))
    except TypeError:
        return UsageError(str(error))
    return error
