"""Positions of values in a JSON text, computed level by level on demand.

`lint.layout` and `positions` parse every token, as YAML requires. In JSON, only the path to a field is parsed, and
Python's fast scanner skips the rest.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final, Literal

import msgspec

from .positions import Path, Position, locate

# A value in a YAML or JSON text: its characters, line and column.

Form = Literal["scalar", "mapping", "list", "alias"]


class TextValue(msgspec.Struct):
    """A value in a text. Offsets count characters from the beginning of the text, from 0.

    Attributes:
        form: kind of value; aliases are not resolved.
        line: line of its key, or of the value without a key, from 1.
        column: column of the same position, from 1.
        start: offset of its first character, including an anchor or tag.
        end: offset after its last character, without trailing comments and empty lines.
        key: offset of its key; None for list items and the document.
        flow: whether it is in flow style; for a scalar, whether it is on one line.
        style: quote or block scalar indicator; "" for a plain scalar.
        last_line: line of its last character, from 1.
        unread: computes the children on first use.
    """

    form: Form
    line: int
    column: int
    start: int
    end: int
    key: int | None
    flow: bool
    style: str
    last_line: int
    unread: Callable[[TextValue], dict[str | int, TextValue]] | None = None

    @property
    def begin(self) -> int:
        """Offset of its key, or of the value without a key."""
        return self.start if self.key is None else self.key

    _children: dict[str | int, TextValue] = {}

    @property
    def children(self) -> dict[str | int, TextValue]:
        """The values inside it, by key or index."""
        if self.unread is not None:
            self._children = self.unread(self)
            self.unread = None
        return self._children

    def child(self, step: str | int) -> TextValue | None:
        """Return the value at a path step. A number may also be a key."""
        found = self.children.get(step)
        return self.children.get(str(step)) if found is None and self.form == "mapping" else found

    def walk(self) -> Iterator[TextValue]:
        """Yield this value and all values inside it, outer values first."""
        yield self
        for child in self.children.values():
            yield from child.walk()


_OTHER_BREAKS: Final = re.compile("[\r\x85\u2028\u2029\ufeff]")
"""Characters that are line breaks or ignored only in YAML, where line numbers then differ."""
_SPACE: Final = " \t\r\n"
_FORMS: Final[dict[str, Form]] = {"{": "mapping", "[": "list"}
_READ: Final = json.JSONDecoder(strict=False).raw_decode


def json_root(data: bytes, *, as_yaml: bool = True) -> TextValue | None:
    """Return the only value of a JSON text; None if the text is not JSON.

    Args:
        as_yaml: also return None if the text has characters that only YAML treats as line breaks.
    """
    try:
        text = data.decode()
        return None if as_yaml and _OTHER_BREAKS.search(text) else _JsonText(text).root()
    except (ValueError, IndexError, RecursionError):
        return None


def locate_in_json(data: bytes, path: Path) -> Position | None:
    """Return the position of a field in a JSON text, like `topospread.sources.positions.locate`.

    Args:
        data: one JSON value; other text is parsed as YAML.
        path: the field; () is the document itself.
    """
    try:
        text = data.decode()
        named = at = _past_space(text, 0)
        for step in path:
            below = next(((named, at) for name, named, at, _ in _members(text, at) if str(name) == str(step)), None)
            if below is None:
                break
            named, at = below
        return Position(text.count("\n", 0, named) + 1, named - text.rfind("\n", 0, named))
    except (ValueError, IndexError, RecursionError):
        return locate(data, 1, path)


class _JsonText:
    """A JSON text with its line starts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def root(self) -> TextValue:
        """Return the only value."""
        start = _past_space(self._text, 0)
        return self._value(start, _READ(self._text, start)[1], None)

    def _value(self, start: int, end: int, key: int | None) -> TextValue:
        """Return the value between two offsets. `key` is the offset of its key."""
        first = self._text[start]
        line, column = self._position(start if key is None else key)
        last_line, _ = self._position(end)
        form, style = _FORMS.get(first, "scalar"), '"' if first == '"' else ""
        node = TextValue(form, line, column, start, end, key, True, style, last_line)
        if form != "scalar":
            node.unread = self._inside
        return node

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1

    def _inside(self, node: TextValue) -> dict[str | int, TextValue]:
        """Return the values inside a value that was scanned before, so that no error is possible."""
        found: dict[str | int, TextValue] = {}
        for step, named, start, end in _members(self._text, node.start):
            found.setdefault(step, self._value(start, end, named if node.form == "mapping" else None))
        return found


def _members(text: str, at: int) -> Iterator[tuple[str | int, int, int, int]]:
    """Yield the members of an object or list: key or index, the key's position, and the value's span."""
    is_object = text[at] == "{"
    if not is_object and text[at] != "[":
        return
    for index in count():
        at = named = _past_space(text, at + 1)
        if text[at] in "}]":
            return
        step: str | int = index
        if is_object:
            step, at = _READ(text, at)
            at = _past_space(text, _past_space(text, at) + 1)
        _, end = _READ(text, at)
        yield step, named, at, end
        at = _past_space(text, end)
        if text[at] != ",":
            return


def _past_space(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
