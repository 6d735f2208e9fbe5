"""Run a fuzz case in this process and say what is wrong with the answer."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from topospread.cli.main import main

from .cases import Case

SECONDS = 10
MEGABYTES = 700
ACCEPTED = frozenset({0, 1, 2, 4})


class TimeLimitError(BaseException):
    """A case takes longer than it may; no handler of a command catches this."""


class Answer:
    """The exit code and the output of a command."""

    def __init__(self, code: object, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err


def problem_of(case: Case) -> str:
    """Return what is wrong with the answer to a case, "" if nothing is."""
    try:
        answer = answer_to(case)
    except TimeLimitError:
        where = "".join(traceback.format_exc().splitlines(keepends=True)[-12:])
        return f"more than {SECONDS} s\n{where}"
    except MemoryError:
        return f"more than {MEGABYTES} MB\n{traceback.format_exc()}"
    except BaseException:
        return f"an exception left the command\n{traceback.format_exc()}"
    if answer.code not in ACCEPTED:
        return f"exit code {answer.code}\n{answer.err[-6000:]}"
    if "Traceback (most recent call last)" in answer.err + answer.out:
        return f"a traceback\n{answer.err[-6000:]}"
    return ""


def answer_to(case: Case) -> Answer:
    """Run a case in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="topospread-fuzz-") as folder, _inside(folder), _limits():
        for name, data in case.files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(data)
        return _answer(case)


def _answer(case: Case) -> Answer:
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    before = sys.argv, sys.stdin, sys.stdout, sys.stderr
    threshold = gc.get_threshold()
    sys.argv, sys.stdout, sys.stderr = ["topospread", *case.arguments], out, err
    sys.stdin = None if case.stdin is None else io.TextIOWrapper(io.BytesIO(case.stdin))  # type: ignore[assignment]
    code: object = None
    try:
        main()
    except SystemExit as left:
        code = left.code
    finally:
        sys.argv, sys.stdin, sys.stdout, sys.stderr = before
        gc.set_threshold(*threshold)
    return Answer(code, *(each.buffer.getvalue().decode("utf-8") for each in (out, err)))  # type: ignore[attr-defined]


@contextlib.contextmanager
def _inside(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    os.environ["TOPOSPREAD_DEBUG"] = "1"
    try:
        yield
    finally:
        os.chdir(before)
        del os.environ["TOPOSPREAD_DEBUG"]


@contextlib.contextmanager
def _limits() -> Iterator[None]:
    """Limit the time of the block and what memory it may add to the process."""

    def stop(*_: Any) -> None:
        raise TimeLimitError

    own = os.getpid()
    handler = signal.signal(signal.SIGALRM, stop)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (MEGABYTES << 20), hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        if os.getpid() == own:
            signal.setitimer(signal.ITIMER_REAL, 0)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            signal.signal(signal.SIGALRM, handler)
