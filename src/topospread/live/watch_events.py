"""Split the bytes of a watch response into events. Objects are not decoded here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import msgspec

Json = msgspec.Raw | memoryview
"""The bytes of an object, for msgspec."""

_EVENT = re.compile(rb'\{"type":"(ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)","object":')
"""Matches the start of an event as Go writes it."""
_CLOSES = ord("}")
_TYPES = {each.encode(): each for each in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")}


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


_DECODER = msgspec.json.Decoder(_Event)


async def events_in(content: AsyncIterator[bytes]) -> AsyncIterator[list[tuple[str, Json]]]:
    """Yield batches of complete events, one per line. Raise DecodeError if a line is incomplete or not an event."""
    parts: list[bytes] = []
    async for piece in content:
        end = piece.rfind(b"\n") + 1
        if end:
            lines = b"".join([*parts, piece[:end]])
            parts = []
            yield list(_events(lines))
        if end < len(piece):
            parts.append(piece[end:])
    if parts:
        yield list(_events(b"".join([*parts, b"\n"])))


def _events(lines: bytes) -> Iterator[tuple[str, Json]]:
    """Yield the events of complete lines. Searching for line ends is faster than ``bytes.split``."""
    begin = 0
    while begin < len(lines):
        end = lines.index(b"\n", begin)
        yield _event(lines, begin, end)
        begin = end + 1


def _event(content: bytes, begin: int, end: int) -> tuple[str, Json]:
    """Return the event of a line, from ``begin`` to ``end``. Fast for events that Go wrote.

    The object of an incomplete line lacks its end, which decoding detects.
    """
    found = _EVENT.match(content, begin, end)
    if found is not None and content[end - 1] == _CLOSES:
        return _TYPES[found[1]], memoryview(content)[found.end() : end - 1]
    event = _DECODER.decode(content[begin:end])
    return event.type, event.object
