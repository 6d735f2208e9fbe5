"""A text as it was read, and where in it a byte stands; not what it means."""

from __future__ import annotations

from dataclasses import dataclass

from topospread.errors import Place


@dataclass(frozen=True, slots=True)
class Text:
    """What stands in one source.

    Attributes:
        name: path as errors show it.
        data: UTF-8 without a byte order mark.
    """

    name: str
    data: bytes


def printable(text: str) -> str:
    """The text on one line, with what a terminal cannot show escaped."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def place_of_byte(text: Text, offset: int) -> Place:
    """The line and column, in bytes, of an offset."""
    line_start = text.data.rfind(b"\n", 0, offset) + 1
    return Place(text.name, line=text.data.count(b"\n", 0, offset) + 1, column=offset - line_start + 1)


def line_of(text: Text, number: int) -> str:
    """A line by its number, from 0; "" when there is none."""
    start = 0
    for _ in range(number):
        start = text.data.find(b"\n", start) + 1
        if start == 0:
            return ""
    end = text.data.find(b"\n", start)
    return text.data[start : end if end >= 0 else len(text.data)].decode("utf-8", "replace")
