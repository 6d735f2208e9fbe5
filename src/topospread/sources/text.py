"""A text as it was read, and where in it a byte stands; not what it means."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from topospread.errors import Place


class Origins(Protocol):
    """Knows which files a rendered text was made of."""

    def place(self, document: int, path: Sequence[str | int], rendered: Place) -> Place:
        """Return the origin of a place in the rendered text.

        Args:
            document: number of the document in the text, from 1.
            path: way to the field from the document.
            rendered: the place in the text, with its line where that is known.
        """


@dataclass(frozen=True)
class Text:
    """The content of one source.

    Attributes:
        name: path as errors show it.
        data: UTF-8 without a byte order mark.
        origins: of what a program has made of other files, which files; None for what was read as it stands.
        repeats: keys that stand twice in a mapping of what a program has made, with their places; who reads the text
            adds them.
    """

    name: str
    data: bytes
    origins: Origins | None = None
    repeats: dict[str, None] = field(default_factory=dict, compare=False)

    @cached_property
    def line_starts(self) -> array[int]:
        """The offset at which each line begins."""
        return array("q", [0, *(found.end() for found in re.finditer(b"\n", self.data))])

    def line(self, number: int) -> bytes:
        """A line by its number, from 1, with its end; empty when there is none."""
        start, end = self.bounds(number)
        return self.data[start:end]

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the begin of a line and of the next one; both 0 if there is no such line."""
        starts = self.line_starts
        if not 0 < number <= len(starts):
            return 0, 0
        return starts[number - 1], starts[number] if number < len(starts) else len(self.data)


def printable(text: str) -> str:
    """The text on one line, with what a terminal cannot show escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def shown_path(path: str) -> str:
    """Return a path on one line, with unprintable characters escaped."""
    return printable(path.encode("utf-8", "backslashreplace").decode())


def described(value: object) -> str:
    """Return the type of a plain value, and the length of a text, for an error.

    Its content stays out of the error: the file that it comes from may hold a secret.
    """
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return f"a string of {len(value)} character{'s' * (len(value) != 1)}"
        case list():
            return "a list"
        case _:
            return "an object"


def shown_key(text: Text, key: str) -> str:
    """Return a mapping's key for an error: its content only in a manifest, as any other text may be a secret."""
    is_manifest = b"apiVersion" in text.data and b"kind" in text.data
    from topospread.api.label_syntax import quoted  # what writes a file needs nothing of the API

    return f"the key {quoted(key)}" if is_manifest else f"a key of {len(key)} character{'s' * (len(key) != 1)}"


def place_of_byte(text: Text, offset: int) -> Place:
    """The line and column, in bytes, of an offset."""
    line = bisect_right(text.line_starts, offset)
    return Place(text.name, line=line, column=offset - text.line_starts[line - 1] + 1)


def line_of(text: Text, number: int) -> str:
    """A line by its number, from 0; "" when there is none."""
    return text.line(number + 1).decode("utf-8", "replace").removesuffix("\n")
