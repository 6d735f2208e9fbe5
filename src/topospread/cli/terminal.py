"""Terminal output: width, colours, safe streams and a progress bar on stderr."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, TextIO

import click

from topospread.text import escape_commands, escape_control_characters, for_terminal, one_line

DEFAULT_WIDTH = 80
_PATIENCE = 1.0
_REDRAW = 0.1
_BAR = 30
_BEGIN = time.monotonic()
"""Start time of the command. A progress bar appears one second after it, also in later phases."""
_PROCESS = os.getpid()


def draws_progress() -> bool:
    """Return whether this process shows progress on a terminal. Worker processes do not."""
    return sys.stderr.isatty() and os.getpid() == _PROCESS


def width() -> int:
    """Return the terminal's width in columns; without a terminal, COLUMNS of the environment, else 80."""
    if sys.stdout.isatty():
        return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if re.fullmatch("[1-9][0-9]{1,3}", columns) else DEFAULT_WIDTH


def has_colours(colour: str) -> bool:
    """Return whether to use colours: for ``auto`` only on a terminal and never with NO_COLOR."""
    if colour == "auto":
        return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return colour == "always"


def warn(warnings: Iterable[str]) -> None:
    """Print each warning on a line of stderr."""
    for warning in warnings:
        click.echo(f"warning: {one_line(warning)}", err=True)


def show(text: str) -> None:
    """Print a text with its colours. `click.echo` could strip them."""
    sys.stdout.write(text)


def show_commands(text: str) -> None:
    """Print workflow commands for GitHub without escaping. In all other output they are escaped."""
    draw(sys.stdout, escape_control_characters(text))


def draw(stream: TextIO, text: str) -> None:
    """Write text and cursor movements without escaping. The text must be safe already."""
    (stream.write_unchanged if isinstance(stream, SafeStream) else stream.write)(text)


class OutputError(OSError):
    """Raised if an output stream cannot be written."""


class SafeStream:
    """An output stream that escapes control characters and pipeline commands.

    All output of a command passes through it, including errors and logs.
    """

    encoding = "utf-8"
    """Always UTF-8: click would bypass a stream whose encoding is ASCII."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text with control characters and pipeline commands escaped."""
        return self.write_unchanged(escape_commands(for_terminal(text)))

    def write_unchanged(self, text: str) -> int:
        """Write a text unescaped; see `draw`."""
        with _as_output_error():
            return self._stream.write(text)

    def flush(self) -> None:
        """Flush the buffer."""
        with _as_output_error():
            self._stream.flush()

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def _as_output_error() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(error.errno, error.strerror) from error


@contextmanager
def safe_output() -> Iterator[None]:
    """Replace stdout and stderr by `SafeStream` inside the block; a closed stream stays None."""
    before = sys.stdout, sys.stderr
    for stream in before:
        print_anywhere(stream)
    sys.stdout, sys.stderr = (SafeStream(each) if each is not None else each for each in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def written(data: object, output: str) -> str:
    """Return plain data as JSON or YAML text, like ``-o json`` and ``-o yaml``."""
    if output == "yaml":
        from topospread.api.yaml_text import yaml_text

        return yaml_text(data)
    from topospread.base import json_text

    return json_text(data)


Bar = Callable[[int, int | None], None]
"""Receives the finished number and the total; None if it is unknown."""


@contextmanager
def progress(what: str) -> Iterator[Bar | None]:
    """Show a progress bar on stderr after one second; yields None if stderr is not a terminal."""
    if not draws_progress():
        yield None
        return
    drawn = 0.0
    shown = False

    def show_bar(done: int, total: int | None) -> None:
        nonlocal drawn, shown
        now = time.monotonic()
        if now - _BEGIN < _PATIENCE or now - drawn < _REDRAW:
            return
        drawn, shown = now, True
        share = min(done / total, 1.0) if total else 0.0
        bar = "█" * int(share * _BAR)
        amount = f"{share:>4.0%}" if total else f"{done >> 20} MiB"
        draw(sys.stderr, f"\r\x1b[2K{what}  {bar:<{_BAR}}  {amount}")
        sys.stderr.flush()

    try:
        show_bar(0, 1)
        yield show_bar
    finally:
        if shown:
            draw(sys.stderr, "\r\x1b[2K")
            sys.stderr.flush()


_SUBSTITUTES = {"→": "->", "−": "-", "█": "#", "·": "-", "≤": "<=", "×": "x", "…": "..."}
_ERRORS = "topospread-substitutes"


def print_anywhere(stream: TextIO | None) -> None:
    """Make a stream replace characters that its encoding lacks with ASCII ones. A closed stream is None."""
    import codecs

    if isinstance(stream, TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
        codecs.register_error(_ERRORS, _substituted)
        stream.reconfigure(errors=_ERRORS)


def _substituted(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(_SUBSTITUTES.get(sign, "?") for sign in lacking), error.end
