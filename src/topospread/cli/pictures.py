"""Checks the file name that ``--graph`` gives; `report` draws the pictures."""

from __future__ import annotations

import os

from topospread.errors import UsageError


def check_graph(path: str | None) -> None:
    """Whether the file's ending is that of a format that can be written.

    Raises:
        UsageError: it is another one.
    """
    ending = os.path.splitext(path or "")[1].lower()
    if ending not in ("", ".svg"):
        raise UsageError(f"--graph {path}: pictures are SVG; name a file that ends in .svg, other programs convert it")
