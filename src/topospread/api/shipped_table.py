"""Reads a JSON table that ships with the package."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import TypeVar

import msgspec

Table = TypeVar("Table")


def shipped_table(package: str | None, name: str, kind: type[Table]) -> Table:
    """Return a table from a file in a package, decoded to a type.

    It uses ``pkgutil``, because importing importlib.resources takes longer than reading the tables.
    """
    data = pkgutil.get_data(package or "", name)
    assert data is not None, "it is part of the package"
    return msgspec.json.decode(data, type=kind)


def in_force(steps: Mapping[int, Table], minor: int) -> Table:
    """Return the table in force in a minor version. ``steps``: first minor version of a table → table."""
    return steps[max(since for since in steps if since <= minor)]
