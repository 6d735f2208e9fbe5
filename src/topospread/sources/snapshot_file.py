"""A snapshot being written: an object a line into a file that appears under its name only when it is whole."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, cast

import msgspec

from topospread.api.meta import KubeObject
from topospread.errors import InputError, Place, UsageError
from topospread.sources.atomic_file import replacing
from topospread.text import escape_control_bytes

from .files import STANDARD_INPUT
from .snapshot_facts import FIELD, SnapshotFacts

STANDARD_OUTPUT: Final = STANDARD_INPUT
_LEVEL: Final = 6
_HEAD: Final = b'{"apiVersion":"v1","kind":"List","metadata":{},"items":['
_ENCODER: Final = msgspec.json.Encoder()


class SnapshotWriter:
    """Writes objects as they come."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._between = b"\n"
        file.write(_HEAD)

    def add(self, item: KubeObject | dict[str, object]) -> None:
        """One object, typed or as plain data."""
        self._file.write(self._between + escape_control_bytes(_ENCODER.encode(item)))
        self._between = b",\n"

    def end(self, facts: SnapshotFacts) -> None:
        """Write the snapshot's own facts and finish it."""
        self._file.write(b'\n],"%s":%s}\n' % (FIELD.encode(), escape_control_bytes(_ENCODER.encode(facts))))


def check_path(path: str) -> None:
    """Check that a snapshot can be written here, before the cluster is read for minutes.

    Raises:
        UsageError: the name has another ending than the contents would have.
        InputError: there is no such folder, or it is one.
    """
    if path == STANDARD_OUTPUT:
        return
    if not path.endswith((".json", ".json.gz")):
        raise UsageError(f"{path}: name a file that ends in .json.gz or .json, or - for standard output")
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise InputError("this is a folder; name a file", Place(path))
    if not os.path.isdir(folder):
        raise InputError("there is no such folder", Place(folder))


@contextmanager
def writing(path: str, stdout: BinaryIO) -> Iterator[SnapshotWriter]:
    """Yield a writer of a snapshot. The file at `path` changes only when the block ends without an error.

    Only its owner may read the file. Standard output is not compressed, and cannot be taken back.

    Raises:
        InputError: if the file cannot be written.
    """
    if path == STANDARD_OUTPUT:
        yield SnapshotWriter(stdout)
        stdout.flush()
        return
    with replacing(path, private=True) as file:
        yield from _filled(file, compressed=path.endswith(".gz"))


def _filled(file: BinaryIO, *, compressed: bool) -> Iterator[SnapshotWriter]:
    if not compressed:
        yield SnapshotWriter(file)
        return
    with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=_LEVEL, filename="", mtime=0) as packed:
        yield SnapshotWriter(cast(BinaryIO, packed))
