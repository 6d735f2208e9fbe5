"""Where a field stands in JSON, found without going through all that stands beside it; YAML is `positions`' business.

What lies beside the way is skipped by the decoder, as whole values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count

from .positions import Path, Position, locate

_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n"


def locate_in_json(data: bytes, path: Path) -> Position | None:
    """What `topospread.sources.positions.locate` answers of the only document of a text.

    Args:
        data: one JSON value; text that is none is looked through as YAML.
        path: the field; () is the document itself.
    """
    try:
        text = data.decode()
        return _position(text, _nearest(text, path))
    except (ValueError, IndexError, RecursionError):
        return locate(data, 1, path)


def _nearest(text: str, path: Path) -> int:
    """Offset of the key or item that a path leads to, or of the nearest it would stand in."""
    named = at = _after_space(text, 0)
    for step in path:
        below = next((place for name, *place in _members(text, at) if name == str(step)), None)
        if below is None:
            break
        named, at = below
    return named


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Of what stands in an object or a list, one after another: key or index, where it is named, where its value is."""
    is_object = text[at] == "{"
    if not is_object and text[at] != "[":
        return
    for index in count():
        at = named = _after_space(text, at + 1)
        if text[at] in "}]":
            return
        name = str(index)
        if is_object:
            name, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        yield name, named, at
        at = _after_space(text, _DECODER.raw_decode(text, at)[1])
        if text[at] != ",":
            return


def _after_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at


def _position(text: str, at: int) -> Position:
    return Position(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))
