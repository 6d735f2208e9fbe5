"""JSON text → its documents and, where they must be looked at closely, plain data; not typed objects.

A text may hold several documents one after another, as kubectl reads them.
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
from .yaml import MAX_DEPTH, read_documents

_WHITESPACE: Final = re.compile(r"[ \t\r\n]*")
_QUOTED_KEY: Final = re.compile(rb'\s*[{\[]\s*["{\[]')
_HALF_CHARACTER: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LONGEST_NUMBER: Final = 400
_RAW: Final = msgspec.json.Decoder(msgspec.Raw)


def looks_like_json(text: Text) -> bool:
    """Return whether the first thing in the text is a brace or a bracket (KYAML begins so, too, after its ``---``).

    ``{{`` and ``{%`` begin templates.
    """
    begin = text.data[:4096].lstrip(b" \t\r\n")[:2]
    return begin[:1] in (b"{", b"[") and begin not in (b"{{", b"{%")


def is_named_json(text: Text) -> bool:
    """Return whether the name of the text's file says that it is JSON."""
    return text.name.lower().endswith((".json", ".json.gz"))


def is_meant_as_json(text: Text) -> bool:
    """Return whether a faulty text is rather JSON than YAML: it is called so, or its first key stands in quotes."""
    return is_named_json(text) or bool(_QUOTED_KEY.match(text.data))


def split_documents(text: Text) -> list[tuple[int, int]]:
    """Return the begin and end of each document of the text, in bytes.

    Raises:
        DecodeError: the text is not JSON.
    """
    try:
        _RAW.decode(text.data)
        return [(0, len(text.data))]
    except RecursionError:
        raise too_deep(Place(text.name)) from None
    except ValueError:
        return _split_stream(text)


def _split_stream(text: Text) -> list[tuple[int, int]]:
    """The documents of a text that is more than one, or none."""
    whole = text.data.decode()
    decoder = json.JSONDecoder(parse_constant=_no_number, parse_int=_integer, parse_float=_float)
    spans: list[tuple[int, int]] = []
    at = start = 0
    try:
        while (begin := _end_of_space(whole, at)) < len(whole):
            start += len(whole[at:begin].encode())
            _, at = decoder.raw_decode(whole, begin)
            spans.append((start, start := start + len(whole[begin:at].encode())))
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
    """The error for nesting that no object of Kubernetes has."""
    return DecodeError(f"nested more than {MAX_DEPTH} levels deep", place)


def read_value(text: Text, start: int, end: int) -> Any:
    """One document (or a part of it) as plain data; numbers as Kubernetes sees them, ``3.0`` is 3.

    Raises:
        DecodeError: not JSON, or not what msgspec can write again.
        DuplicateError: an object gives one key twice.
    """
    part = text.data[start:end]
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
    """A number that Kubernetes cannot hold."""


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
    """The value with half characters (a lone ``\\ud800``) replaced, as Go replaces them."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _duplicate(text: Text, start: int, end: int, key: str) -> DuplicateError:
    """The error with its place, which the YAML reader knows (JSON is YAML, all but a few rare texts)."""
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
    return DuplicateError(f"{shown_key(text, key)} stands twice in one object", place)


def _no_number(text: str) -> NoReturn:
    raise _NumberError(f"{text} is no number that JSON can hold")


def _integer(text: str) -> int:
    if len(text) > _LONGEST_NUMBER:
        raise _NumberError(f"a number of {len(text)} digits is too large")
    return int(text)


def _float(text: str) -> float | int:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _NumberError(f"a number of {len(text)} characters is too large")
    return whole_number(number)


# A list of objects in JSON, taken apart but not decoded; where an item stands is found out when somebody asks.

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
