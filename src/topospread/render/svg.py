"""Draw a page's bars as one SVG picture. A table row becomes a bar with its limit."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from topospread.errors import UsageError

from .blocks import Bar, Page, Part, Section, Table, Verdict, cell_text

_ROW, _LEFT, _BAR, _RIGHT = 22, 16, 240, 16
_LETTER = 7.3
"""Width in pixels of a letter in the 12 px monospaced font."""


def svg(page: Page) -> str:
    """Return the tables that have bars as one SVG picture, light and dark. Raise UsageError if the page has no bars."""
    tables = [each for each in _tables(page.parts) if any(isinstance(c, Bar) for row in each.rows for c in row)]
    if not tables:
        raise UsageError("-o svg: this answer has no bars to draw")
    verdict = next((each for each in page.parts if isinstance(each, Verdict)), None)
    heading = f"{verdict.word}: {verdict.says}" if verdict is not None else page.title
    drawn = [_text(_LEFT, 24, heading, "title")]
    top, width = 44, 0.0
    for table in tables:
        lines, height, wide = _table(table, top)
        drawn += lines
        top, width = top + height + 16, max(width, wide)
    width = max(width, _LEFT + len(heading) * _LETTER + _RIGHT)
    style = (
        "text{font:12px ui-monospace,monospace;fill:#1f2328}.title{font-weight:600}.head{opacity:.7}"
        "rect.bar{fill:#3b6fb6}rect.over{fill:#c4002b}path{stroke:#1f2328}rect.back{fill:#fff}"
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}path{stroke:#e6edf3}rect.back{fill:#0d1117}"
        "rect.bar{fill:#6ea8fe}rect.over{fill:#ff7b8a}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {top}" width="{width:.0f}" height="{top}" '
        f'role="img" aria-label="{escape(heading)}"><style>{style}</style>'
        f'<rect class="back" width="100%" height="100%"/>{"".join(drawn)}</svg>\n'
    )


def _tables(parts: tuple[Part, ...]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Table):
            yield part
        elif isinstance(part, Section):
            yield from _tables(part.parts)


def _table(table: Table, top: int) -> tuple[list[str], int, float]:
    """Return the picture of a table, its height and its right edge in pixels."""
    lengths = [max(len(cell_text(row[i])) for row in (table.heads, *table.rows)) for i in range(len(table.heads))]
    has_bar = [any(isinstance(row[i], Bar) for row in table.rows) for i in range(len(table.heads))]
    bars = [cell for row in table.rows for cell in row if isinstance(cell, Bar)]
    largest = max([1, *(max(each.value, each.limit or 0) for each in bars)])
    lefts, left = [], float(_LEFT)
    for i, length in enumerate(lengths):
        lefts.append(left)
        left += (_BAR if has_bar[i] else length * _LETTER) + 14
    drawn = [_text(lefts[i], top + 14, head, "head") for i, head in enumerate(table.heads) if head]
    for at, row in enumerate(table.rows, 1):
        y = top + at * _ROW
        for i, cell in enumerate(row):
            if isinstance(cell, Bar):
                over = cell.limit is not None and cell.value > cell.limit
                drawn.append(
                    f'<rect class="{"over" if over else "bar"}" x="{lefts[i]:.0f}" y="{y + 3}" '
                    f'width="{_BAR * cell.value / largest:.1f}" height="14"/>'
                )
                if cell.limit is not None:
                    drawn.append(f'<path d="M{lefts[i] + _BAR * cell.limit / largest:.1f} {y}v{_ROW}"/>')
            elif cell_text(cell):
                drawn.append(_text(lefts[i], y + 14, cell_text(cell), ""))
    return drawn, (len(table.rows) + 1) * _ROW, left + _RIGHT


def _text(x: float, y: int, words: str, name: str) -> str:
    return f'<text x="{x:.0f}" y="{y}"{f" class={chr(34)}{name}{chr(34)}" if name else ""}>{escape(words)}</text>'
