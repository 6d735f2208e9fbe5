"""Draw pages as text of a given width. Names and commands are never broken."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import wrap

from topospread.text import colour_mark

from .blocks import Bar, Cell, Code, Fact, Hint, Page, Part, Role, Section, Span, Table, Verdict, cell_text

_COLOURS = {"name": "1", "good": "32", "bad": "1;31", "unsure": "33", "dim": "2"}
_WORD_ROLES: dict[str, Role] = {"yes": "good", "no": "bad", "unknown": "unsure"}
_LONGEST_BAR = 24
_NARROWEST = 16
"""Minimum width of a wrapped cell in columns."""
_GAP = "  "
_LABELLED = re.compile(r"\s*(yes|no|unknown|error|warning|note|why|fix|next|not judged):")
_NUMBER = re.compile(r"(\? )?\+?[\d–/]*( to \d+)?")
"""Matches a count, an increase, bounds, or a fraction, with an optional mark "?", or an empty cell."""


def text(page: Page, *, width: int = 80, wide: bool = False, colour: bool = False) -> str:
    """Return a page as text, with a final newline.

    Args:
        width: columns of the screen. A name or command that is longer stays whole.
        wide: whether sections and rows for ``-o wide`` are shown.
        colour: whether ANSI colours are used. No information is in a colour alone.
    """
    writer = _Writer(width, wide, colour)
    lines = [line.rstrip() for part in page.parts for line in writer.part(part)]
    while lines and not lines[0]:
        lines.pop(0)
    return "\n".join(lines) + "\n"


class _Writer:
    def __init__(self, width: int, wide: bool, colour: bool) -> None:
        self._width, self._wide, self._colour = width, wide, colour

    def part(self, part: Part) -> Iterator[str]:
        match part:
            case Verdict():
                first, *rest = _wrapped(f"{part.word}: {part.says}", self._width, hang=2)
                yield self._mark(f"{part.word}:", _WORD_ROLES[part.word]) + first.removeprefix(f"{part.word}:")
                yield from rest
            case Fact():
                named = f'"{part.label}"' if part.label in _WORD_ROLES else _beginning(part.label)
                label, indent = f"{named}: ", min(len(named) + 2, 16)
                if part.command:
                    yield label + part.command
                    label = " " * indent
                if part.says:
                    yield from _wrapped(label + part.says, self._width, hang=indent)
            case Code():
                yield from (f"  {line}" for line in part.text.removesuffix("\n").split("\n"))
            case Table():
                yield from self._table(part)
            case Hint() if not self._wide:
                yield from _wrapped(f"{part.says}: -o wide", self._width, hang=2)
            case Section() if self._wide or not part.wide:
                yield ""
                if part.title:
                    yield from _wrapped(_beginning(part.title), self._width, hang=2)
                for each in part.parts:
                    yield from self.part(each)

    def _table(self, table: Table) -> Iterator[str]:
        rows = table.rows if self._wide or len(table.rows) <= table.most + 1 else table.rows[: table.most]
        texts = [table.heads, *((_beginning(_drawn(row[0])), *map(_drawn, row[1:])) for row in rows)]
        columns = [i for i in range(len(table.heads)) if any(row[i] for row in texts)]
        for dropped in table.may_drop:
            if self._wide or _total(texts, columns) <= self._width:
                break
            columns = [each for each in columns if each != dropped]
        # A column without a space holds names, which are never broken.
        widths = self._widths(texts, {i: all(" " not in _drawn(row[i]) for row in rows) for i in columns})
        numbers = {i for i in columns if all(_NUMBER.fullmatch(cell_text(row[i])) for row in rows)}
        numbers -= {i for i in columns if any(isinstance(row[i], Bar) for row in rows)}
        for at, row in enumerate(texts):
            cells: tuple[Cell, ...] = rows[at - 1] if at else ()
            yield from self._row(row, cells, widths, numbers)
        left = len(table.rows) - len(rows)
        if left:
            yield f"and {left} more{' ' + table.more if table.more else ''}: -o wide"

    def _widths(self, texts: list[tuple[str, ...]], is_name: dict[int, bool]) -> dict[int, int]:
        """Return column → width. Text cells are wrapped first; then names move to their own lines.

        Args:
            texts: the cells, the headings first.
            is_name: column → whether it holds names, which are never broken.
        """
        widths = {i: max(len(row[i]) for row in texts) for i in is_name}
        longest = {i: max((len(word) for row in texts for word in row[i].split()), default=0) for i in is_name}
        room = self._width - len(_GAP) * (len(widths) - 1)
        for floors in (longest, dict.fromkeys(widths, 0)):
            for i in sorted(widths, key=widths.__getitem__, reverse=True):
                if not is_name[i] and sum(widths.values()) > room:
                    floor = max(floors[i], min(_NARROWEST, widths[i]))
                    widths[i] = max(floor, widths[i] - (sum(widths.values()) - room))
        for i in sorted(widths, key=widths.__getitem__, reverse=True):
            if is_name[i] and (excess := sum(widths.values()) - room) > 0:
                fitting = max((len(row[i]) for row in texts if len(row[i]) <= widths[i] - excess), default=0)
                widths[i] = max(fitting, min(4, widths[i]))  # an empty heading has no minimum width
        for i, width in list(widths.items()):
            if not is_name[i] and sum(widths.values()) < room:
                widths[i] = min(max(len(row[i]) for row in texts), width + room - sum(widths.values()))
        return widths

    def _row(
        self, row: tuple[str, ...], cells: tuple[Cell, ...], widths: dict[int, int], numbers: set[int]
    ) -> Iterator[str]:
        """Yield the lines of a row. A word that does not fit into its cell goes on the next line."""
        begin: list[str] = []
        segment: dict[int, list[str]] = {}
        start = 0
        for i, width in widths.items():
            # Indent continuation lines of the first column, so that a word there cannot be mistaken for a name.
            hang = "" if start else "  "
            parts = wrap(row[i], width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False) or [""]
            longest = max(map(len, parts))
            if segment and start + longest > self._width:
                yield from self._lines(begin, segment, cells, widths, numbers)
                begin, segment = [" " * max(min(start, self._width - longest) - len(_GAP), 0)], {}
            segment[i] = parts
            start += width + len(_GAP)
            if longest > width:
                yield from self._lines(begin, segment, cells, widths, numbers)
                begin, segment = [" " * (start - len(_GAP))], {}
        if any(any(parts) for parts in segment.values()):
            yield from self._lines(begin, segment, cells, widths, numbers)

    def _lines(
        self,
        begin: list[str],
        segment: dict[int, list[str]],
        cells: tuple[Cell, ...],
        widths: dict[int, int],
        numbers: set[int],
    ) -> Iterator[str]:
        for line in range(max(map(len, segment.values()), default=0)):
            drawn = list(begin)
            for i, parts in segment.items():
                words = parts[line] if line < len(parts) else ""
                cell, gap = cells[i] if cells else None, " " * (widths[i] - len(words))
                marked = self._mark(words, cell.role) if isinstance(cell, Span) else words
                drawn.append(gap + marked if i in numbers else marked + gap)
            yield _GAP.join(drawn)

    def _mark(self, words: str, role: Role) -> str:
        return f"{colour_mark(_COLOURS[role])}{words}{colour_mark('0')}" if self._colour and role else words


def _wrapped(words: str, width: int, hang: int) -> list[str]:
    indent = " " * (len(words) - len(words.lstrip()))
    return wrap(
        words.lstrip(),
        width,
        initial_indent=indent,
        subsequent_indent=" " * hang,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]


def _drawn(cell: Cell) -> str:
    return "█" * min(cell.value, _LONGEST_BAR) if isinstance(cell, Bar) else cell_text(cell)


def _beginning(words: str) -> str:
    """Return the first words of a line, in quotes if they look like a verdict or a label."""
    return f'"{words}"' if _LABELLED.match(words) else words


def _total(texts: list[tuple[str, ...]], columns: list[int]) -> int:
    return sum(max(len(row[i]) for row in texts) + len(_GAP) for i in columns) - len(_GAP)
