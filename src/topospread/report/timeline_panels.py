"""What a drill's picture shows, as rows of numbers: of every workload its domains, its pods that are ready or wait.

A constraint over many domains, as nodes are, is a row from the fewest to the most in one of them. Workloads that stand
worst are shown whole, of others how many pods are ready, so that the picture of a large cluster stays one that is seen
at once. Nothing is drawn here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .paragraphs import counted, natural

if TYPE_CHECKING:
    from topospread.drills import Drill, WorkloadState
    from topospread.simulation.result import WorkloadSpread

Cells = list[int | None]
"""A number for every step; ``None`` before anything is known."""
_HOSTNAME = "kubernetes.io/hostname"
_FEW, _FEW_CHANGED = 8, 3
"""So many domains have a row each; of more those that change, where they are so few."""
_ROWS = 26
"""Workloads are shown whole until they fill so many rows …"""
_LISTED = 10
"""… and of so many others how many pods are ready."""


@dataclass(slots=True)
class PanelRow:
    """Numbers after each step.

    Attributes:
        most: the greatest where ``cells`` are the fewest of several domains, else the same.
        waiting: pods that wait beside them.
        title: what the name is short for.
    """

    name: str
    cells: Cells
    most: Cells
    waiting: Cells = field(default_factory=list)
    is_pending: bool = False
    title: str = ""

    @property
    def highest(self) -> int:
        """What the longest bar stands for."""
        waiting = self.waiting or [0] * len(self.most)
        return max(((a or 0) + (b or 0) for a, b in zip(self.most, waiting, strict=True)), default=0)


@dataclass(slots=True)
class Panel:
    """Rows that share a scale, below a heading."""

    heading: str
    rows: list[PanelRow]

    @property
    def highest(self) -> int:
        """What the longest bar stands for, at least 1."""
        return max((each.highest for each in self.rows), default=0) or 1


@dataclass(slots=True)
class _OneWorkload:
    """A workload in all steps: its panels, and what is told of it where they are not shown."""

    kind: str
    name: str
    ready: Cells
    pending: Cells
    panels: list[Panel]
    goodness: tuple[int, ...]

    @property
    def lines(self) -> int:
        """How many rows it takes, headings among them."""
        return sum(1 + len(each.rows) for each in self.panels)


def panels(drill: Drill) -> list[Panel]:
    """All that is shown, whatever stands worst first; nothing where nothing happened to any workload."""
    workloads = sorted(_workloads(drill), key=lambda each: each.goodness)
    whole, room = 0, _ROWS
    for each in workloads:
        room -= each.lines
        if whole and room < 0:
            break
        whole += 1
    shown = [panel for each in workloads[:whole] for panel in each.panels]
    others = workloads[whole:]
    if others:
        shown.append(_listed(others))
    if len(workloads) > 1:
        shown.insert(0, _in_all(drill))
    return shown


def _in_all(drill: Drill) -> Panel:
    ready: Cells = [each.ready for each in drill.steps]
    pending: Cells = [sum(len(group.pods) for group in each.pending) for each in drill.steps]
    return Panel("all workloads", [_plain("ready", ready), *_waiting(pending)])


def _listed(others: Sequence[_OneWorkload]) -> Panel:
    """A row for each of the workloads that have no panel of their own; of many the last is for all that are left."""
    rows = [
        PanelRow(each.name, each.ready, each.ready, each.pending, title=f"{each.kind} {each.name}")
        for each in others[:_LISTED]
    ]
    heading = f"{counted(len(others), 'workload')} more, pods that are ready"
    left = others[_LISTED:]
    if left:
        ready, pending = _sums(each.ready for each in left), _sums(each.pending for each in left)
        rows.append(PanelRow(f"and {len(left)} more", ready, ready, pending))
    return Panel(heading, rows)


def _sums(rows: Iterable[Cells]) -> Cells:
    return [sum(cell or 0 for cell in column) for column in zip(*rows, strict=True)]


def _workloads(drill: Drill) -> Iterator[_OneWorkload]:
    """Workloads in the order in which something first happened to them."""
    by_step = [{(each.kind, each.namespace, each.name): each for each in step.changed} for step in drill.steps]
    for key in dict.fromkeys(key for step in by_step for key in step):
        states = [step.get(key) for step in by_step]
        known = [each for each in states if each is not None]
        pending = _carried([None if each is None else each.pending for each in states], 0)
        ready = _carried([None if each is None else each.ready for each in states], known[0].ready_before)
        name = f"{key[1]}/{key[2]}"
        lost = max(each.replicas - each.fewest for each in known)
        goodness = (-max(each or 0 for each in pending), not known[-1].is_skewed, -lost)
        drawn = list(_of_workload(f"{name} {key[0]}", states, ready, pending))
        yield _OneWorkload(key[0], name, ready, pending, drawn, goodness)


def _of_workload(name: str, states: Sequence[WorkloadState | None], ready: Cells, pending: Cells) -> Iterator[Panel]:
    """A panel for each constraint; what waits stands in the last."""
    last = next(state for state in reversed(states) if state is not None)
    drawn = [(each, _rows(states, each)) for each in _worth_drawing(last.spread)]
    if not drawn:
        yield Panel(f"{name}, in no domains of a constraint", [_plain("ready", ready), *_waiting(pending)])
    for number, (spread, rows) in enumerate(drawn, 1):
        kind = "hard" if spread.hard else "soft"
        heading = f"{name}, {spread.topology_key} ({kind}, maxSkew {spread.max_skew})"
        first = [_plain("ready", ready)] if number == 1 and not _sum_up_to(rows, ready) else []
        yield Panel(heading, [*first, *rows, *(_waiting(pending) if number == len(drawn) else [])])


def _sum_up_to(rows: Sequence[PanelRow], ready: Cells) -> bool:
    """Whether the pods of the domains are those that are ready: others are on nodes that fell silent, or elsewhere."""
    return all(each.most is each.cells for each in rows) and _sums(each.cells for each in rows) == ready


def _worth_drawing(spreads: Sequence[WorkloadSpread]) -> list[WorkloadSpread]:
    """All constraints that somebody wrote; of built-in defaults those over few domains, as one for nodes is not."""
    return [each for each in spreads if each.origin != "system" or len(each.domains.names) <= _FEW]


def _plain(name: str, cells: Cells) -> PanelRow:
    return PanelRow(name, cells, cells)


def _waiting(pending: Cells) -> list[PanelRow]:
    return [PanelRow("pending", pending, pending, is_pending=True)] if any(pending) else []


def _rows(states: Sequence[WorkloadState | None], spread: WorkloadSpread) -> list[PanelRow]:
    """The domains of a constraint; of many those that change, where they are few, and all others in one row."""
    domains = _domains(states, spread)
    if len(domains) <= _FEW:
        return [_plain(name, cells) for name, cells in domains.items()]
    changed = [name for name, cells in domains.items() if len(set(cells)) > 1]
    own = changed if len(changed) <= _FEW_CHANGED else []
    noun = "node" if spread.topology_key == _HOSTNAME else "domain"
    others = [cells for name, cells in domains.items() if name not in own]
    columns = [[cell for cell in column if cell is not None] for column in zip(*others, strict=True)]
    fewest: Cells = [min(column, default=None) for column in columns]
    most: Cells = [max(column, default=None) for column in columns]
    name = f"{len(others)} {'other ' if own else ''}{noun}s, each"
    return [*(_plain(each, domains[each]) for each in own), PanelRow(name, fewest, most)]


def _domains(states: Sequence[WorkloadState | None], spread: WorkloadSpread) -> dict[str, Cells]:
    """Domain → pods after each step, of one constraint."""
    key = spread.topology_key, spread.when_unsatisfiable
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
