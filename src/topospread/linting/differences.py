"""Two versions of a text → a unified diff; of texts with many documents each is compared by itself.

Comparing takes time that grows with the square of the lines, and a fix stays within its document.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Final

_HUNK: Final = re.compile(r"@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")
_NO_END: Final = "\\ No newline at end of file\n"


def unified_diff(before: str, after: str, name: str) -> str:
    """The differences of two versions of a file, with three lines around each; "" when there are none.

    Args:
        before: the file as it is.
        after: as it would be.
        name: its path.
    """
    hunks = "".join(_hunks(before.splitlines(keepends=True), after.splitlines(keepends=True)))
    return f"--- {name}\n+++ {name}\n{hunks}" if hunks else ""


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    old, new = _documents(before), _documents(after)
    if len(old) != len(new):
        old, new = [before], [after]
    above = (0, 0)
    for left, right in zip(old, new, strict=True):
        if left != right:
            for line in list(difflib.unified_diff(left, right))[2:]:
                yield _complete(_moved(line, *above))
        above = (above[0] + len(left), above[1] + len(right))


def _documents(lines: list[str]) -> list[list[str]]:
    """The lines of each document, the separator first."""
    documents: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("---"):
            documents.append([])
        documents[-1].append(line)
    return documents


def _moved(line: str, old: int, new: int) -> str:
    """A line of a diff; a hunk's head with the lines of the documents above it added."""
    found = _HUNK.match(line)
    if found is None:
        return line
    return f"@@ -{int(found[1]) + old}{found[2]} +{int(found[3]) + new}{found[4]} @@\n"


def _complete(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_END}"
