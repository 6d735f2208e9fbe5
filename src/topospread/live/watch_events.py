"""The events of a watch in the bytes of its answer, however they are cut. Objects are not decoded here."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterator

import msgspec

Json = msgspec.Raw | memoryview
"""The bytes of an object, as msgspec decodes them."""

_EVENT = re.compile(rb'\{"type":"(ADDED|MODIFIED|DELETED|BOOKMARK|ERROR)","object":')
"""How Go writes the beginning of an event."""
_CLOSES = ord("}")
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
    """The events of whole lines. Their ends are searched for: ``bytes.split`` looks at every byte by itself."""
    begin = 0
    while begin < len(lines):
        end = lines.index(b"\n", begin)
        yield _event(lines, begin, end)
        begin = end + 1


def _event(content: bytes, begin: int, end: int) -> tuple[str, Json]:
    """The event of a line, from ``begin`` to ``end``. Where Go wrote it, its object need not be looked for.

    Of a line that was cut short the object lacks its end, which whoever decodes it finds out.
    """
    found = _EVENT.match(content, begin, end)
    if found is not None and content[end - 1] == _CLOSES:
        return _TYPES[found[1]], memoryview(content)[found.end() : end - 1]
    event = _DECODER.decode(content[begin:end])
    return event.type, event.object
