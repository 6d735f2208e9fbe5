"""Fast reader of a machine-written YAML ``List``, which converts it to JSON item by item.

A cluster of 100,000 pods is one YAML document. As a tree it takes gigabytes, and libyaml's events take most of the
time. Programs write such a document with a key per line, perhaps a value on the same line, and deeper lines below. Each
distinct line is parsed once. An item with any other line (a comment, an anchor, a multi-line text, an escape) is read
by `yaml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import msgspec

from topospread.api.yaml_scalars import plain_scalar
from topospread.errors import InputError

from .locations import Location
from .text import Text
from .yaml import BYTE_ORDER_MARK, has_small_items, read_documents

SMALLEST: Final = 1 << 20
"""Minimum bytes. Shorter texts are parsed as a whole, so that the first error in the text is reported."""
_LINES_KNOWN: Final = 20_000
_DEEPEST: Final = 64
_ITEMS_BETWEEN_REPORTS: Final = 1000
_HEAD: Final = re.compile(rb"(?:---\n)?(?:[A-Za-z]+: [A-Za-z0-9./-]+\n)*items:\n( *)- ")
_TAIL: Final = re.compile(rb"^[^ \n-]", re.MULTILINE)
_ANCHORED: Final = re.compile(rb"[ :-] ?[&*]")
_PLAIN: Final = r"(?:[A-Za-z0-9/._]|-[A-Za-z0-9.-])(?:.*[^\s:])?"
_LINE: Final = re.compile(
    r"(?P<indent> *)(?P<dash>- )?"
    r"(?:(?P<key>[A-Za-z_.][A-Za-z0-9_./-]*):(?= |$) ?)?"
    rf"(?P<value>(?P<empty>\{{\}}|\[\])|\"(?P<double>[^\"\\]*)\"|'(?P<single>(?:[^']|'')*)'|(?P<plain>{_PLAIN}))?"
)


def begins_as_list(begin: bytes) -> bool:
    """Return whether a text with this beginning may be a machine-written list."""
    return _HEAD.match(begin) is not None


class _Line(NamedTuple):
    """A parsed line.

    Attributes:
        indent: spaces before it.
        dashed: whether it starts an item of a sequence.
        key: key as JSON with its colon; empty without a key.
        value: value as JSON; empty if it is on deeper lines.
    """

    indent: int
    dashed: bool
    key: bytes
    value: bytes


class YamlList:
    """A list of objects that is the only document of a text."""

    def __init__(self, text: Text, of: tuple[str, str], span: tuple[int, int], before: bytes) -> None:
        """Create a list.

        Args:
            span: byte range of the items.
            before: the spaces before each item's dash.
        """
        self.location = Location(text, 1)
        self.kind, self.api_version = of
        self._begin, self._end = span
        self._before = before
        self._lines: dict[bytes, _Line | None] = {}

    @classmethod
    def at(cls, text: Text) -> YamlList | None:
        """Return the text as a list; None if it is short, not written by a program, or has very small items."""
        data = text.data
        head = _HEAD.match(data) if len(data) >= SMALLEST and text.origins is None else None
        others = (b"\n---", b"\n...", BYTE_ORDER_MARK)
        if head is None or any(data.find(each, head.end()) >= 0 for each in others):
            return None
        begin, before = head.start(1), head.group(1)
        tail = _TAIL.search(data, data.rfind(b"\n" + before + b"- ") + 1 + len(before))
        end = len(data) if tail is None else tail.start()
        if has_small_items(data.count(b"\n" + before + b"- ", begin, end), end - begin):
            return None
        try:
            (document,) = read_documents(Text(text.name, data[: begin - 1] + b" []\n" + data[end:]))
        except (InputError, ValueError):
            return None
        kind, version = (document.value.get(each) for each in ("kind", "apiVersion"))
        if not isinstance(kind, str) or not isinstance(version, str) or not kind.endswith("List"):
            return None
        return cls(text, (kind, version), (begin, end), before)

    def items(self, progress: Callable[[int], None]) -> Iterator[bytes | Any]:
        """Yield each item as JSON, or as plain data if it needs the YAML reader.

        Args:
            progress: receives the approximate number of processed bytes.

        Raises:
            InputError: if the text is not YAML, or a mapping has a key twice.
        """
        data, between = self.location.text.data, b"\n" + self._before + b"- "
        begin, index = self._begin, 0
        while begin < self._end:
            following = data.find(between, begin, self._end) + 1 or self._end
            item = data[begin:following]
            found = self._as_json(item)
            if found is None:
                value = self._read(item)
                if value is None:
                    (document,) = read_documents(self.location.text)
                    yield from document.value["items"][index:]
                    return
                yield from value
            else:
                yield found
            begin, index = following, index + 1
            if index % _ITEMS_BETWEEN_REPORTS == 0:
                progress(begin)

    def _read(self, item: bytes) -> list[Any] | None:
        """Return an item that the YAML reader parsed alone; None if that fails."""
        if _ANCHORED.search(item):
            return None
        try:
            (document,) = read_documents(Text(self.location.text.name, item))
        except (InputError, ValueError):
            return None
        return document.value if isinstance(document.value, list) and len(document.value) == 1 else None

    def _as_json(self, item: bytes) -> bytes | None:  # noqa: PLR0912 - one step for each of millions of lines
        """Return an item as JSON; None if a line has an unknown form.

        ``levels`` holds the open collections: the indent of their lines, and the keys of a mapping, or None for a
        sequence. A line closes deeper collections and belongs to the innermost open one. Only a key without a value
        (``opens``) may be followed by deeper lines or by its sequence.
        """
        known, out = self._lines, list[bytes]()
        levels: list[tuple[int, set[bytes] | None]] = [(len(self._before), None)]
        opens, is_first = False, True
        for text in item.removesuffix(b"\n").split(b"\n"):
            line = known[text] if text in known else self._understood(text)
            if line is None:
                return None
            indent, dashed, key, value = line
            if opens:
                above = levels[-1][0]
                if dashed and indent >= above:
                    out.append(b"[")
                    levels.append((indent, None))
                    is_first = True
                elif indent > above:
                    out.append(b"{")
                    levels.append((indent, set()))
                    is_first = True
                else:
                    out.append(b"null")
            while (level := levels[-1])[0] > indent or (level[0] == indent and level[1] is None and not dashed):
                out.append(b"]" if level[1] is None else b"}")
                levels.pop()
                if not levels:
                    return None
            keys = level[1]
            if level[0] != indent or dashed != (keys is None) or len(levels) > _DEEPEST:
                return None
            if not is_first:
                out.append(b",")
            is_first = False
            if dashed and key:
                out.append(b"{")
                keys = set()
                levels.append((indent + 2, keys))
            if keys is not None:
                if key in keys:
                    return None
                keys.add(key)
            out += (key, value)
            opens = not value
        if opens:
            out.append(b"null")
        for _, keys in reversed(levels[1:]):
            out.append(b"]" if keys is None else b"}")
        return b"".join(out)

    def _understood(self, text: bytes) -> _Line | None:
        """Return a parsed line, which is cached; None for an unknown form."""
        line = _line(text)
        if len(self._lines) < _LINES_KNOWN:
            self._lines[text] = line
        return line


def _line(text: bytes) -> _Line | None:
    try:
        line = text.decode()
    except UnicodeDecodeError:
        return None
    found = _LINE.fullmatch(line) if line.isprintable() else None
    if found is None:
        return None
    indent, dash, key, value, empty, double, single, plain = found.groups()
    if key is None and (value is None or dash is None):
        return None
    if key is not None and type(plain_scalar(key)) is not str:
        return None
    written = b""
    if plain is not None:
        meant = plain_scalar(plain)
        if ": " in plain or " #" in plain or type(meant) is float:
            return None
        written = msgspec.json.encode(meant)
    elif empty is not None:
        written = empty.encode()
    elif value is not None:
        written = msgspec.json.encode(double if single is None else single.replace("''", "'"))
    return _Line(len(indent), dash is not None, f'"{key}":'.encode() if key else b"", written)
