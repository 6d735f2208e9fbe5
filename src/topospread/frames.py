"""Data frames of answers, for notebooks; needs pandas or polars (extra `frames`)."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.errors import UsageError


def frame_of(answer: msgspec.Struct, table: str) -> Any:
    """Return a list of structs as a data frame, one row a struct, one column a field.

    Nested structs become columns such as ``tried.places``.

    Raises:
        UsageError: if the field is missing or no list, or if neither pandas nor polars is installed.
    """
    rows = getattr(answer, table, None)
    if not isinstance(rows, tuple | list):
        tables = [name for name in answer.__struct_fields__ if isinstance(getattr(answer, name), tuple | list)]
        raise UsageError(f"{type(answer).__name__} has no table {table!r}; tables are {', '.join(tables)}")
    records = [_flat(msgspec.to_builtins(row)) for row in rows]
    try:
        import pandas
    except ImportError:
        pass
    else:
        return pandas.DataFrame.from_records(records)
    try:
        import polars
    except ImportError:
        raise UsageError("data frames need pandas or polars: pip install 'topospread[frames]'") from None
    return polars.DataFrame(records)


def _flat(record: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(record, dict):
        return {prefix.rstrip(".") or "value": record}
    flat: dict[str, Any] = {}
    for name, value in record.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) and value else {f"{prefix}{name}": value}
    return flat
