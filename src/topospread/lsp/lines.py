"""Convert between text offsets and positions of the Language Server Protocol, which counts UTF-16 units by default."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import partial
from itertools import accumulate, islice
from typing import Final

from lsprotocol.types import Position, Range

_PART: Final = 1000
_BREAK: Final = re.compile(r"\r\n|\r|\n")
"""The protocol's line breaks."""


class Lines:
    """A text split into lines; ``units`` returns a text's length in the editor's units."""

    def __init__(self, text: str, units: Callable[[str], int]) -> None:
        self.text = text
        self.units = units
        self.lines = _BREAK.split(text) if "\r" in text else text.split("\n")
        lengths = (len(line) + 1 for line in self.lines)
        ends = (each.end() for each in _BREAK.finditer(text)) if "\r" in text else accumulate(lengths)
        self.starts = [0, *islice(ends, len(self.lines) - 1)]
        self._sums: dict[int, list[int]] = {}

    def position(self, line: int, column: int) -> Position:
        """Return the position of a line and column in characters, both from 0; the nearest one if it does not exist."""
        line = min(max(line, 0), len(self.lines) - 1)
        return Position(line, self._units_before(line, min(max(column, 0), len(self.lines[line]))))

    def position_of(self, offset: int) -> Position:
        """Return the position of an offset."""
        line = bisect_right(self.starts, offset) - 1
        return self.position(line, offset - self.starts[line])

    def column(self, position: Position) -> int:
        """Return the column in characters of a position."""
        line = self.lines[position.line] if position.line < len(self.lines) else ""
        if line.isascii():
            return min(position.character, len(line))
        return bisect_left(range(len(line)), position.character, key=partial(self._units_before, position.line))

    def _units_before(self, line: int, column: int) -> int:
        """Return the length of a line's first `column` characters in the editor's units. Sums of a long line are
        cached.
        """
        text, sums = self.lines[line], self._sums.get(line)
        if sums is None:
            parts = [] if text.isascii() else [text[at : at + _PART] for at in range(0, len(text), _PART)]
            sums = self._sums[line] = [0, *accumulate(map(self.units, parts))]
        if len(sums) == 1:
            return column
        return sums[column // _PART] + self.units(text[column - column % _PART : column])

    def offset(self, position: Position) -> int:
        """Return the number of characters before a position."""
        if position.line >= len(self.starts):
            return len(self.text)
        return self.starts[position.line] + self.column(position)

    def range(self, start: int, end: int) -> Range:
        """Return the range of characters between two offsets."""
        return Range(self.position_of(start), self.position_of(end))
