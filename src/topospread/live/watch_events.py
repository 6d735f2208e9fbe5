"""The events of a watch in the bytes of its answer, however they are cut. Objects are not decoded here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import msgspec

Json = msgspec.Raw | memoryview
"""The bytes of an object, as msgspec decodes them."""

_EVENT = re.compile(rb'\{"type":"(ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)","object":')
"""How Go writes the beginning of an event."""
_MODIFIED = b'{"type":"MODIFIED","object":'
"""That of nearly all events."""
_TYPES = {each.encode(): each for each in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR")}


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


_DECODER = msgspec.json.Decoder(_Event)


async def events_in(content: AsyncIterator[bytes]) -> AsyncIterator[list[tuple[str, Json]]]:
    """The events of a stream with one a line, all that are whole at a time.

    Raises:
        DecodeError: a line is no event, or was cut short.
    """
    parts: list[bytes] = []
    async for piece in content:
        lines = piece.split(b"\n")
        rest = lines.pop()
        if lines:
            if parts:
                lines[0] = b"".join([*parts, lines[0]])
            parts = []
            yield [_event(line) for line in lines]
        if rest:
            parts.append(rest)
    if parts:
        yield [_event(b"".join(parts))]


def _event(line: bytes) -> tuple[str, Json]:
    """The event of a line. Where Go wrote it, its object need not be looked for.

    Of a line that was cut short the object lacks its end, which whoever decodes it finds out.
    """
    if line.startswith(_MODIFIED) and line.endswith(b"}"):
        return "MODIFIED", memoryview(line)[len(_MODIFIED) : -1]
    found = _EVENT.match(line)
    if found is not None and line.endswith(b"}"):
        return _TYPES[found[1]], memoryview(line)[found.end() : -1]
    event = _DECODER.decode(line)
    return event.type, event.object
