"""Objects as they come of a cluster → a snapshot of them in the order of kinds; who reads the cluster hands them in.

An object passes through the typed structs of `topospread.api`, which know neither environment, arguments, annotations
that no rule reads nor managedFields: what they do not know is gone before anything is written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from topospread.api.meta import KubeObject

from .objects import ReadObject
from .snapshot_file import SnapshotWriter
from .snapshot_lists import ORDER


@dataclass(slots=True)
class SnapshotTaking:
    """Writes what is read; kinds come side by side, and those whose turn is later wait.

    Attributes:
        writer: writes an object.
        changed: what is done with each object before it is written.
        nodes_known: is told the names of the nodes before anything is changed.
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
        """Some of a kind. Nodes wait until all are known."""
        self._waiting[kind] += [each.item for each in objects]
        if self._turn and self.kinds[self._turn : self._turn + 1] == (kind,):
            self._write(kind)

    def finished(self, kind: str) -> None:
        """All of a kind are there."""
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
