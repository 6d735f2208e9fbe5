"""Find the places of the annotations in which workloads declare promises."""

from __future__ import annotations

from topospread.api.promises import PROMISE, QUORUM
from topospread.errors import Place

from .json_text import JsonList
from .locations import Location
from .objects import ReadObject
from .positions import Path, Position, format_path, parse_path, positions
from .text import printable


class DeclarationPlaces:
    """Finds the places of annotations. Each document, and each JSON list, is scanned once."""

    def __init__(self) -> None:
        self._fields: dict[tuple[int, int], dict[Path, Position]] = {}
        self._lists: dict[int, JsonList | None] = {}

    def of(self, read: ReadObject) -> Place | None:
        """Return the place of an object's misspelt, promise or quorum annotation, the first that exists; else None."""
        annotations, location = read.item.metadata.annotations, read.location
        if annotations is None or location is None or not annotations.declares:
            return None
        key = annotations.misspelt or (PROMISE if annotations.promise else QUORUM)
        field = f"metadata.annotations[{key}]"
        if location.document is not None:
            return self._in_yaml(location, location.document, read.place.object, field)
        if read.position is not None:
            if id(location) not in self._lists:
                self._lists[id(location)] = JsonList.at(location)
            listed = self._lists[id(location)]
            location = location if listed is None else listed.spot_of(read.position)
        return location.place(read.place.object, field)

    def _in_yaml(self, location: Location, document: int, name: str, field: str) -> Place:
        text, key = location.text, (id(location.text), document)
        # Parse only from the document's line if it is known. An item of a list knows only its document's number.
        begin, above = (text.bounds(location.line)[0], location.line - 1) if location.line else (0, 0)
        if key not in self._fields:
            self._fields[key] = positions(text.data[begin:], 1 if location.line else document)
        path = (*location.path, *parse_path(field))
        ways = (path[:length] for length in range(len(path), -1, -1))
        found = next((self._fields[key][way] for way in ways if way in self._fields[key]), Position(1, 1))
        shown = field if name else format_path(path)
        place = Place(text.name, document, printable(name), printable(shown), found.line + above, found.column)
        return text.origins.place(document, path, place) if text.origins else place
