"""Write snapshots, one object per line. The file gets its name only when it is complete."""

from __future__ import annotations

import gzip
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, Final, cast

import msgspec

from topospread.api.inventory import Inventory
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.timestamps import timestamp
from topospread.errors import InputError, Place, UsageError
from topospread.sources.atomic_file import replacing
from topospread.text import escape_control_bytes

from .files import STANDARD_INPUT
from .objects import ReadObject
from .snapshot_facts import FIELD, FORMAT, SnapshotFacts
from .snapshot_lists import ORDER

STANDARD_OUTPUT: Final = STANDARD_INPUT
_LEVEL: Final = 6
_ENCODER: Final = msgspec.json.Encoder()


class SnapshotWriter:
    """Writes a snapshot object by object."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._between = b"\n"
        file.write(b'{"apiVersion":"v1","kind":"List","metadata":{},"items":[')

    def add(self, item: KubeObject | dict[str, object]) -> None:
        """Write one object, typed or as plain data."""
        self._file.write(self._between + escape_control_bytes(_ENCODER.encode(item)))
        self._between = b",\n"

    def end(self, facts: SnapshotFacts) -> None:
        """Write the snapshot's facts and finish it."""
        self._file.write(b'\n],"%s":%s}\n' % (FIELD.encode(), escape_control_bytes(_ENCODER.encode(facts))))


def check_path(path: str) -> None:
    """Check that a snapshot can be written to a path, before the cluster is read.

    Raises:
        UsageError: if the ending does not fit a snapshot.
        InputError: if the folder is missing, or the path is a folder.
    """
    if path == STANDARD_OUTPUT:
        return
    if not path.endswith((".json", ".json.gz")):
        raise UsageError(f"{path}: name a file that ends in .json.gz or .json, or - for standard output")
    folder = os.path.dirname(path) or "."
    if os.path.isdir(path):
        raise InputError("this is a folder; name a file", Place(path))
    if not os.path.isdir(folder):
        raise InputError("folder not found; create it first", Place(folder))


@contextmanager
def writing(path: str, stdout: BinaryIO) -> Iterator[SnapshotWriter]:
    """Yield a writer of a snapshot. The file at `path` changes only when the block ends without an error.

    Only its owner may read the file. Standard output is uncompressed and is not atomic.

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


# Write an inventory as a snapshot, such as the cluster after a simulation.


def save(inventory: Inventory, path: str, *, kube_version: str = "", hashed: bool = False) -> SnapshotFacts:
    """Write the objects of an inventory to a snapshot, in the format of `topospread dump`.

    Args:
        inventory: an inventory that was read, or the result of `topospread.simulate` with ``keep_after``.
        path: file that ends in ``.json.gz`` or ``.json``; ``-`` is standard output.
        kube_version: Kubernetes version of the cluster, such as ``1.37``.
        hashed: whether the inventory is anonymous (`topospread.sources.anonymous`).

    Raises:
        InputError: if the file cannot be written.
        UsageError: if the path has another ending.
    """
    facts = SnapshotFacts(
        format=FORMAT,
        taken=timestamp(time.time()),
        kube_version=f"v{kube_version}" if kube_version else "",
        simulated=True,
        hashed=hashed,
    )
    write_snapshot(inventory, path, facts)
    return facts


def write_snapshot(inventory: Inventory, path: str, facts: SnapshotFacts) -> None:
    """Write the objects of an inventory, and the facts with object counts added.

    Raises:
        InputError: if the file cannot be written.
        UsageError: if the path has another ending.
    """
    check_path(path)
    facts.counts = {}
    with writing(path, sys.stdout.buffer) as writer:
        for kind in ORDER:
            items = getattr(inventory, KINDS[kind].attribute)
            facts.counts[kind] = len(items)
            for item in items:
                writer.add(item)
        writer.end(facts)


# Writes the objects that a reader of the cluster hands in, in the order of kinds.
# Each object passes through the typed structs of `topospread.api`. They have no fields for environment, arguments,
# managedFields and annotations that no rule reads, so these are dropped before anything is written.


@dataclass(slots=True)
class SnapshotTaking:
    """Writes objects while they are read; kinds arrive in parallel and are written in order.

    Attributes:
        changed: function that returns an object as it is written, perhaps with other names.
        nodes_known: receives the names of all nodes before the first call of `changed`.
        kinds: keys of `KINDS`, in the order in which they are written.
    """

    writer: SnapshotWriter
    changed: Callable[[KubeObject], KubeObject | dict[str, object]] = lambda item: item
    nodes_known: Callable[[list[str]], None] = lambda names: None
    kinds: Sequence[str] = ORDER
    _waiting: dict[str, list[KubeObject]] = field(default_factory=lambda: defaultdict(list))
    _finished: set[str] = field(default_factory=set)
    _turn: int = 0

    def take(self, kind: str, objects: Sequence[ReadObject]) -> None:
        """Receive some objects of a kind. Nodes are written only when all node names are known."""
        self._waiting[kind] += [each.item for each in objects]
        if self._turn and self.kinds[self._turn : self._turn + 1] == (kind,):
            self._write(kind)

    def finished(self, kind: str) -> None:
        """Record that all objects of a kind have arrived."""
        self._finished.add(kind)
        while self._turn < len(self.kinds) and self.kinds[self._turn] in self._finished:
            if not self._turn:
                self.nodes_known([node.name for node in self._waiting[self.kinds[0]]])
            self._write(self.kinds[self._turn])
            self._turn += 1
            if self._turn < len(self.kinds):
                self._write(self.kinds[self._turn])

    def _write(self, kind: str) -> None:
        for item in self._waiting.pop(kind, ()):
            self.writer.add(self.changed(item))
