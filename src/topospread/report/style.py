"""Colours and emphasis of terminal output, or none; no information is in a colour alone."""

from __future__ import annotations

from dataclasses import dataclass

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


@dataclass(frozen=True, slots=True)
class Style:
    """How text is marked up; without colour it is left as it is."""

    colour: bool = False

    def __call__(self, text: str, *marks: str) -> str:
        """The text with marks: bold, dim, red, green, yellow."""
        if not self.colour or not text:
            return text
        return f"\x1b[{';'.join(_CODES[mark] for mark in marks)}m{text}\x1b[0m"


PLAIN = Style()
