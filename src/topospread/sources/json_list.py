"""A list of objects in JSON, taken apart but not decoded; where an item stands is found out when somebody asks."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from topospread.api.meta import KubeStruct

from .locations import Location
from .snapshot_facts import read_facts

_BETWEEN_ITEMS: Final = re.compile(rb"[\s,]*")


class _Envelope(KubeStruct):
    """The outermost part of a document: enough to tell a list from an object."""

    kind: str = ""
    api_version: str = ""
    items: list[msgspec.Raw] | None = None
    topospread: msgspec.Raw = msgspec.Raw(b"null")


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)


class JsonList:
    """A ``List``, ``PodList`` ….

    Attributes:
        location: where the list stands.
        kind: its kind.
        api_version: its apiVersion, "" when it has none.
        items: what stands in it, item by item.
        facts: what a snapshot says of itself, None in lists of others.
    """

    def __init__(self, location: Location, envelope: _Envelope) -> None:
        self.location = location
        self.kind = envelope.kind
        self.api_version = envelope.api_version
        self.items = envelope.items or []
        self.facts = read_facts(envelope.topospread)
        self._next = 0
        self._offset = location.start

    @classmethod
    def at(cls, location: Location) -> JsonList | None:
        """The list that stands at a location; None when something else does."""
        try:
            envelope = _ENVELOPE.decode(location.text.data[location.start : location.end])
        except (ValueError, RecursionError):
            return None
        return cls(location, envelope) if envelope.items is not None and envelope.kind.endswith("List") else None

    def spot_of(self, index: int) -> Location:
        """Return the position of an item; asked in the order of items, the text is scanned once."""
        if index < self._next:
            self._next, self._offset = 0, self.location.start
        start = self._offset
        while self._next <= index:
            raw = bytes(self.items[self._next])
            start = self._start_of(raw)
            self._offset = start + len(raw)
            self._next += 1
        return self.location.json_item(index, start, self._offset)

    def _start_of(self, raw: bytes) -> int:
        """Return the position of the next item: behind the last one, after a comma and space."""
        data = self.location.text.data
        gap = _BETWEEN_ITEMS.match(data, self._offset) if self._next else None
        start = gap.end() if gap else self._offset
        return (
            start if data.startswith(raw, start) else max(self._offset, data.find(raw, self._offset, self.location.end))
        )
