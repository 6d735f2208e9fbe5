"""A drill as an SVG picture: of every workload its domains as rows, the steps as columns; pods that wait in red.

It shows what the report's tables say, and computes nothing; what all pictures are made of is `drawing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .drawing import CHARACTER, DOWN, LINE, MARGIN, bar, cut, drawn, text
from .drill_events import clock
from .paragraphs import counted, natural

if TYPE_CHECKING:
    from topospread.drills import Drill, WorkloadState

_COLUMN = 150
_BAR = 84.0
_LONGEST_NAME = 28
_WORKLOADS, _DOMAINS = 20, 40
"""So many are drawn at most; of more the picture says how many."""
Cells = list[int | None]
"""A number for every step; ``None`` before anything is known."""


@dataclass(slots=True)
class _Panel:
    """A workload's row for each domain of a constraint, and what waits.

    Attributes:
        heading: whose it is, and which constraint's domains.
        rows: domain → pods after each step.
        pending: pods that wait after each step.
    """

    heading: str
    rows: dict[str, Cells]
    pending: Cells

    @property
    def most(self) -> int:
        """The longest bar."""
        cells = [*self.rows.values(), self.pending]
        return max((number for row in cells for number in row if number is not None), default=0) or 1


def drill_svg(drill: Drill) -> str:
    """A picture of all steps: how many pods each domain held after each, and how many waited."""
    panels = list(_panels(drill))
    steps = [each.step or "beginning" for each in drill.steps]
    left = MARGIN + _LONGEST_NAME * CHARACTER + 12
    width = int(left + _COLUMN * len(steps) + MARGIN)
    body = [text(MARGIN, 32, f"Drill of {counted(len(steps) - 1, 'step')}", "title")]
    body += _legend()
    for number, (step, outcome) in enumerate(zip(steps, drill.steps, strict=True)):
        x = left + number * _COLUMN
        body.append(text(x, 88, cut(step, int(_COLUMN / CHARACTER) - 1), "title"))
        body.append(text(x, 106, f"settled {clock(outcome.ends)}", "soft"))
    y = 136.0
    for panel in panels[:_WORKLOADS]:
        lines, y = _drawn_panel(panel, left, y)
        body += lines
    if not panels:
        body.append(text(MARGIN, y, "nothing happened to any workload", "soft"))
        y += LINE
    if len(panels) > _WORKLOADS:
        body.append(text(MARGIN, y, f"and {len(panels) - _WORKLOADS} more that are not drawn", "soft"))
        y += LINE
    return drawn("Drill: pods of each domain after each step", (width, int(y) + 4), body)


def _legend() -> Iterator[str]:
    yield bar(MARGIN, 46, 22, "bar")
    yield text(MARGIN + 30, 46 + DOWN, "pods on nodes", "soft")
    yield bar(MARGIN + 160, 46, 22, "missing")
    yield text(MARGIN + 190, 46 + DOWN, "pods that wait", "soft")


def _panels(drill: Drill) -> Iterator[_Panel]:
    """Workloads in the order in which something first happened to them, each constraint by itself."""
    keys = dict.fromkeys((each.kind, each.namespace, each.name) for step in drill.steps for each in step.changed)
    for key in keys:
        states = [
            next((each for each in step.changed if (each.kind, each.namespace, each.name) == key), None)
            for step in drill.steps
        ]
        yield from _of_workload(f"{key[1]}/{key[2]} {key[0]}", states)


def _of_workload(name: str, states: Sequence[WorkloadState | None]) -> Iterator[_Panel]:
    pending = _carried([None if state is None else state.pending for state in states], 0)
    last = next(state for state in reversed(states) if state is not None)
    if not last.spread:
        first = next(state for state in states if state is not None)
        ready = _carried([None if state is None else state.ready for state in states], first.ready_before)
        yield _Panel(f"{name}, in no domains of a constraint", {"ready": ready}, pending)
    for spread in last.spread:
        key = (spread.topology_key, spread.when_unsatisfiable)
        rows = _rows(states, key)
        kind = "hard" if spread.hard else "soft"
        yield _Panel(f"{name}, {spread.topology_key} ({kind}, maxSkew {spread.max_skew})", rows, pending)


def _rows(states: Sequence[WorkloadState | None], key: tuple[str, str]) -> dict[str, Cells]:
    """Domain → pods after each step, of one constraint."""
    begin: dict[str, int] = {}
    found: list[dict[str, int] | None] = []
    for state in states:
        alike = [
            each for each in (state.spread if state else ()) if (each.topology_key, each.when_unsatisfiable) == key
        ]
        if not alike:
            found.append(None)
            continue
        domains = alike[0].domains
        names = domains.names
        if not begin and not any(found):
            begin = dict(zip(names, map(int, domains.before), strict=True))
        found.append(dict(zip(names, map(int, domains.after), strict=True)))
    every = sorted({name for each in found if each is not None for name in each}, key=natural)
    return {
        name: _carried([None if each is None else each.get(name, 0) for each in found], begin.get(name))
        for name in every
    }


def _carried(cells: Cells, begin: int | None) -> Cells:
    """Numbers that stay until they change; ``begin``: what was so before the first is known."""
    now, carried = begin, []
    for each in cells:
        now = now if each is None else each
        carried.append(now)
    return carried


def _drawn_panel(panel: _Panel, left: float, y: float) -> tuple[list[str], float]:
    """The lines of a panel, and where the next begins."""
    lines = [text(MARGIN, y, panel.heading, "title")]
    y += 12
    unit = _BAR / panel.most
    for name, cells in list(panel.rows.items())[:_DOMAINS]:
        lines.append(text(MARGIN, y + DOWN, cut(name, _LONGEST_NAME)))
        lines += _cells(cells, (left, y), unit, "bar")
        y += LINE
    if len(panel.rows) > _DOMAINS:
        lines.append(text(MARGIN, y + DOWN, f"and {len(panel.rows) - _DOMAINS} more domains", "soft"))
        y += LINE
    if any(panel.pending):
        lines.append(text(MARGIN, y + DOWN, "pending", "missing"))
        lines += _cells(panel.pending, (left, y), unit, "missing")
        y += LINE
    return lines, y + 30


def _cells(cells: Cells, at: tuple[float, float], unit: float, kind: str) -> Iterator[str]:
    """A bar and its number in every column."""
    left, y = at
    for number, value in enumerate(cells):
        x = left + number * _COLUMN
        if value:
            yield bar(x, y, value * unit, kind)
        if value or (value == 0 and kind == "bar"):
            yield text(x + value * unit + 6, y + DOWN, str(value), "missing" if kind == "missing" else "soft")
