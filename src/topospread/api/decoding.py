"""Plain data (parsed JSON or YAML) → typed struct, as Go's encoding/json decodes it.

As in Go, ``null`` leaves a field unset, and is the zero value as an item of a list or map (``matchLabels: {app: null}``
is ``app: ""``). Unknown fields are ignored. A value of another type raises an error with the field's path.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from topospread.errors import DecodeError, Place

T = TypeVar("T")

_ZEROS: Mapping[type[inspect.Type], object] = {
    inspect.StrType: "",
    inspect.IntType: 0,
    inspect.FloatType: 0,
    inspect.BoolType: False,
}
_EXPECTED: Mapping[type[inspect.Type], tuple[str, tuple[type, ...]]] = {
    inspect.StrType: ("a string", (str,)),
    inspect.IntType: ("an integer", (int,)),
    inspect.FloatType: ("a number", (int, float)),
    inspect.BoolType: ("true or false", (bool,)),
}


def decode(data: object, kind: type[T], place: Place | None = None) -> T:
    """Decode ``data`` to ``kind``, a msgspec Struct.

    Args:
        data: dicts with string keys, lists, strings, numbers, bools and None.
        place: place of ``data`` in the input; errors add the path of the field.

    Raises:
        DecodeError: if a value has another type than its field.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError:
        pass  # a null that Go accepts, or a wrong type; the slow path below finds out
    shape: Any = kind
    return msgspec.convert(_Reader(place or Place()).read(data, _type_of(shape), ""), kind)


@cache
def _type_of(kind: type) -> inspect.Type:
    return inspect.type_info(kind)


class _Reader:
    """Reads plain data by its type. A null becomes a zero value; the first wrong type raises an error."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def read(self, value: Any, kind: inspect.Type, path: str) -> Any:
        """Return ``value`` in a form that msgspec accepts for ``kind``; ``path`` names it in errors."""
        if isinstance(kind, inspect.Metadata):
            return self.read(value, kind.type, path)
        if isinstance(kind, inspect.UnionType):
            return self._read_union(value, kind, path)
        if isinstance(kind, inspect.StructType):
            return self._read_struct({} if value is None else value, kind, path)
        if isinstance(kind, inspect.DictType):
            entries = self._entries({} if value is None else value, path)
            return {key: self.read(item, kind.value_type, f"{path}[{key}]") for key, item in entries.items()}
        if isinstance(kind, inspect.ListType):
            items = [] if value is None else value
            if not isinstance(items, list):
                raise self._wrong("a list", items, path)
            return [self.read(item, kind.item_type, f"{path}[{index}]") for index, item in enumerate(items)]
        return self._read_scalar(value, kind, path)

    def _read_union(self, value: Any, kind: inspect.UnionType, path: str) -> Any:
        others = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        if value is None:
            return None if kind.includes_none else self.read(value, others[0], path)
        if len(others) == 1:
            return self.read(value, others[0], path)
        known = [_EXPECTED[type(each)] for each in others if type(each) in _EXPECTED]
        if len(known) == len(others) and not any(_is_a(value, types) for _, types in known):
            raise self._wrong(" or ".join(words for words, _ in known), value, path)
        return value

    def _read_struct(self, value: Any, kind: inspect.StructType, path: str) -> dict[str, Any]:
        entries, read = self._entries(value, path), {}
        for each in kind.fields:
            item = entries.get(each.encode_name)
            if item is not None:
                read[each.encode_name] = self.read(
                    item, each.type, f"{path}.{each.encode_name}" if path else each.encode_name
                )
        return read

    def _read_scalar(self, value: Any, kind: inspect.Type, path: str) -> Any:
        if type(kind) not in _EXPECTED:
            return value
        if value is None:
            return _ZEROS[type(kind)]
        words, types = _EXPECTED[type(kind)]
        if not _is_a(value, types):
            raise self._wrong(words, value, path)
        if isinstance(kind, inspect.IntType):
            least, most = kind.ge, kind.le
            if (least is not None and value < least) or (most is not None and value > most):
                raise self._wrong(f"an integer from {least} to {most}", value, path)
        return value

    def _entries(self, value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._wrong("an object", value, path)
        for key in value:
            if not isinstance(key, str):
                raise self._wrong("a string as key", key, path)
        return value

    def _wrong(self, expected: str, value: object, path: str) -> DecodeError:
        joint = "." if path and self.place.field and not path.startswith("[") else ""
        return DecodeError(
            f"expected {expected}, got {_named(value)}", self.place.at(f"{self.place.field}{joint}{path}")
        )


def _is_a(value: object, types: tuple[type, ...]) -> bool:
    """Return whether a value has one of the types; bool does not count as int."""
    return bool in types if isinstance(value, bool) else isinstance(value, types)


def _named(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, str):
        return f'the string "{value}"' if len(value) <= 40 else f'the string "{value[:40]}…"'
    if isinstance(value, int | float):
        return f"the number {value}"
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else type(value).__name__
