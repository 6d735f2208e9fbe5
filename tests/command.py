"""The command in a fork of the test's process: streams, signals and exit code of a process, without a Python's start.

Tests of the start itself, of terminals and of the installed programs start a process of their own.
"""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

from topospread.cli.main import main

PIPED = 60_000
"""Bytes that a pipe takes before somebody reads it."""

Done = subprocess.CompletedProcess[str]


def forked(
    *words: str | Path, cwd: Path | str = ".", env: Mapping[str, str] | None = None, stdin: str | None = None
) -> Done:
    """Run ``topospread`` with words, in a folder and an environment; ``stdin`` is piped in, and None is /dev/null."""
    arguments = ["topospread", *map(str, words)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        given = _piped((stdin or "").encode()) if stdin is not None else os.open(os.devnull, os.O_RDONLY)
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12: a fork of a process with threads
            process = os.fork()
        if not process:
            _run(arguments, (given, out.fileno(), error.fileno()), os.fspath(cwd), env)
        os.close(given)
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        out.seek(0)
        error.seek(0)
        return subprocess.CompletedProcess(
            arguments, code, out.read().decode(errors="surrogateescape"), error.read().decode(errors="surrogateescape")
        )


def _piped(data: bytes) -> int:
    """Return the end of a pipe that holds data."""
    assert len(data) <= PIPED
    readable, writable = os.pipe()
    os.write(writable, data)
    os.close(writable)
    return readable


def _run(arguments: list[str], streams: tuple[int, int, int], cwd: str, env: Mapping[str, str] | None) -> None:
    """Be the command; never return."""
    code = 70
    try:
        gc.freeze()  # the parent's objects would be copied to be looked at
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(cwd)
        if env is not None:
            os.environ.clear()
            os.environ.update(env)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr  # type: ignore[misc]
        sys.argv = arguments
        signal.signal(signal.SIGINT, signal.default_int_handler)
        logging.getLogger().handlers.clear()
        warnings.resetwarnings()
        for category in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
            warnings.simplefilter("ignore", category)
        try:
            main()
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else int(left.code is not None)
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)
