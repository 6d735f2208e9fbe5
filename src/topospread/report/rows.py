"""Workloads as one line each, in columns; which of them are told in blocks instead is their callers' matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from .layout import Layout
from .paragraphs import hanging, shown_length

_GAP = 2
_BELOW = 4
_LEAST_FACTS = 40
"""Columns that names leave to what is said of them; a longer name shifts its own line alone."""


class Row(msgspec.Struct, frozen=True):
    """One workload.

    Attributes:
        name: ``NAMESPACE/NAME``.
        facts: what is said of it, a column each.
        ways: how the last thing can be said, the longest first; the last one is said where none fits.
    """

    name: str
    facts: tuple[str, ...]
    ways: tuple[str, ...] = ()


class Noted(Protocol):
    """What has a name and notes."""

    @property
    def namespace(self) -> str:
        """Where it is."""

    @property
    def name(self) -> str:
        """Its own name."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on it."""


def notes_once(workloads: Iterable[Noted], layout: Layout) -> Iterator[str]:
    """What is noted of workloads, a sentence once with the names of all that it is said of."""
    noted: dict[str, list[str]] = {}
    for each in workloads:
        for note in each.notes:
            noted.setdefault(note, []).append(f"{each.namespace}/{each.name}")
    for note, names in noted.items():
        yield from hanging("note: ", f"{layout.names(names)}: {note}", layout.width, 2)


def row_lines(rows: Sequence[Row], layout: Layout) -> Iterator[str]:
    """The rows below each other."""
    most = max(layout.width - _LEAST_FACTS, layout.width // 2)
    name = max((len(each.name) for each in rows if len(each.name) <= most), default=0)
    number = max((len(each.facts) for each in rows), default=0)
    columns = [max(len(each.facts[i]) for each in rows if i < len(each.facts)) for i in range(number)]
    for each in rows:
        cells = [layout.style(each.name, "bold") + " " * (name - len(each.name))]
        cells += [f"{fact:<{width}}" for fact, width in zip(each.facts, columns, strict=False)]
        begin = (" " * _GAP).join(cells)
        room = layout.width - shown_length(begin) - _GAP
        fitting = (way for way in each.ways if shown_length(way) <= room)
        last = next(fitting, each.ways[-1] if each.ways else "")
        yield from hanging(begin + " " * _GAP, last, layout.width, _BELOW)
