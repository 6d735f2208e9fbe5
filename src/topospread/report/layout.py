"""How a table is drawn: its width, how much of it, and in which style; whoever knows the terminal decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from .paragraphs import hanging, listed
from .style import PLAIN, Style

FEW = 10
"""Rows of one kind that are shown one by one; more than that are summed up."""


class Layout(msgspec.Struct, frozen=True):
    """How a table is drawn.

    Attributes:
        width: columns of the terminal.
        wide: show every domain, node and pod by name, however many there are.
    """

    width: int = 80
    wide: bool = False
    style: Style = PLAIN

    @property
    def most(self) -> int:
        """How many rows of one kind are shown where there are too many for all."""
        return FEW

    def few(self, number: int) -> bool:
        """Whether so many rows are shown one by one."""
        return self.wide or number <= FEW

    def names(self, names: list[str], most: int = 3) -> str:
        """Names as a list, shortened unless everything is to be shown."""
        return listed(names, len(names) if self.wide else most)

    def remarks(self, warnings: Iterable[str], notes: Iterable[str] = ()) -> Iterator[str]:
        """Lines of what a person should know besides, warnings first."""
        for warning in warnings:
            yield from hanging(self.style("warning", "bold") + ": ", warning, self.width, 2)
        for note in notes:
            yield from hanging("note: ", note, self.width, 2)
