"""Text laid out in a width, in paragraphs whose further lines hang; what is said is the callers' matter."""

from __future__ import annotations

import re

_CODE = re.compile(r"\x1b\[[0-9;]*m")
_SPACES = re.compile("( +)")
_NARROW = 24
_KEPT_TOGETHER = "\xa0"


def hanging(first: str, text: str, width: int, indent: int) -> list[str]:
    """``first`` and behind it a text over as many lines as it takes, those that follow indented.

    Both may hold colour codes. Where ``first`` leaves too little room the text begins on the next line. Words are not
    broken, so a name can be copied even where it is longer than a line; non-breaking spaces become plain ones, at which
    only what is longer than a line is broken. A line that the text itself begins is indented, and hangs further in.
    """
    begin = " " * indent
    if "\n" in text:
        text, *rows = text.split("\n")
        own = [line for row in rows for line in hanging(begin, row.lstrip(), width, indent + 2)]
        return [*hanging(first, text, width, indent), *own]
    first = first.replace(_KEPT_TOGETHER, " ")
    lines: list[str] = []
    if shown_length(first.rstrip()) > width:
        word = first.lstrip(" ")
        *lines, first = _filled(first[: len(first) - len(word)], word, width, begin)
    used = shown_length(first)
    if text and used > indent and width - used < min(_NARROW, shown_length(text)):
        lines, first = [*lines, first], begin
    filled = _filled(first, text, width, begin)
    return [each.rstrip().replace(_KEPT_TOGETHER, " ") for each in (*lines, *filled)]


def _filled(line: str, text: str, width: int, begin: str) -> list[str]:
    """A begun line and those below it, each as full of the text's words as it can be."""
    indent, column, gap = len(begin), shown_length(line), ""
    lines = []
    for i, part in enumerate(_SPACES.split(_loosened(text, width - indent))):
        if i % 2:
            gap = part
            continue
        length = shown_length(part)
        if column + len(gap) + length > width and column > indent:
            lines.append(line)
            line, column, gap = begin, indent, ""
        line, column, gap = line + gap + part, column + len(gap) + length, ""
    return [*lines, line]


def _loosened(text: str, room: int) -> str:
    """The text with what is kept together broken where it is longer than a line."""
    if _KEPT_TOGETHER not in text:
        return text
    words = text.split(" ")
    return " ".join(word.replace(_KEPT_TOGETHER, " ") if shown_length(word) > room else word for word in words)


def shown_length(text: str) -> int:
    """How many columns a text takes without its colour codes."""
    return len(_CODE.sub("", text))


def together(text: str) -> str:
    """The text as one word, so that no line breaks within it."""
    return text.replace(" ", _KEPT_TOGETHER)
