"""Colours and emphasis of terminal output, or none; no information is in a colour alone."""

from __future__ import annotations

from typing import NamedTuple

from topospread.text import colour_mark

_CODES = {"bold": "1", "red": "31"}


class Style(NamedTuple):
    """How text is marked up; without colour it is left as it is."""

    colour: bool = False

    def __call__(self, text: str, *marks: str) -> str:
        """Return the text on one line with marks, bold and red, which can be read on dark and on light."""
        text = text.replace("\n", "\\n")  # a name would begin a line of the report
        if not self.colour or not text:
            return text
        return f"{colour_mark(';'.join(_CODES[mark] for mark in marks))}{text}{colour_mark('0')}"


PLAIN = Style()
