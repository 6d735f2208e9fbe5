"""What the terminal allows: width, colour, and a progress bar on stderr for work that takes long."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Protocol, TextIO

import click

from topospread.report.style import Style

if TYPE_CHECKING:
    from topospread.report.layout import Layout

DEFAULT_WIDTH = 80
_PATIENCE = 1.0
_REDRAW = 0.1
_BAR = 30
_BEGIN = time.monotonic()
"""When the command began, near enough: who has waited for its reading need not wait again for its placing."""


def width() -> int:
    """Columns to write in: the terminal's, 80 where there is none."""
    return shutil.get_terminal_size((DEFAULT_WIDTH, 24)).columns if sys.stdout.isatty() else DEFAULT_WIDTH


def style(colour: str) -> Style:
    """Colours as asked for: ``auto`` only on a terminal and never with NO_COLOR."""
    if colour == "auto":
        return Style(sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb")
    return Style(colour == "always")


def layout(colour: str, *, wide: bool = False) -> Layout:
    """How tables are drawn on what is written to."""
    from topospread.report.layout import Layout

    return Layout(width(), wide, style(colour))


def warn(warnings: Iterable[str]) -> None:
    """Print warnings on stderr, beside a result that does not hold them."""
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)


def show(text: str) -> None:
    """Print a text as it is: whether it is coloured was decided when it was made, `click.echo` would decide again."""
    sys.stdout.write(text)


def written(data: object, output: str) -> str:
    """Plain data as ``-o json`` or ``-o yaml`` have it."""
    if output == "yaml":
        from topospread.api.yaml_text import yaml_text

        return yaml_text(data)
    from topospread.plain_data import json_text

    return json_text(data)


class Bar(Protocol):
    """Is told how far the work has come."""

    def __call__(self, done: int, total: int | None) -> None:
        """``done`` of ``total``; ``total`` is ``None`` while it cannot be known."""


@contextmanager
def progress(what: str) -> Iterator[Bar | None]:
    """A bar on stderr that appears when the command has taken a second; ``None`` when stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    drawn = 0.0
    shown = False

    def draw(done: int, total: int | None) -> None:
        nonlocal drawn, shown
        now = time.monotonic()
        if now - _BEGIN < _PATIENCE or now - drawn < _REDRAW:
            return
        drawn, shown = now, True
        share = min(done / total, 1.0) if total else 0.0
        bar = "█" * int(share * _BAR)
        amount = f"{share:>4.0%}" if total else f"{done >> 20} MiB"
        sys.stderr.write(f"\r\x1b[2K{what}  {bar:<{_BAR}}  {amount}")
        sys.stderr.flush()

    try:
        draw(0, 1)
        yield draw
    finally:
        if shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()


_SUBSTITUTES = {"→": "->", "−": "-", "█": "#", "·": "-", "≤": "<=", "×": "x", "…": "..."}
_ERRORS = "topospread-substitutes"


def print_anywhere(stream: TextIO | None) -> None:
    """Let a stream whose encoding lacks our signs take plain ones in their place; ``None`` is a closed one."""
    import codecs

    if isinstance(stream, TextIOWrapper) and stream.encoding.lower().replace("-", "") != "utf8":
        codecs.register_error(_ERRORS, _substituted)
        stream.reconfigure(errors=_ERRORS)


def _substituted(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(_SUBSTITUTES.get(sign, "?") for sign in lacking), error.end
