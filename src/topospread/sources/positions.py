"""Parse and format field paths, and find a field's line and column in YAML or JSON.

Paths use the API server's syntax: ``spec.containers[0].resources.limits[nvidia.com/gpu]``.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Final

import msgspec
import yaml
from yaml.events import (
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from topospread.api.yaml_scalars import ScalarError, key_text, plain_scalar

Path = tuple[str | int, ...]
"""Keys of mappings and indices of lists. Numbers in a parsed path may also be keys."""

_DEEPEST: Final = 32
"""Maximum depth of fields whose positions are cached, because memory grows with depth."""
_STEP: Final = re.compile(r"\[([^\]]{0,400})\]|([^.\[\]]+)")  # a bound, as each of many "[" looks for its "]"
_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def parse_path(field: str) -> Path:
    """Parse a path in the API server's syntax."""
    return tuple(
        int(inside) if inside.isascii() and inside.isdigit() and len(inside) < 10 else inside or name
        for inside, name in _STEP.findall(field)
    )


def format_path(path: Sequence[str | int]) -> str:
    """Format a path in the API server's syntax. Keys with special characters are in brackets."""
    text = ""
    for step in path:
        if isinstance(step, int) or not _PLAIN.fullmatch(step):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


class Position(msgspec.Struct, frozen=True):
    """A line and a column, both from 1."""

    line: int
    column: int


def locate(data: bytes, document: int, path: Path) -> Position | None:
    """Return the position of a field of a YAML document (or JSON text): its key, or the list item itself.

    For a missing field, return the position of its nearest existing parent; None if the text cannot be parsed so far.

    Args:
        document: number of the document, from 1.
        path: the field; () is the document itself.
    """
    found = positions(data, document, path)
    for length in range(len(path), -1, -1):
        for steps, position in found.items():
            if len(steps) == length:
                return position
    return None


def positions(data: bytes, document: int, within: Path | None = None) -> dict[Path, Position]:
    """Return path → position of a document's fields, up to the first syntax error.

    If a key is repeated, its first position is returned. Values that an alias repeats are not listed again.

    Args:
        document: number of the document, from 1.
        within: limit the result to the parents of this field.
    """
    walk = _EventWalk(within)
    with contextlib.suppress(yaml.YAMLError, RecursionError):
        walk.document(yaml.CLoader(data), document)
    return walk.found


class _EventWalk:
    """Collects positions from the parse events of one document."""

    def __init__(self, within: Path | None) -> None:
        self.within = within
        self.found: dict[Path, Position] = {}

    def document(self, loader: yaml.CLoader, number: int) -> None:
        """Record the fields of a document, after skipping the documents before it."""
        while number:
            event = next_event(loader)
            if type(event) is StreamEndEvent:
                return
            number -= type(event) is DocumentStartEvent
        event = next_event(loader)
        self._node(loader, event, (), event)

    def _node(self, loader: yaml.CLoader, event: Event, path: Path | None, named: Event) -> None:
        """Record a node and its children. ``named`` is the event for its position."""
        mark = named.start_mark
        if path is not None and mark is not None:
            self.found.setdefault(path, Position(mark.line + 1, mark.column + 1))
        if type(event) is SequenceStartEvent:
            index = 0
            while type(item := next_event(loader)) is not SequenceEndEvent:
                self._node(loader, item, self._step(path, index), item)
                index += 1
        elif type(event) is MappingStartEvent:
            while type(key := next_event(loader)) is not MappingEndEvent:
                name = key_in(key)
                if name is None:
                    self._node(loader, key, None, key)
                self._node(loader, next_event(loader), self._step(path, name), key)

    def _step(self, path: Path | None, step: str | int | None) -> Path | None:
        """Return the path one step deeper; None if this branch is not wanted."""
        if path is None or step is None:
            return None
        within = self.within
        if within is None:
            return (*path, step) if len(path) < _DEEPEST else None
        if len(path) >= len(within) or str(within[len(path)]) != str(step):
            return None
        return (*path, step)


def next_event(loader: yaml.CLoader) -> Event:
    """Return the next event, which must exist."""
    event = loader.get_event()
    assert event is not None, "asked beyond the end of the stream"
    return event


def key_in(event: Event) -> str | None:
    """Return a key in its JSON form; None if it is not a plain scalar."""
    if type(event) is not ScalarEvent:
        return None
    try:
        return key_text(plain_scalar(event.value) if event.implicit[0] and event.tag is None else event.value)
    except ScalarError:
        return None
