"""A savepoint of the whole cluster: `undo` reverts the state, and `journal` the positions of readers."""

from __future__ import annotations

from types import TracebackType

from .journal import Journal
from .undo import UndoLog


class Savepoint:
    """A state of the cluster to return to. Leaving the context, or `close`, restores it.

    A rollback costs time in proportion to the changes. Savepoints nest: close the inner one first.
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
        """Restore the state and keep the savepoint open."""
        self._undo.back_to(self._length)
        self._journal.take_back()

    def close(self) -> None:
        """Restore the state and close the savepoint."""
        self.rollback()
        self._journal.drop_mark()
        self._undo.close()
