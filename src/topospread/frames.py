"""Lists of an answer as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from topospread.errors import UsageError


def frame_of(answer: msgspec.Struct, rows: str) -> Any:
    """Return a list of an answer as a data frame.

    Raises:
        UsageError: if the answer has no such list, or neither package is installed.
    """
    found = list(_rows(answer, rows, {}))
    if find_spec("pandas"):
        import pandas

        return pandas.DataFrame(found)
    if find_spec("polars"):
        return import_module("polars").DataFrame(found)
    raise UsageError("frame: pandas is missing; pip install 'topospread[frames]'")


def _rows(owner: Any, path: str, known: dict[str, Any]) -> Iterator[dict[str, Any]]:
    name, _, rest = path.partition(".")
    found = getattr(owner, name, None)
    if not isinstance(found, tuple):
        lists = [each for each in owner.__struct_fields__ if isinstance(getattr(owner, each), tuple)]
        raise UsageError(f"frame: {type(owner).__name__} has no list {name!r}; there are {', '.join(lists)}")
    for each in found:
        own = dict(_cells(each, "")) if isinstance(each, msgspec.Struct) else {name: each}
        if rest:
            scalars = {key: value for key, value in own.items() if not isinstance(value, list | tuple | dict)}
            yield from _rows(each, rest, known | {f"{name}_{key}": value for key, value in scalars.items()})
        else:
            yield known | own


def _cells(struct: msgspec.Struct, before: str) -> Iterator[tuple[str, Any]]:
    """Yield column names and values. A nested struct gets its own columns, such as ``placed_least``."""
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if isinstance(value, msgspec.Struct):
            yield from _cells(value, f"{before}{name}_")
        else:
            yield f"{before}{name}", msgspec.to_builtins(value)
