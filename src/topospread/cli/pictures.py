"""``--graph FILE``: which endings are taken, and how a picture is written; what is drawn is told in `report`."""

from __future__ import annotations

import os

from topospread.errors import InputError, Place, UsageError
from topospread.text import escape_control_characters


def check_graph(path: str | None) -> None:
    """Whether the file's ending is that of a format that can be written.

    Raises:
        UsageError: it is another one.
    """
    ending = os.path.splitext(path or "")[1].lower()
    if ending not in ("", ".svg"):
        raise UsageError(f"--graph {path}: pictures are SVG; name a file that ends in .svg, other programs convert it")


def write_graph(svg: str, path: str) -> None:
    """Write a picture.

    Raises:
        InputError: the file cannot be written.
    """
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(escape_control_characters(svg))
    except OSError as error:
        raise InputError(f"the picture cannot be written: {error.strerror}", Place(source=path)) from None
