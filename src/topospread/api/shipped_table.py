"""Reads a JSON table that ships with the package."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import TypeVar

import msgspec

Table = TypeVar("Table")


def shipped_table(package: str | None, name: str, kind: type[Table]) -> Table:
    """The table in a file beside a package's modules, as such a type.

    ``pkgutil``, as importlib.resources takes longer to import than the tables to read.
    """
    data = pkgutil.get_data(package or "", name)
    assert data is not None, "it is part of the package"
    return msgspec.json.decode(data, type=kind)


def in_force(steps: Mapping[int, Table], minor: int) -> Table:
    """Return the table of a minor version: of the steps, the latest that has begun."""
    return steps[max(since for since in steps if since <= minor)]
