"""A moment that the whole cluster goes back to; what is recorded on the way is in `undo`, who reads in `journal`."""

from __future__ import annotations

from types import TracebackType

from .journal import Journal
from .undo import UndoLog


class Savepoint:
    """The cluster as it was when this was made; leaving the context, or `close`, puts it back there for good.

    Going back costs what changed since. Savepoints nest: one is closed before those that were there when it was made.
    """

    __slots__ = ("_journal", "_length", "_undo")

    def __init__(self, undo: UndoLog, journal: Journal) -> None:
        self._undo = undo
        self._journal = journal
        self._length = undo.open()
        journal.mark()

    def __enter__(self) -> Savepoint:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def rollback(self) -> None:
        """Go back, to go on from there: the savepoint stays."""
        self._undo.back_to(self._length)
        self._journal.take_back()

    def close(self) -> None:
        """Go back, and have no savepoint here any more."""
        self.rollback()
        self._journal.drop_mark()
        self._undo.close()
