"""The programs that answer cases: kube-scheduler's own plugins (built when needed) and ours. Compares nothing.

A program reads JSON objects, one a line, and writes one line each, in order.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.kept import kept

ROOT = Path(__file__).resolve().parent.parent
ORACLE_SOURCE = ROOT / "conformance" / "oracle"
ORACLE_BUILD = ROOT / "build" / "oracle"

Json = dict[str, Any]


class ProgramError(Exception):
    """A program cannot be built, is not there, or its output is no use; says what to do."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program and how to start it."""

    name: str
    command: list[str]

    def start(self, cases: Path, output: Path) -> Running:
        """Set it to work on a file of cases; its output stays in ``output``, for looking at."""
        errors = output.with_suffix(".stderr")
        with cases.open("rb") as stdin, output.open("wb") as stdout, errors.open("wb") as stderr:
            process = subprocess.Popen(self.command, stdin=stdin, stdout=stdout, stderr=stderr, env=_environment())
        return Running(self.name, process, output, errors)

    def output(self) -> str:
        """What it prints when run to its end.

        Raises:
            ProgramError: it ended with another code than 0.
        """
        done = subprocess.run(self.command, stdout=subprocess.PIPE, text=True, check=False, env=_environment())
        if done.returncode:
            raise ProgramError(f"{self.name} ended with exit code {done.returncode}")
        return done.stdout


@dataclass(frozen=True, slots=True)
class Run:
    """What a program answered: the parsed lines, in order, and why it stopped early if it did."""

    answers: list[Json]
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Running:
    """A program at work."""

    name: str
    process: subprocess.Popen[bytes]
    output: Path
    errors: Path

    def wait(self) -> Run:
        """Wait for the end and read the answers."""
        status = self.process.wait()
        answers: list[Json] = []
        with self.output.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    answers.append(json.loads(line))
                except ValueError as error:
                    return Run(answers, f"line {number} of the output of {self.name} is not JSON: {error}")
        if not status:
            return Run(answers)
        said = self.errors.read_text(encoding="utf-8", errors="replace").strip()
        return Run(answers, f"{self.name} ended with exit code {status} after {len(answers)} answers\n{said[-2000:]}")


def python_program(path: Path, *arguments: str) -> Program:
    """One of our Python programs.

    Raises:
        ProgramError: there is no such file.
    """
    if not path.is_file():
        raise ProgramError(f"{_shown(path)} is not there")
    return Program(path.name, [sys.executable, str(path), *arguments])


def oracle(program: str, version: str, folder: Path | None) -> Program:
    """``oracle-V``, ``validate``, ``sampling`` or ``queue``: from ``folder``, or built from this project's sources.

    Raises:
        ProgramError: it is not in the folder, or cannot be built.
    """
    if folder is None:
        folder = ORACLE_BUILD
        with alone_in(folder):
            _build(version)
    path = folder / program
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{program} is not in {folder}")
    return Program(program, [str(path)])


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time build into a folder, which is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(version: str) -> None:
    """Build that version's programs unless those there were built from the very sources."""
    sources = _fingerprint()
    built_from = ORACLE_BUILD / f"{version}.sources"
    if built_from.is_file() and built_from.read_text(encoding="ascii") == sources:
        return
    if shutil.which("go") is None:
        raise ProgramError(
            "go is missing: install Go 1.26 or newer, or name a folder of built programs by --oracle-bin or ORACLE_BIN"
        )
    print(f"building the judge of Kubernetes {version} (minutes the first time, the network is needed)", flush=True)
    built_from.unlink(missing_ok=True)
    log = ORACLE_BUILD / f"{version}.log"
    try:
        with log.open("wb") as out:
            build: list[str | Path] = [ORACLE_SOURCE / "build.sh", "{}", version]
            kept(f"oracle-{version}", ORACLE_BUILD, [ORACLE_SOURCE], build, out)
    except subprocess.CalledProcessError as error:
        end = log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
        said = f"the build ended with exit code {error.returncode}; the end of {_shown(log)}:"
        raise ProgramError("\n".join([said, *end])) from None
    built_from.write_text(sources, encoding="ascii")


def _environment() -> dict[str, str]:
    """Ours, with the repository's root on Python's path."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}


def _fingerprint() -> str:
    """Changes when any source of the judges changes (a checkout's file times say nothing)."""
    digest = hashlib.sha256()
    for path in sorted(ORACLE_SOURCE.rglob("*")):
        if path.is_file() and path.suffix != ".md":
            digest.update(f"{path.relative_to(ORACLE_SOURCE)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
