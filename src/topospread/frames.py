"""Lists of an answer as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin

import msgspec

from topospread.errors import UsageError

_FIRST = {"causes": "first_cause", "remedies": "first_remedy"}
"""List → column with the text of its first item."""


class _Field(NamedTuple):
    """A field of a struct: its name, the struct in it or in its list, and whether it holds several values."""

    name: str
    struct: Any
    is_list: bool
    is_many: bool


def frame_of(answer: msgspec.Struct, rows: str) -> Any:
    """Return a list of an answer as a data frame. A list without items gives a frame without rows.

    Raises:
        UsageError: if the answer has no such list, or neither package is installed.
    """
    found = list(_rows(type(answer), answer, rows, {}))
    columns = list(dict.fromkeys(name for row in (*_rows(type(answer), None, rows, {}), *found) for name in row))
    if find_spec("pandas"):
        import pandas

        return pandas.DataFrame(found, columns=columns)
    if find_spec("polars"):
        values = {name: [row.get(name) for row in found] for name in columns}
        return import_module("polars").DataFrame(values, strict=False)
    raise UsageError("frame: pandas is missing; pip install 'topospread[frames]'")


def _rows(kind: Any, owner: Any, path: str, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a list as column → value; if ``owner`` is None, yield one row whose values are None."""
    name, _, rest = path.partition(".")
    lists = {each.name: each.struct for each in _fields(kind) if each.is_list}
    if not rest and any(each.name == name and each.is_many and not each.is_list for each in _fields(kind)):
        pairs = {None: None} if owner is None else getattr(owner, name) or {}
        yield from (known | {name: key, "value": _cell(value)} for key, value in pairs.items())
        return
    if name not in lists:
        names = ", ".join(each.name for each in _fields(kind) if each.is_many)
        raise UsageError(f"frame: {kind.__name__} has no list {name!r}; its lists are {names}")
    for each in (None,) if owner is None else getattr(owner, name) or ():
        struct = type(each) if isinstance(each, msgspec.Struct) else lists[name]
        if rest and struct is not None:
            scalars = {f"{name}_{column}": value for column, value, many in _cells(struct, each) if not many}
            yield from _rows(struct, each, rest, known | scalars)
        elif struct is not None:
            yield known | {column: value for column, value, _ in _cells(struct, each)}
        else:
            yield known | {name: each}


def _cells(kind: Any, struct: Any, before: str = "") -> Iterator[tuple[str, Any, bool]]:
    """Yield (column, value, is_many); ``is_many``: the value is a list or mapping.

    A nested struct has its own columns: ``placed_least``. The cause of an item that is not judged is its sentence.
    """
    for each in _fields(kind):
        value = getattr(struct, each.name, None)
        if isinstance(value, msgspec.Struct):
            yield from _cells(type(value), value, f"{before}{each.name}_")
        elif each.struct is not None and not each.is_list:
            yield from _cells(each.struct, None, f"{before}{each.name}_")
        else:
            if each.name in _FIRST and each.is_list:
                says = getattr(struct, "says", "") if getattr(struct, "verdict", "") == "unknown" else ""
                first = value[0].says if value else says if each.name == "causes" else ""
                yield f"{before}{_FIRST[each.name]}", first, False
            yield f"{before}{each.name}", None if value is msgspec.UNSET else _cell(value), each.is_many


def _cell(value: Any) -> Any:
    """Return a value as a scalar: a list or mapping of scalars as text, of other items as their number."""
    found = msgspec.to_builtins(value)
    if not isinstance(found, dict | list | tuple):
        return found
    items = found.values() if isinstance(found, dict) else found
    if any(isinstance(each, dict | list | tuple) for each in items):
        return len(found)
    return (
        ", ".join(f"{key}={each}" for key, each in found.items())
        if isinstance(found, dict)
        else ", ".join(map(str, found))
    )


@cache
def _fields(kind: Any) -> tuple[_Field, ...]:
    found = []
    for each in msgspec.structs.fields(kind):
        inner = _inner(each.type)
        is_list = get_origin(inner) is tuple
        item = _inner(get_args(inner)[0]) if is_list else inner
        struct = item if isinstance(item, type) and issubclass(item, msgspec.Struct) else None
        found.append(_Field(each.name, struct, is_list, is_list or get_origin(inner) in (dict, Mapping)))
    return tuple(found)


def _inner(annotation: Any) -> Any:
    """Return the type in an annotation, without its description; of a union, the first type but None and UNSET."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _inner(parts[0])
    if origin in (Union, UnionType):
        return _inner(next(each for each in parts if each not in (type(None), msgspec.UnsetType)))
    return annotation
