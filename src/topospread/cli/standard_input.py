"""Detect whether data is piped into standard input, so that it is read without ``-``."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from typing import BinaryIO

import click

_PATIENCE = 3.0
"""Seconds after which a message says that the command waits for a pipe."""
_WAITING = (
    "waiting for what is piped in; to read the cluster that kubectl points at instead, name it (--context, or "
    "--on live) or give </dev/null"
)


def standard_input() -> BinaryIO | None:
    """Return standard input; None if it is closed."""
    return sys.stdin.buffer if sys.stdin is not None else None


def is_piped() -> bool:
    """Return whether standard input is a non-empty pipe or file.

    A terminal, /dev/null, a socket and a closed standard input return False, and so does an empty pipe. For a pipe,
    wait for the first byte.
    """
    given = standard_input()
    try:
        mode = os.fstat(given.fileno()).st_mode if given is not None else 0
    except (OSError, ValueError, io.UnsupportedOperation):
        return False
    if not (stat.S_ISFIFO(mode) or stat.S_ISREG(mode)) or not isinstance(given, io.BufferedReader):
        return False
    if stat.S_ISFIFO(mode) and not select.select([given], [], [], _PATIENCE)[0]:
        click.echo(_WAITING, err=True)
    return bool(given.peek(1))
