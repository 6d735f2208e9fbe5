"""Positions of all fields in a YAML or JSON text: offset, line and column.

`topospread.sources.positions` finds one field for an error message. Lint needs many positions, so this module parses a
text once and keeps the result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from topospread.errors import Place
from topospread.sources.json_layout import Form, TextValue, json_root
from topospread.sources.locations import Location
from topospread.sources.positions import Path, Position, format_path, key_in, next_event, parse_path
from topospread.sources.text import Text, printable

_ENDS: Final = (MappingEndEvent, SequenceEndEvent)


def documents_of(data: bytes) -> list[TextValue]:
    """Return the documents of a YAML or JSON text, up to the first syntax error."""
    found: list[TextValue] = []
    loader = yaml.CLoader(data)
    try:
        while type(event := next_event(loader)) is not StreamEndEvent:
            if type(event) is DocumentStartEvent:
                first = next_event(loader)
                found.append(_node(loader, first, first, None))
    except (yaml.YAMLError, RecursionError):
        pass  # `documents` reads the values, and reports the syntax error.
    return found


def _node(loader: yaml.CLoader, event: Event, named: Event, key: int | None) -> TextValue:
    """Return the node that starts with an event. Line and column are those of the event ``named``."""
    begin, where, last = event.start_mark, named.start_mark, event.end_mark
    assert begin is not None
    assert where is not None
    assert last is not None
    form: Form = "scalar"
    style = ""
    if isinstance(event, MappingStartEvent):
        form = "mapping"
    elif isinstance(event, SequenceStartEvent):
        form = "list"
    elif isinstance(event, AliasEvent):
        form = "alias"
    elif isinstance(event, ScalarEvent):
        style = event.style or ""
    node = TextValue(form, where.line + 1, where.column + 1, begin.index, last.index, key, True, style, 0)
    node.last_line = last.line + (style not in ("|", ">") or last.column > 0)
    if isinstance(event, MappingStartEvent | SequenceStartEvent):
        _fill(loader, node, event)
    return node


def _fill(loader: yaml.CLoader, node: TextValue, event: MappingStartEvent | SequenceStartEvent) -> None:
    """Read a collection up to its end."""
    node.flow = bool(event.flow_style)
    last: TextValue | None = None
    index = 0
    while type(first := next_event(loader)) not in _ENDS:
        if node.form == "list":
            last = _node(loader, first, first, None)
            node.children[index] = last
            index += 1
            continue
        name = key_in(first)
        if type(first) in (MappingStartEvent, SequenceStartEvent):
            _node(loader, first, first, None)
        mark = first.start_mark
        last = _node(loader, next_event(loader), first, mark.index if mark else None)
        if name is not None:
            node.children.setdefault(name, last)
    # Only the event after a block collection tells where it ends.
    if node.flow or last is None:
        mark = first.end_mark
        node.end, node.last_line = (mark.index, mark.line + 1) if mark else (node.end, node.last_line)
    else:
        node.end, node.last_line = last.end, last.last_line


class Layouts:
    """Parsed positions of texts, cached per text.

    Attributes:
        blanked: number of characters in copies that `lint.configurations` made.
    """

    def __init__(self) -> None:
        self.blanked = 0
        self._known: dict[tuple[int, int], tuple[Text, list[TextValue]]] = {}
        self._in_json: dict[tuple[int, int, int], tuple[Text, TextValue | None]] = {}
        self._json_positions: dict[tuple[int, int, int], tuple[Text, TextValue | None]] = {}

    def documents(self, text: Text) -> list[TextValue]:
        """Return the documents of a text."""
        return self._laid_out(text, 0, len(text.data))

    def root(self, location: Location) -> TextValue | None:
        """Return the node of the object at a location.

        In JSON, offsets and lines are relative to ``location.start``.
        """
        if location.document is None:
            return self._root_in_json(location)
        documents = self._laid_out(location.text, 0, len(location.text.data))
        node = documents[location.document - 1] if location.document <= len(documents) else None
        for step in location.path:
            node = node.child(step) if node is not None else None
        return node

    def nearest(self, location: Location, path: Path) -> tuple[TextValue | None, int]:
        """Return the node of a field or its nearest existing ancestor, and the number of path steps found."""
        node = self.root(location)
        for taken, step in enumerate(path):
            below = node.child(step) if node is not None else None
            if below is None:
                return node, taken
            node = below
        return node, len(path)

    def place(self, location: Location, label: str = "", field: str = "") -> Place:
        """Return the place of an object or field, with line and column, like `Location.place`.

        Args:
            location: the object's location.
            label: the object's name in messages; "" for an unnamed object, whose field path starts at the document.
            field: path of the field in the object.
        """
        if location.document is None:
            return self._place_in_json(location, label, field)
        shown = field if label else format_path(location.path) + ("." if location.path and field else "") + field
        place = Place(location.text.name, location.document, printable(label), printable(shown))
        node, _ = self.nearest(location, parse_path(field))
        if node is None:
            return replace(place, line=location.line or 1, column=None if location.line else 1)
        return replace(place, line=node.line, column=node.column)

    def _place_in_json(self, location: Location, label: str, field: str) -> Place:
        text, start, end = location.text, location.start, location.end
        key = (id(text), start, end)
        if key not in self._json_positions:
            root = json_root(text.data[start:end], as_yaml=False)
            self._json_positions[key] = (text, self._root_in_json(location) if root is None else root)
        node = self._json_positions[key][1]
        for step in parse_path(field):
            below = node.child(step) if node is not None else None
            if below is None:
                break
            node = below
        return location.json_place(Position(node.line, node.column) if node is not None else None, label, field)

    def _root_in_json(self, location: Location) -> TextValue | None:
        text, start, end = location.text, location.start, location.end
        key = (id(text), start, end)
        if key not in self._in_json:
            root = json_root(text.data[start:end])
            if root is None:
                found = self._laid_out(text, start, end)
                root = found[0] if found else None
            self._in_json[key] = (text, root)
        return self._in_json[key][1]

    def _laid_out(self, text: Text, start: int, end: int) -> list[TextValue]:
        key = (id(text), start)
        if key not in self._known:
            # Keep the text alive, so that its id stays unique.
            self._known[key] = (text, documents_of(text.data[start:end]))
        return self._known[key][1]
