"""Find charts whose values.schema.json may refer to other files or to servers, or whose files have names that forge.

topospread renders the former without validating their values, so that Helm reads no other file or server.
Source: helm.sh/helm/v4/pkg/chart/common/util/jsonschema.go.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from typing import IO, Any, Final

PACKED: Final = ".tgz"
"""File name ending of a packed chart."""
NO_VALIDATION: Final = "--skip-schema-validation"
"""Helm option that disables schema validation."""

_SCHEMA: Final = "values.schema.json"
_MAX_UNPACKED: Final = 64 << 20
_REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_BASES: Final = frozenset({"$id", "id"})
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FORGED: Final = re.compile(rb"\n---\n# Source: |\.tgz")
_KNOWN_DRAFT: Final = re.compile(r"https?://json-schema\.org/[A-Za-z0-9./-]*#?")


def has_outside_references(chart: str) -> bool:
    """Return whether a schema of a chart or its subcharts refers to another document.

    Return True, too, if a schema cannot be read, and for packed charts: readers of archives differ, so Helm may find a
    schema where none is found here.

    Args:
        chart: a folder, or a packed chart.
    """
    try:
        return any(map(_refers_out, _schemas(chart, _Room())))
    except (OSError, ValueError, RecursionError):
        return True


class _Room:
    """The number of bytes that may still be read from a chart."""

    left = _MAX_UNPACKED

    def read(self, file: IO[bytes] | gzip.GzipFile) -> bytes:
        data = file.read(self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("the chart is too large")
        return data


def _schemas(chart: str, room: _Room) -> Iterator[bytes]:
    for path in _files(chart):
        if path.endswith(PACKED) or path == chart:
            raise ValueError("the chart is packed, or one in it")
        if os.path.basename(path) == _SCHEMA:
            if not os.path.isfile(path):
                raise ValueError("a schema is not a regular file")
            with open(path, "rb") as file:
                yield room.read(file)


def _files(chart: str) -> Iterator[str]:
    """Yield a packed chart's own path, or the files in a chart's folder; links are followed as by Helm.

    Raises:
        ValueError: if a link leaves the chart.
    """
    if os.path.isfile(chart):
        yield chart
    root, visited = os.path.realpath(chart), set[str]()
    for folder, below, names in os.walk(chart, followlinks=True):
        real = os.path.realpath(folder)
        if real in visited:
            below.clear()
            continue
        if os.path.commonpath([real, root]) != root:
            raise ValueError("a link leaves the chart")
        visited.add(real)
        yield from (os.path.join(folder, name) for name in names)


def may_forge_sources(chart: str) -> bool:
    """Return whether a packed chart, or one in a folder, may name a file like the comments that Helm writes.

    Helm writes ``---`` and ``# Source: NAME`` above each template, with line breaks of the name. Names are not read,
    because readers of archives differ: the text of the comment is looked for in the whole archive.
    """
    room = _Room()
    try:
        packed = (path for path in _files(chart) if path.endswith(PACKED) or path == chart)
        return any(_FORGED.search(_unpacked(path, room)) for path in packed)
    except (OSError, EOFError, ValueError):
        return True


def _unpacked(path: str, room: _Room) -> bytes:
    with gzip.open(path) as unpacked:
        return room.read(unpacked)


def _refers_out(schema: bytes) -> bool:
    """Return whether a schema has an external reference, base or draft."""
    # If a field is repeated, check each value.
    fields: list[tuple[str, Any]] = []

    def noted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields.extend(pairs)
        return dict(pairs)

    root = json.loads(schema, object_pairs_hook=noted)
    own = root.get("$id") if isinstance(root, dict) else None
    for name, value in fields:
        if not isinstance(value, str):
            continue
        if name in _REFERENCES and not value.startswith("#"):
            return True
        if name == "$schema" and not _KNOWN_DRAFT.fullmatch(value):
            return True
        if name in _BASES and value != own and _SCHEME.match(value):
            return True
    return False
