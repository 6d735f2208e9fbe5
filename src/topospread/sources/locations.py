"""Locations of objects in a text, for messages about them. Line numbers are computed on demand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from topospread.errors import Place

from .json_layout import locate_in_json
from .positions import Path, Position, format_path, locate, parse_path
from .text import Text, place_of_byte, printable


class Location(msgspec.Struct, frozen=True):
    """The document of an object, or its item in a list.

    Attributes:
        document: position of the YAML document, from 1; None in JSON.
        line: line at which the document starts, from 1; None if not computed yet.
        start: offset of the object's first byte (JSON only).
        end: offset after its last byte (JSON only).
        path: path of the object in the document; () for the document itself.
    """

    text: Text
    document: int | None = None
    line: int | None = None
    start: int = 0
    end: int = 0
    path: Path = ()

    def item(self, *steps: str | int) -> Location:
        """Return the location of an item of this YAML list."""
        return with_fields(self, line=None, path=(*self.path, *steps))

    def rough(self, name: str = "") -> Place:
        """Return the place as far as known without parsing. Rendered texts have no line."""
        return Place(self.text.name, self.document, name, line=None if self.text.origins else self.line)

    def place(self, name: str = "", field: str = "") -> Place:
        """Return the place of the object or a field, with line and column.

        Args:
            name: the object's name in messages; "" for an unnamed object, whose field path starts at the document.
        """
        if self.document is None:
            found = locate_in_json(self.text.data[self.start : self.end], parse_path(field))
            return self.json_place(found, name, field)
        place = self._named(name, field)
        path = (*self.path, *parse_path(field))
        found = locate(self.text.data, self.document, path)
        place = replace(place, line=found.line, column=found.column) if found else replace(place, line=self.line)
        return self.text.origins.place(self.document, path, place) if self.text.origins else place

    def _named(self, name: str, field: str) -> Place:
        shown = field if name else format_path(self.path) + ("." if self.path and field else "") + field
        return Place(self.text.name, self.document, printable(name), printable(shown))

    def json_place(self, found: Position | None, name: str = "", field: str = "") -> Place:
        """Return the place of a field in JSON.

        Args:
            found: the field's line and column relative to the object; None if unknown.
            name, field: as for `place`.
        """
        place, begin = self._named(name, field), place_of_byte(self.text, self.start)
        if found is None or begin.line is None or begin.column is None:
            return replace(place, line=begin.line, column=begin.column)
        column = found.column + (begin.column - 1 if found.line == 1 else 0)
        return replace(place, line=begin.line + found.line - 1, column=column)


def label_of(value: dict[str, Any], kind: str, namespace: str = "") -> str:
    """Return ``Kind namespace/name`` of an object; "" without a name."""
    metadata = value.get("metadata")
    if not isinstance(metadata, dict):
        return ""
    name = metadata.get("name") or metadata.get("generateName")
    if not isinstance(name, str):
        return ""
    own = metadata.get("namespace")
    space = own if isinstance(own, str) and own else namespace
    return f"{kind} {space}/{name}" if namespace else f"{kind} {name}"
