"""Find charts whose values.schema.json refers to other files or to servers.

topospread renders such charts without validating their values, so that Helm reads no other file or server.
Source: helm.sh/helm/v4/pkg/chart/common/util/jsonschema.go.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import tarfile
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
_KNOWN_DRAFT: Final = re.compile(r"https?://json-schema\.org/[A-Za-z0-9./-]*#?")


def has_outside_references(chart: str) -> bool:
    """Return whether a schema of a chart or its subcharts refers to another document.

    Return True, too, if a schema or packed chart cannot be read.

    Args:
        chart: a folder, or a packed chart.
    """
    try:
        return any(map(_refers_out, _schemas(chart, _Room())))
    except (OSError, EOFError, ValueError, tarfile.TarError, RecursionError):
        return True


class _Room:
    """The number of bytes that may still be read from a chart and its packed subcharts, which may be nested."""

    left = _MAX_UNPACKED

    def read(self, file: IO[bytes] | gzip.GzipFile) -> bytes:
        data = file.read(self.left + 1)
        self.left -= len(data)
        if self.left < 0:
            raise ValueError("the chart is too large")
        return data


def _schemas(chart: str, room: _Room) -> Iterator[bytes]:
    if os.path.isfile(chart):
        with open(chart, "rb") as packed:
            yield from _packed_schemas(packed, room)
        return
    root, visited = os.path.realpath(chart), set[str]()
    for folder, below, names in os.walk(chart, followlinks=True):
        real = os.path.realpath(folder)
        if real in visited:
            below.clear()
            continue
        if os.path.commonpath([real, root]) != root:
            raise ValueError("a link leaves the chart")
        visited.add(real)
        for name in names:
            path = os.path.join(folder, name)
            if name == _SCHEMA:
                if not os.path.isfile(path):
                    raise ValueError("a schema is not a regular file")
                with open(path, "rb") as file:
                    yield room.read(file)
            elif name.endswith(PACKED):
                yield from _schemas(path, room)


def _packed_schemas(packed: IO[bytes], room: _Room) -> Iterator[bytes]:
    """Yield the schemas of a packed chart.

    Raises:
        ValueError: if Helm might read the archive differently, because two ways to read it find different names.
    """
    with gzip.open(packed) as unpacked:
        data = room.read(unpacked)
    expected = sum(data.count(each.encode()) for each in (_SCHEMA, PACKED))
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            if archive.pax_headers or member.pax_headers or member.issparse():
                raise ValueError("the archive has pax headers or sparse files")
            content = archive.extractfile(member) if member.name.endswith((_SCHEMA, PACKED)) else None
            if content is None:
                continue
            expected -= 1
            if member.name.endswith(_SCHEMA):
                yield content.read()
            else:
                yield from _packed_schemas(io.BytesIO(content.read()), room)
    if expected > 0:
        raise ValueError("the archive names more schemas or charts than it has files of")


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
