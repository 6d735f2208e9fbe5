"""A text that was read, with its line starts."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Protocol

from topospread.errors import Place

BREAKS: Final = rb"\xc2\x85|\xe2\x80[\xa8\xa9]"
"""Next line, line separator and paragraph separator. Only YAML 1.1 takes them for line breaks, not kubectl."""
_ESCAPED: Final = re.compile(r"\\(?:[\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_HIDDEN_LETTER: Final = re.compile(
    rb"\\(?:/|x[2-7]|u00(?:2[d-fD-F]|3[0-9]|[4-7])|U000000[2-7])"  # an escape
    rb"|[A-Za-z]\\(?:[\r\n]|" + BREAKS + rb")"  # a word that goes on in the next line
    rb"|!!(?:b|%)|!<|%TAG"  # a text in base64
)
"""Ways to write a letter of a word in JSON or YAML without the letter."""


class Origins(Protocol):
    """Finds the source files of a rendered text."""

    def place(self, document: int, path: Sequence[str | int], rendered: Place) -> Place:
        """Return the place in the source files for a place in the rendered text.

        Args:
            document: number of the document in the text, from 1.
            rendered: the place in the rendered text, with its line if known.
        """

    def holders(self, place: Place) -> tuple[str, ...]:
        """Return the files for which settings may ignore a finding at a place that `place` returned.

        The rendered text must not be able to choose another file.
        """


@dataclass(frozen=True)
class Text:
    """The content of one source.

    Attributes:
        name: path for messages.
        data: UTF-8 without a byte order mark.
        origins: finds the source files of a rendered text; None for a text from a file.
        repeats: repeated keys in a rendered text, with their places; filled in while reading.
    """

    name: str
    data: bytes
    origins: Origins | None = None
    repeats: dict[str, None] = field(default_factory=dict, compare=False)

    @cached_property
    def line_starts(self) -> array[int]:
        """The offset of each line's start."""
        return array("q", [0, *(found.end() for found in re.finditer(b"\n", self.data))])

    def line(self, number: int) -> bytes:
        """Return a line with its line end, by number from 1; empty if missing."""
        start, end = self.bounds(number)
        return self.data[start:end]

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the start offsets of a line and of the next line; both 0 if missing."""
        starts = self.line_starts
        if not 0 < number <= len(starts):
            return 0, 0
        return starts[number - 1], starts[number] if number < len(starts) else len(self.data)


def printable(text: str) -> str:
    """Return the text on one line, with unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def shown_path(path: str) -> str:
    """Return a path on one line, with unprintable characters and backslashes escaped. No two paths become equal."""
    return printable(path.replace("\\", "\\\\").encode("utf-8", "backslashreplace").decode())


def path_shown_as(shown: str) -> str:
    """Return the path for which `shown_path` returns a text."""
    return _ESCAPED.sub(lambda found: found[0].encode().decode("unicode_escape"), shown)


def described(value: object) -> str:
    """Return the type of a plain value, and a text's length, for messages.

    The content is not included, because the file may contain a secret.
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


def may_hold_objects(text: Text, number: int = 1) -> bool:
    """Return whether a text may contain ``number`` of the words apiVersion and kind, perhaps hidden by YAML escapes."""
    found = (b"apiVersion" in text.data) + (b"kind" in text.data)
    return found >= number or _HIDDEN_LETTER.search(text.data) is not None


def may_hold(text: Text, word: bytes) -> bool:
    """Return whether a text may contain a word, perhaps hidden by YAML escapes."""
    return word in text.data or _HIDDEN_LETTER.search(text.data) is not None


def shown_key(text: Text, key: str) -> str:
    """Return a mapping's key for messages. Only a manifest's keys are shown, because other texts may be secret."""
    is_manifest = b"apiVersion" in text.data and b"kind" in text.data
    from topospread.api.label_syntax import quoted  # writing files does not need the API package

    return f"the key {quoted(key)}" if is_manifest else f"a key of {len(key)} character{'s' * (len(key) != 1)}"


def place_of_byte(text: Text, offset: int) -> Place:
    """Return the line and column, in bytes, of an offset."""
    line = bisect_right(text.line_starts, offset)
    return Place(text.name, line=line, column=offset - text.line_starts[line - 1] + 1)


def line_of(text: Text, number: int) -> str:
    """Return a line by its number from 0; "" if missing."""
    return text.line(number + 1).decode("utf-8", "replace").removesuffix("\n")
