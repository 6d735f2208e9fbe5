"""Parse YAML text to plain data like kubectl, with line numbers for errors.

It uses libyaml's events, which is several times faster than PyYAML's constructors. `scalars` decides the types of
scalars. A repeated key raises an error, and so do deep nesting and alias bombs, which would exhaust memory. In rendered
text the last value of a repeated key counts, like in kubectl and Helm, because the user cannot edit that text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

import msgspec
import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from topospread.api.yaml_scalars import Scalar, ScalarError, key_text, plain_scalar, tagged_scalar, whole_number
from topospread.errors import DecodeError, DuplicateError, Place

from .text import BREAKS, Text, line_of, place_of_byte, shown_key

MAX_DEPTH: Final = 256
"""Maximum nesting. Deeper values are not Kubernetes objects and would exhaust the stack."""

MAX_SIZE: Final = 64 << 20
"""Maximum bytes of a text. The parsed tree takes thirty times as much memory."""

MAX_VALUES: Final = 1_000_000
"""Maximum number of scalars, lists and mappings in a text, without aliases. A small gzip file can contain many."""
_MOST_ITEMS, _BYTES_PER_ITEM = 100_000, 64
"""A list with more than `_MOST_ITEMS` items needs at least `_BYTES_PER_ITEM` bytes per item on average."""

BYTE_ORDER_MARK: Final = "\ufeff".encode()

_ODD_BREAK: Final = re.compile(rb"\r(?!\n)")
_ODD_SEPARATOR: Final = re.compile(
    rb"(?m)^---(?!(?:[ \t]+#(?:(?!" + BREAKS + rb")[^\r\n])*|[ \t]*)\r?$)|(?:" + BREAKS + rb")---(?=[ \t\r\n]|$)"
)
"""A line that only some parsers take for a separator of documents."""

_JSON: Final = re.compile(
    rb"(?:\A|(?<=\n)---[^\n]*\n)"
    rb"((?:[ \t\r\n]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)*+)\{"
)
"""The beginning of a document that kubectl takes for JSON, behind any white space of Unicode."""
_BREAK: Final = re.compile(BREAKS)

_NO_KEY: Final = object()
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_MERGE: Final = object()
_UNFINISHED: Final = -1
_CACHED_SCALARS: Final = 100_000
_FREELY_ALIASED: Final = 400_000
_HARDLY_ALIASED: Final = 4_000_000
_FREELY_ALIASED_IN_TEXT: Final = 80_000
_EXCESSIVE: Final = "document contains excessive aliasing"

_TEMPLATE: Final = "this looks like a template: render it first, or give the folder of its chart"
_ACTION: Final = re.compile(r"\{\{|\{%")
_HINTS: Final = {
    "found character that cannot start any token": "a value that begins with this character has to be quoted",
    "mapping values are not allowed in this context": "check the indentation, and quote values that contain ': '",
    "did not find expected key": "check the indentation of this line and of those before it",
    "could not find expected ':'": "check the indentation, and that a key is followed by ': '",
    "did not find expected '-' indicator": "check the indentation of this line",
    "did not find expected alphabetic or numeric character": "quote values that begin with * or &",
    "did not find expected ',' or '}'": "a { is not closed, or a comma is missing",
    "did not find expected ',' or ']'": "a [ is not closed, or a comma is missing",
    "found unexpected end of stream": "a quote is not closed",
}


class YamlDocument(msgspec.Struct, frozen=True):
    """One document of a YAML text.

    Attributes:
        number: its position, from 1, including empty documents.
        line: line at which its content starts, from 1.
        value: a dict, list or scalar; None if it is empty.
    """

    number: int
    line: int
    value: Any


class _Frame:
    """An open mapping or sequence.

    Attributes:
        value: its items so far.
        key: the key of the next value, or a marker.
        merged: keys from ``<<`` that the mapping itself does not set.
        anchor: its anchor; empty without one.
        before: number of nodes before it in the document.
        levels: nesting depth inside it.
    """

    __slots__ = ("anchor", "before", "key", "levels", "merged", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: _Anchor | None, before: int) -> None:
        self.value: Any = value
        self.key: Any = _NO_KEY
        self.merged: set[str] = set()
        self.anchor = anchor
        self.before = before
        self.levels = 0


class _Anchor(msgspec.Struct):
    """An anchored value, with its numbers of nodes and levels."""

    value: Any
    nodes: int
    levels: int


def too_many_values(place: Place) -> DecodeError:
    """Return the error for a text with more values than `MAX_VALUES`."""
    return DecodeError(f"the text has more than {MAX_VALUES:,} values; split it into several files", place)


def has_small_items(count: int, size: int) -> bool:
    """Return whether a list of `size` bytes has more items than a list of objects can have."""
    return count > max(_MOST_ITEMS, size // _BYTES_PER_ITEM)


def read_documents(text: Text, progress: Callable[[int], None] | None = None) -> Iterator[YamlDocument]:
    """Yield the documents of a text.

    Args:
        progress: receives the number of processed bytes after each document.

    Raises:
        DecodeError: if the text is not YAML, is too large, or has values that JSON does not have. Also if go-yaml,
            which kubectl and kustomize use, would read it differently: because of byte order marks inside, tags
            without a value, carriage returns without a line feed, or text other than a comment after ``---``.
        DuplicateError: if a mapping has a key twice.
    """
    if len(text.data) > MAX_SIZE:
        raise DecodeError(
            f"the text is larger than {MAX_SIZE >> 20} MiB, and not a List as kubectl writes it; "
            "split it into several files, or write it as JSON",
            Place(text.name),
        )
    mark = text.data.find(BYTE_ORDER_MARK)
    if mark >= 0:
        raise DecodeError("this is a byte order mark (U+FEFF) inside the text; remove it", place_of_byte(text, mark))
    odd = _ODD_BREAK.search(text.data)
    if odd is not None:
        raise DecodeError(
            "a carriage return without a line feed; end lines with a line feed", place_of_byte(text, odd.start())
        )
    odd = _ODD_SEPARATOR.search(text.data)
    if odd is not None:
        words = "kubectl does not take this line for a separator; write --- alone, or with a comment after a space"
        raise DecodeError(words, place_of_byte(text, odd.start()))
    for begin in _JSON.finditer(text.data):
        skipped = begin[1].lstrip(b" \t\r\n")
        if skipped:
            words = "kubectl skips this white space and reads JSON after it; remove it"
            raise DecodeError(words, place_of_byte(text, begin.end(1) - len(skipped)))
        end = text.data.find(b"\n---", begin.end())
        odd = _BREAK.search(text.data, begin.end(), end if end >= 0 else len(text.data))
        if odd is not None:
            raise DecodeError(
                "kubectl keeps this line break in JSON; write its escape", place_of_byte(text, odd.start())
            )
    reader = _DocumentReader(text)
    while (document := reader.next_document()) is not None:
        yield document
        if progress is not None:
            progress(reader.offset)


class _DocumentReader:
    """Builds values from libyaml's events. Anchors are valid within their document."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.number = 0
        self.offset = 0
        self.nodes = 0
        self.aliased = 0
        self.written_before = 0
        self.aliased_before = 0
        self.anchors: dict[str, _Anchor] = {}
        self.open: list[_Frame] = []
        self.scalars: dict[str, Any] = {}
        # kubectl ends the last line, which matters for a block scalar.
        data = text.data if text.data.endswith(b"\n") else text.data + b"\n"
        self.parser = self._guarded(lambda: yaml.CLoader(data))
        self._guarded(self.parser.get_event)

    def next_document(self) -> YamlDocument | None:
        """Return the next document; None at the end of the text."""
        event = self._guarded(self.parser.get_event)
        if type(event) is StreamEndEvent:
            return None
        assert type(event) is DocumentStartEvent
        self.number += 1
        if event.version is not None or event.tags:
            raise DecodeError("kubectl does not read a directive, such as %YAML; remove it", self._place(event))
        self.written_before += self.nodes - self.aliased
        self.aliased_before += self.aliased
        self.nodes = self.aliased = 0
        self.anchors.clear()
        first = self._guarded(self.parser.peek_event)
        value = self._guarded(self._root)
        end = self._guarded(self.parser.get_event)
        self.offset = end.end_mark.index
        return YamlDocument(self.number, first.start_mark.line + 1, value)

    def _guarded(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except yaml.YAMLError as error:
            raise self._syntax_error(error) from error

    def _root(self) -> Any:
        next_event = self.parser.get_event
        self.open.clear()
        while True:
            event = next_event()
            kind = type(event)
            if kind is ScalarEvent:
                value = self._scalar(event)
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                self._begin({} if kind is MappingStartEvent else [], event)
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = self._end()
            else:
                value = self._alias(event)
            if not self.open:
                return value
            self._put(value, event)

    def _scalar(self, event: ScalarEvent) -> Scalar:
        self._count(event)
        text: str = event.value
        if not text and not event.style and (event.tag is not None or not any(event.implicit)):
            # libyaml ends a tag at a comma. In go-yaml, the comma and the following text are part of the tag's name.
            raise DecodeError("a tag without a value; remove it", self._place(event))
        if event.tag is not None:
            value = self._tagged(event)
        elif not event.implicit[0]:
            value = text
        elif text in self.scalars:
            value = self.scalars[text]
        else:
            value = plain_scalar(text)
            if len(self.scalars) < _CACHED_SCALARS:
                self.scalars[text] = value
        if type(value) is float and not math.isfinite(value):
            raise DecodeError(f"{text} is not a number in JSON; quote it to write a text", self._place(event))
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, 1, 0)
        return value

    def _count(self, event: Event) -> None:
        self.nodes += 1
        if self.written_before + self.nodes - self.aliased > MAX_VALUES:
            raise too_many_values(self._place(event))

    def _tagged(self, event: ScalarEvent) -> Scalar:
        try:
            return tagged_scalar(event.tag or "", event.value)
        except ScalarError as error:
            raise DecodeError(str(error), self._place(event)) from error

    def _begin(self, value: dict[str, Any] | list[Any], event: MappingStartEvent | SequenceStartEvent) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise self._too_deep(event)
        anchor = None
        if event.anchor is not None:
            anchor = self.anchors[event.anchor] = _Anchor(value, _UNFINISHED, 0)
        self.open.append(_Frame(value, anchor, self.nodes))
        self._count(event)

    def _end(self) -> Any:
        frame = self.open.pop()
        if self.open and self.open[-1].levels <= frame.levels:
            self.open[-1].levels = frame.levels + 1
        if frame.anchor is not None:
            frame.anchor.nodes = self.nodes - frame.before
            frame.anchor.levels = frame.levels
        return frame.value

    def _alias(self, event: AliasEvent) -> Any:
        """Return the value of an alias, within go-yaml's limits for a document and our limit for the text."""
        known = self.anchors.get(event.anchor or "")
        if known is None:
            raise DecodeError("unknown anchor referenced", self._place(event))
        if known.nodes == _UNFINISHED:
            raise DecodeError("the value of this anchor contains itself; write it out", self._place(event))
        self.nodes += 1 + known.nodes
        self.aliased += known.nodes
        if self.aliased > 100 and self.nodes > 1000 and self.aliased / self.nodes > _allowed_alias_share(self.nodes):
            raise DecodeError(_EXCESSIVE, self._place(event))
        aliased = self.aliased_before + self.aliased
        if aliased > max(_FREELY_ALIASED_IN_TEXT, self.written_before + self.nodes - self.aliased):
            raise DecodeError(_EXCESSIVE, self._place(event))
        if self.open:
            frame = self.open[-1]
            frame.levels = max(frame.levels, known.levels + 1)
            if len(self.open) + known.levels > MAX_DEPTH:
                raise self._too_deep(event)
        return known.value

    def _put(self, value: Any, event: Event) -> None:
        frame = self.open[-1]
        if type(frame.value) is list:
            frame.value.append(whole_number(value) if type(value) is float else value)
        elif frame.key is _NO_KEY:
            plain = type(value) is str and value != "<<" and value not in frame.value
            frame.key = value if plain else _MERGE if _is_merge(event) else self._key(value, event)
        elif frame.key is _MERGE:
            frame.key = _NO_KEY
            # `<<: *defaults`: like in go-yaml v2, the later key in the mapping wins, whether merged or not.
            listed = type(value) is list and type(event) is not AliasEvent
            for each in reversed(value) if listed else [value]:
                if type(each) is not dict:
                    raise DecodeError("map merge requires map or sequence of maps as the value", self._place(event))
                frame.merged |= each.keys() - frame.value.keys()
                frame.value.update(each)
        else:
            frame.value[frame.key] = whole_number(value) if type(value) is float else value
            frame.key = _NO_KEY

    def _key(self, value: Any, event: Event) -> str:
        try:
            key = value if type(value) is str else key_text(value)
        except ScalarError as error:
            place = self._place(event)
            templated = _ACTION.search(line_of(self.text, (place.line or 1) - 1))
            hint = _TEMPLATE if templated else "quote it to write a text"
            raise DecodeError(f"{error}; {hint}", place) from error
        frame = self.open[-1]
        if key in frame.value:
            if key not in frame.merged:
                self._repeat(key, self._place(event))
            frame.merged.discard(key)
        return key

    def _repeat(self, key: str, place: Place) -> None:
        words = f"{shown_key(self.text, key)} occurs twice in one mapping"
        if self.text.origins is None:
            raise DuplicateError(f"{words}; remove one", place)
        place = self.text.origins.place(self.number, (), place)
        self.text.repeats[f"{place}: {words}; the last one counts, as for kubectl and Helm"] = None

    def _too_deep(self, event: Event) -> DecodeError:
        return DecodeError(f"nested more than {MAX_DEPTH} levels deep", self._place(event))

    def _place(self, event: Event | None) -> Place:
        place = Place(self.text.name, document=self.number or None)
        mark = event.start_mark if event is not None else None
        return place if mark is None else replace(place, line=mark.line + 1, column=mark.column + 1)

    def _syntax_error(self, error: yaml.YAMLError) -> DecodeError:
        """Return libyaml's error with its place and the usual cause."""
        document = self.number or 1
        if isinstance(error, yaml.reader.ReaderError):
            place = place_of_byte(self.text, error.position)
            reason = f"{error.reason}: {error.character}" if isinstance(error.character, str) else str(error.reason)
            return DecodeError(f"not YAML: {reason}", replace(place, document=document))
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = str(getattr(error, "problem", None) or getattr(error, "context", None) or error)
        place = Place(self.text.name, document)
        if mark is None:
            return DecodeError(f"not YAML: {problem}", place)
        hint = _hint(problem, line_of(self.text, mark.line), mark.column)
        if _ACTION.match(line_of(self.text, max(mark.line - 1, 0)).lstrip(" ")):
            hint = _TEMPLATE
        return DecodeError(
            f"not YAML: {problem}" + (f" ({hint})" if hint else ""),
            replace(place, line=mark.line + 1, column=mark.column + 1),
        )


def _is_merge(event: Event) -> bool:
    return type(event) is ScalarEvent and event.value == "<<" and (event.implicit[0] or event.tag == _MERGE_TAG)


def _allowed_alias_share(nodes: int) -> float:
    """Return the allowed share of nodes that come from aliases (``allowedAliasRatio`` in go-yaml's decode.go)."""
    beyond = (nodes - _FREELY_ALIASED) / (_HARDLY_ALIASED - _FREELY_ALIASED)
    return 0.99 - 0.89 * min(1.0, max(0.0, beyond))


def _hint(problem: str, line: str, column: int) -> str:
    """Return the likely cause of a libyaml error; "" if unknown."""
    if _ACTION.search(line):
        return _TEMPLATE
    if line[: column + 1].strip(" ") == "\t" or "tab" in problem:
        return "YAML is indented with spaces, not with tabs"
    return _HINTS.get(problem, "")
