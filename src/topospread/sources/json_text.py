"""Split JSON text into documents, and parse documents to plain data.

A text may contain several documents in sequence, like in kubectl.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any, Final, NoReturn

import msgspec

from topospread.api.meta import KubeStruct
from topospread.api.yaml_scalars import whole_number
from topospread.errors import DecodeError, DuplicateError, Place

from .locations import Location
from .snapshot_facts import read_facts
from .text import Text, place_of_byte, shown_key
from .yaml import MAX_DEPTH, MAX_VALUES, has_small_items, read_documents, too_many_values

_WHITESPACE: Final = re.compile(r"[ \t\r\n]*")
_QUOTED_KEY: Final = re.compile(rb'\s*[{\[]\s*["{\[]')
_HALF_CHARACTER: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST_NUMBER: Final = 400
_MOST_DOCUMENTS: Final = 100_000
_RAW: Final = msgspec.json.Decoder(msgspec.Raw)


def looks_like_json(text: Text) -> bool:
    """Return whether the text starts with a brace or bracket. KYAML does so, too, after ``---``.

    ``{{`` and ``{%`` start templates, not JSON.
    """
    begin = text.data[:4096].lstrip(b" \t\r\n")[:2]
    return begin[:1] in (b"{", b"[") and begin not in (b"{{", b"{%")


def is_named_json(text: Text) -> bool:
    """Return whether the file's name ends like a JSON file."""
    return text.name.lower().endswith((".json", ".json.gz"))


def is_meant_as_json(text: Text) -> bool:
    """Return whether a faulty text is JSON rather than YAML, from its file name or a quoted first key."""
    return is_named_json(text) or bool(_QUOTED_KEY.match(text.data))


def split_documents(text: Text) -> list[tuple[int, int]]:
    """Return the byte range of each document. Raise DecodeError if the text is not JSON."""
    try:
        _RAW.decode(text.data)
        return [(0, len(text.data))]
    except RecursionError:
        raise too_deep(Place(text.name)) from None
    except ValueError:
        return _split_stream(text)


def _split_stream(text: Text) -> list[tuple[int, int]]:
    whole = text.data.decode()
    decoder = json.JSONDecoder(parse_constant=_no_number, parse_int=_integer, parse_float=_float)
    spans: list[tuple[int, int]] = []
    at = start = 0
    try:
        while (begin := _end_of_space(whole, at)) < len(whole):
            start += len(whole[at:begin].encode())
            _, at = decoder.raw_decode(whole, begin)
            spans.append((start, start := start + len(whole[begin:at].encode())))
            if len(spans) > _MOST_DOCUMENTS:
                raise DecodeError(f"more than {_MOST_DOCUMENTS:,} documents; split them into files", Place(text.name))
    except json.JSONDecodeError as error:
        raise _malformed(text, error) from None
    except RecursionError:
        raise too_deep(Place(text.name)) from None
    except _NumberError as error:
        raise DecodeError(str(error), Place(text.name)) from None
    return spans


def _end_of_space(whole: str, at: int) -> int:
    found = _WHITESPACE.match(whole, at)
    return found.end() if found else at


def _malformed(text: Text, error: json.JSONDecodeError) -> DecodeError:
    place = Place(text.name, line=error.lineno, column=error.colno)
    return DecodeError(f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}", place)


def too_deep(place: Place) -> DecodeError:
    """Return the error for nesting that no Kubernetes object has."""
    return DecodeError(f"nested more than {MAX_DEPTH} levels deep", place)


def no_list(place: Place) -> DecodeError:
    """Return the error for a list ``items`` in an object whose kind does not end in List."""
    return DecodeError(
        "kubectl applies this object's items instead of the object; write kind: List, or remove items", place
    )


def read_value(text: Text, start: int, end: int) -> Any:
    """Parse a document, or a part of one, to plain data. Whole floats become integers like in Kubernetes.

    Raises:
        DecodeError: if it is not JSON, has too many values, or cannot be encoded again.
        DuplicateError: if an object has a key twice.
    """
    part = text.data[start:end]
    if len(part) > MAX_VALUES and sum(map(part.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise too_many_values(place_of_byte(text, start))
    try:
        value = json.loads(
            part,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_number,
            parse_int=_integer,
            parse_float=_float,
        )
        return _without_surrogates(value) if _HALF_CHARACTER.search(part) else value
    except _DuplicateKeyError as error:
        raise _duplicate(text, start, end, error.key) from None
    except RecursionError:
        raise too_deep(place_of_byte(text, start)) from None
    except _NumberError as error:
        raise DecodeError(str(error), place_of_byte(text, start)) from None
    except json.JSONDecodeError as error:
        raise _malformed(Text(text.name, part), error) from None


class _DuplicateKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class _NumberError(ValueError):
    """Raised for a number that Kubernetes cannot represent."""


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _DuplicateKeyError(key)
            seen.add(key)
    return result


def _without_surrogates(value: Any) -> Any:
    """Return the value with lone surrogates (U+D800 to U+DFFF) replaced like in Go."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _duplicate(text: Text, start: int, end: int, key: str) -> DuplicateError:
    """Return the error with its place, found by the YAML reader, because almost all JSON is YAML."""
    place = place_of_byte(text, start)
    before = place.line or 1
    try:
        for _ in read_documents(Text(text.name, text.data[start:end])):
            pass
    except DuplicateError as error:
        line = (error.place.line or 1) + before - 1
        return DuplicateError(error.message, replace(error.place, document=None, line=line))
    except DecodeError:
        pass
    return DuplicateError(f"{shown_key(text, key)} occurs twice in one object; remove one", place)


def _no_number(text: str) -> NoReturn:
    raise _NumberError(f"{text} is not a number in JSON; write a string or a finite number")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise _NumberError(f"a number of {len(text)} digits is too large")
    return int(text)


def _float(text: str) -> float | int:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _NumberError(f"a number of {len(text)} characters is too large")
    return whole_number(number)


# The items of a JSON list, not decoded. Positions of items are computed on demand.

_BETWEEN_ITEMS: Final = re.compile(rb"[\s,]*")


class _Envelope(KubeStruct):
    """The outermost fields of a document, which show whether it is a list."""

    kind: str = ""
    api_version: str = ""
    items: list[msgspec.Raw] | None = None
    topospread: msgspec.Raw = msgspec.Raw(b"null")


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)


class JsonList:
    """A list of objects, such as ``List`` or ``PodList``.

    Attributes:
        api_version: its apiVersion; "" if missing.
        items: its items, not decoded.
        facts: a snapshot's own facts; None in other lists.
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
        """Return the list at a location; None for another value.

        Raises:
            DecodeError: if it has so many and so small items that they cannot be objects.
        """
        try:
            envelope = _ENVELOPE.decode(location.text.data[location.start : location.end])
        except (ValueError, RecursionError):
            return None
        if has_small_items(len(envelope.items or ()), location.end - location.start):
            raise DecodeError("the list has too many items that are too small for objects", location.place())
        return cls(location, envelope) if envelope.items is not None and envelope.kind.endswith("List") else None

    def spot_of(self, index: int) -> Location:
        """Return the location of an item. If items are requested in order, the text is scanned once."""
        if index < self._next:
            self._next, self._offset = 0, self.location.start
        start = self._offset
        while self._next <= index:
            raw = bytes(self.items[self._next])
            start = self._start_of(raw)
            self._offset = start + len(raw)
            self._next += 1
        path = (*self.location.path, "items", index)
        return msgspec.structs.replace(self.location, start=start, end=self._offset, path=path)

    def _start_of(self, raw: bytes) -> int:
        """Return the offset of the next item, after a comma and spaces."""
        data = self.location.text.data
        gap = _BETWEEN_ITEMS.match(data, self._offset) if self._next else None
        start = gap.end() if gap else self._offset
        return (
            start if data.startswith(raw, start) else max(self._offset, data.find(raw, self._offset, self.location.end))
        )
