"""Run a fuzz case in this process and say what is wrong with the answer."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import re
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml
from jsonschema import Draft4Validator, ValidationError

from topospread.cli.main import main

from .cases import Case

SECONDS = 10
MOST_SECONDS = 60
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
        self.written: dict[str, str] = {}


_WRITTEN = ("page.html", "picture.svg", "saved.json", "written.yaml")
"""Files that commands write; no case gives them."""


def problem_of(case: Case) -> str:  # noqa: PLR0911 - a list of checks
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
    if "tests.fuzz.run.TimeLimitError" in answer.err:  # an exception while the command was being stopped
        return f"more than {SECONDS} s\n{answer.err[-6000:]}"
    if answer.code not in ACCEPTED:
        return f"exit code {answer.code}\n{answer.err[-6000:]}"
    if "Traceback (most recent call last)" in answer.err + answer.out:
        return f"a traceback\n{answer.err[-6000:]}"
    try:
        check_output(case, answer)
    except (AssertionError, ValueError, ElementTree.ParseError, yaml.YAMLError, ValidationError) as error:
        return f"output that can be forged\n{traceback.format_exc()}\n{type(error).__name__}: {ascii(str(error))[:300]}"
    return ""


def check_output(case: Case, answer: Answer) -> None:
    """Assert that input moves no cursor, forges no line and no command, and that the output can be read back."""
    given = dict(zip(case.arguments, case.arguments[1:], strict=False))
    colours = given.get("--color") == "always"
    form = given.get("-o", "json" if "-o" in case.arguments[-1:] else "")
    for text in (answer.out, answer.err, *answer.written.values()):
        shown = _COLOUR.sub("", text) if colours and text is answer.out else text
        assert not (found := _FORBIDDEN.search(shown)), ascii(shown[max(0, found.start() - 40) : found.end() + 40])
    for text in (answer.err, "" if form == "github" else answer.out):
        assert not (found := _COMMAND.search(text)), ascii(text[max(0, found.start() - 40) : found.end() + 40])
    if answer.code == 2 or "--diff" in case.arguments:
        return
    assert not [line for line in answer.out.splitlines() if line.startswith("FORGED")], ascii(answer.out)
    if form == "json":
        json.loads(answer.out)
    elif form == "yaml":
        yaml.load(answer.out, yaml.CSafeLoader)
    elif form == "sarif":
        _sarif().validate(json.loads(answer.out))
    elif form == "junit":
        ElementTree.fromstring(answer.out)
    elif form == "github":
        assert all(_GITHUB.match(line) for line in answer.out.splitlines()), ascii(answer.out)


_COLOUR = re.compile(r"\x1b\[(?:0|1|31|1;31|32|33|2)m")
_FORBIDDEN = re.compile(
    "\r(?!\n)|[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]"
)
_COMMAND = re.compile(r"^\s*::|##\[|##vso\[", re.MULTILINE)
_GITHUB = re.compile(r"::(error|warning|notice) (file=[^:,]*,line=\d+,col=\d+,)?title=[^:,]*::")


@cache
def _sarif() -> Draft4Validator:
    schema = Path(__file__).parents[1] / "unit/render/sarif-schema-2.1.0.json"
    return Draft4Validator(json.loads(schema.read_text()))


def answer_to(case: Case) -> Answer:
    """Run a case in a folder of its own, whose parent holds nothing else: a case may name ``..``."""
    with tempfile.TemporaryDirectory(prefix="topospread-fuzz-") as parent, _inside(Path(parent, "case")), _limits():
        for name, data in case.files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(data)
        answer = _answer(case)
        answer.written = {name: Path(name).read_text() for name in _WRITTEN if Path(name).exists()}
        return answer


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
def _inside(folder: Path) -> Iterator[None]:
    before = os.getcwd()
    folder.mkdir()
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
    # Processor time: a busy machine is no finding. A case that only waits has a minute.
    handlers = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (MEGABYTES << 20), hard))
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.setitimer(signal.ITIMER_REAL, MOST_SECONDS)
    try:
        yield
    finally:
        if os.getpid() == own:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
            for number, handler in handlers.items():
                signal.signal(number, handler)
