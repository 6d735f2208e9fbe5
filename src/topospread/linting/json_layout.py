"""How a JSON text is laid out, level by level as somebody asks; positions only, what it means is read elsewhere.

`layout` goes through a text's every token, as YAML has to. Of the objects of a JSON list a finding is about one field
each, and all beside the way to it can be passed over at the speed of Python's own scanner.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from typing import Final

from .text_value import Form, TextValue

_OTHER_BREAKS: Final = re.compile("[\r\x85\u2028\u2029\ufeff]")
"""What begins a line, or counts as nothing, in YAML alone: there the two readers do not count alike."""
_SPACE: Final = re.compile(r"[ \t\n]*")
_FORMS: Final[dict[str, Form]] = {"{": "mapping", "[": "list"}
_READ: Final = json.JSONDecoder(strict=False).raw_decode


def json_root(data: bytes) -> TextValue | None:
    """The value of a JSON text of one; None where it is none, or where YAML would count lines otherwise."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    if _OTHER_BREAKS.search(text):
        return None
    try:
        return _JsonText(text).value(_past_space(text, 0), None)
    except (ValueError, IndexError, RecursionError):
        return None


class _JsonText:
    """A text, and where its lines begin."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = [0, *(found.end() for found in re.finditer("\n", text))]

    def value(self, start: int, key: int | None) -> TextValue:
        """The value that begins at an offset; its key, if it has one, begins at another."""
        _, end = _READ(self._text, start)
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
        """The values that stand in one, which was scanned before: here nothing can fail."""
        found: dict[str | int, TextValue] = {}
        text = self._text
        at = _past_space(text, node.start + 1)
        while at < node.end - 1:
            step: str | int = len(found)
            key = None
            if node.form == "mapping":
                key = at
                step, at = _READ(text, at)
                at = _past_space(text, _past_space(text, at) + 1)
            value = self.value(at, key)
            found.setdefault(step, value)
            at = _past_space(text, value.end)
            at = _past_space(text, at + 1) if text[at] == "," else at
        return found


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None, "what matches nothing matches everywhere"
    return found.end()
