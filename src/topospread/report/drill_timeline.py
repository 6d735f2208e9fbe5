"""A drill as an SVG picture: of every workload its domains as rows, the steps as columns; pods that wait in red.

It shows what the report's tables say, and computes nothing: the rows are those of `timeline_panels`, what all pictures
are made of is `drawing`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .drawing import CHARACTER, DOWN, MARGIN, bar, broken, drawn, shortened, text
from .drill_events import clock
from .paragraphs import counted
from .timeline_panels import Panel, PanelRow, panels

if TYPE_CHECKING:
    from topospread.drills import Drill

_SCREEN = 1260
"""The picture is as wide, where columns need be neither narrower nor wider than …"""
_NARROWEST, _WIDEST = 104, 176
_BESIDE_BARS = 78
"""What the longest bar of a column leaves to its number."""
_SEEN = 3.0
"""As wide is a bar at least."""
_LONGEST_NAME = 32
_HEAD_LINES = 8
_LINE, _HEAD_LINE, _BETWEEN = 21, 17, 14


def drill_svg(drill: Drill) -> str:
    """A picture of all steps: how many pods each domain held after each, and how many waited."""
    return _Picture(drill).drawn()


class _Picture:
    def __init__(self, drill: Drill) -> None:
        self._drill = drill
        self._panels = panels(drill)
        names = [row.name for panel in self._panels for row in panel.rows]
        longest = max((min(len(each), _LONGEST_NAME) for each in names), default=0)
        self._left = MARGIN + longest * CHARACTER + 16
        self._steps = [each.step or "beginning" for each in drill.steps]
        room = int(_SCREEN - self._left - MARGIN) // len(self._steps)
        self._column = min(max(room, _NARROWEST), _WIDEST)
        self._width = max(int(self._left + self._column * len(self._steps) + MARGIN), 480)

    def drawn(self) -> str:
        body = [text(MARGIN, 32, f"Drill of {counted(len(self._steps) - 1, 'step')}", "title")]
        body += self._legend()
        lines, y = self._heads(88)
        body += lines
        for panel in self._panels:
            lines, y = self._panel(panel, y)
            body += lines
        if not self._panels:
            body.append(text(MARGIN, y, "nothing happened to any workload", "soft"))
            y += _LINE
        return drawn("Drill: pods of each domain after each step", (self._width, int(y)), body)

    def _legend(self) -> Iterator[str]:
        x: float = MARGIN
        ranges = any(row.most is not row.cells for panel in self._panels for row in panel.rows)
        for kind, words in (("bar", "pods on nodes"), ("new", "fewest to most"), ("missing", "pods that wait")):
            if kind == "new" and not ranges:
                continue
            yield bar(x, 46, 22, kind)
            yield text(x + 30, 46 + DOWN, words, "soft")
            x += 30 + CHARACTER * (len(words) + 2)

    def _heads(self, y: float) -> tuple[list[str], float]:
        """The columns' heads, over as many lines as they take, and where the panels begin."""
        lines, most = [], int(self._column / CHARACTER) - 1
        heads = [broken(step, most, _HEAD_LINES) for step in self._steps]
        below = y + _HEAD_LINE * max(map(len, heads))
        for number, (step, head) in enumerate(zip(self._steps, heads, strict=True)):
            x = self._left + number * self._column
            lines += [text(x, y + i * _HEAD_LINE, part, "title", step) for i, part in enumerate(head)]
            lines.append(text(x, below, f"settled {clock(self._drill.steps[number].ends)}", "soft"))
        return lines, below + 30

    def _panel(self, panel: Panel, y: float) -> tuple[list[str], float]:
        """The lines of a panel, and where the next begins."""
        lines = []
        for words in broken(panel.heading, int((self._width - 2 * MARGIN) / CHARACTER), _HEAD_LINES):
            lines.append(text(MARGIN, y, words, "title", panel.heading))
            y += _HEAD_LINE
        y -= _HEAD_LINE - 7
        unit = (self._column - _BESIDE_BARS) / panel.highest
        for row in panel.rows:
            kind = "missing" if row.is_pending else ""
            lines.append(text(MARGIN, y + DOWN, shortened(row.name, _LONGEST_NAME), kind, row.title or row.name))
            for number in range(len(row.cells)):
                lines += _cell(row, number, (self._left + number * self._column, y), unit)
            y += _LINE
        return lines, y + _BETWEEN + DOWN


def _cell(row: PanelRow, number: int, at: tuple[float, float], unit: float) -> Iterator[str]:
    """Bars and their number."""
    (x, y), low, high = at, row.cells[number], row.most[number]
    waits = row.waiting[number] if row.waiting else None
    if low is None or high is None or (row.is_pending and not low):
        return
    parts = ((low, "missing" if row.is_pending else "bar"), (high - low, "new"), (waits or 0, "missing"))
    for pods, kind in parts:
        if pods:
            width = max(pods * unit, _SEEN)
            yield bar(x, y, width, kind)
            x += width
    words = f"{low}" if high == low else f"{low}–{high}"
    yield text(x + 6, y + DOWN, words, "missing" if row.is_pending else "soft")
    if waits:
        yield text(x + 6 + CHARACTER * (len(words) + 0.5), y + DOWN, f"+{waits}", "missing")
