"""``--anonymous`` and ``--salt-file`` of commands that write a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from topospread.errors import InputError, Place, UsageError

from .inputs import PATH
from .usage import Command, together

SALT: Final = "TOPOSPREAD_SALT"
"""Environment variable that holds the salt."""
_SALT_AT_LEAST: Final = 16


def anonymous_options(text: str) -> Callable[[Command], Command]:
    """Return the options' decorator; `text` is the help of ``--anonymous``."""

    return together(
        click.option("--anonymous", is_flag=True, help=text),
        click.option(
            "--salt-file",
            metavar="FILE",
            type=PATH,
            help=f"File with a secret salt, which gives equal names in every run; or set {SALT}.",
        ),
    )


def read_salt(given: Mapping[str, Any]) -> bytes | None:
    """Return the salt for anonymous names; None for a random salt.

    Raises:
        UsageError: if --salt-file is given without --anonymous, or if the salt is too short.
        InputError: if the file cannot be read.
    """
    path = given["salt_file"]
    if not given["anonymous"]:
        if path:
            raise UsageError("--salt-file requires --anonymous")
        return None
    if path:
        try:
            with open(path, "rb") as file:
                salt = file.read().strip()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", Place(source=path)) from error
    elif SALT in os.environ:
        salt = os.environb[SALT.encode()].strip()
    else:
        return None
    if len(salt) < _SALT_AT_LEAST:
        where = path or SALT
        raise UsageError(f"{where}: the salt must have at least {_SALT_AT_LEAST} bytes, got {len(salt)}")
    return salt
