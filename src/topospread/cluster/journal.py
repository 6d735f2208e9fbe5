"""The changes of a cluster in order. Data that is derived from the cluster reads them to stay up to date.

A reader stores its position. It reads all changes since its position, or only the changes of some pod classes or of
nodes. Between `mark` and `take_back`, the journal records which readers read, because these changes will be undone.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

import msgspec

from .pod_class import PodClass

PodChange = tuple[int, PodClass | None, int]
"""(row, class, ±1) when a pod is placed (+1) or removed; (row, None, 0) when a node is added, changed or removed;
(row, None, `VOLUMES`) when the volumes behind its pods' claims change; or `ELSEWHERE`.
"""

VOLUMES = 1

NO_ROW = -1
ELSEWHERE: PodChange = (NO_ROW, None, 0)
"""A change of an object (`ClusterObjects.changed` has its kind) or of a nomination, which concerns no row."""

_KEPT, _DROPPED = 1 << 17, 1 << 14
"""Maximum number of changes kept, and number of oldest changes that are dropped at once."""
_LATEST = 8
"""Number of newest shared readers that the journal keeps alive, until other objects reference them."""
_NONE = -1
"""Position of a change that does not exist."""


class JournalReader(Protocol):
    """A reader that follows the journal."""

    def catch_up(self) -> bool:
        """Read the new changes. Return False if the derived data must be rebuilt."""

    def rewind(self, position: int) -> None:
        """Set the position after changes were undone that the reader had read; −1 if its data must be rebuilt."""


Reader = TypeVar("Reader", bound=JournalReader)


class Mark(msgspec.Struct):
    """A position to which the journal can be taken back.

    Attributes:
        position, stamp: the journal's position and stamp when the mark was set.
        readers: readers that read changes since then, by ``id``.
    """

    position: int
    stamp: int
    readers: WeakValueDictionary[int, JournalReader] = msgspec.field(default_factory=WeakValueDictionary)


class Journal:
    """A list of changes. Old changes are dropped; a reader that has not read them must rebuild its data.

    Attributes:
        position: position of the next change.
        last_node_change: position of the newest change that `nodes_since` returns; −1 without one.
        stamp: number of the cluster's state. Every change sets a number that was never used; `take_back` restores it.
    """

    __slots__ = (
        "_changes",
        "_dropped",
        "_dropped_node_changes",
        "_last_stamp",
        "_latest",
        "_marks",
        "_node_changes",
        "_node_rows",
        "_previous",
        "_shared",
        "last_node_change",
        "position",
        "stamp",
    )

    def __init__(self) -> None:
        # The change at position p is _changes[p - _dropped]. _previous[p - _dropped] is the position of the preceding
        # change of the same class, _NONE without one; a class's chain begins at PodClass.last_change. _node_changes
        # holds the positions of node changes in ascending order, and _node_rows, of equal length, their rows. Node
        # changes before position _dropped_node_changes were dropped.
        self._changes: list[PodChange] = []
        self._previous: array[int] = array("q")
        self._node_changes: array[int] = array("q")
        self._node_rows: array[int] = array("q")
        self._dropped_node_changes = 0
        self.last_node_change = _NONE
        self._dropped = 0
        self._shared: WeakValueDictionary[Hashable, JournalReader] = WeakValueDictionary()
        self._latest: deque[JournalReader] = deque(maxlen=_LATEST)
        self._marks: list[Mark] = []
        self.position = 0
        self.stamp = 0
        self._last_stamp = 0

    @property
    def is_marked(self) -> bool:
        """True if a mark is set, so new changes may be taken back."""
        return bool(self._marks)

    def append(self, change: PodChange) -> None:
        """Add a change."""
        row, pod_class, what = change
        position, changes = self.position, self._changes
        if pod_class is not None:
            self._previous.append(pod_class.last_change)
            pod_class.last_change = position
        else:
            self._previous.append(_NONE)
            if row != NO_ROW and what != VOLUMES:
                self.last_node_change = position
                self._node_changes.append(position)
                self._node_rows.append(row)
        changes.append(change)
        self.stamp = self._last_stamp = self._last_stamp + 1
        self.position = position + 1
        if len(changes) > _KEPT:
            self._dropped += _DROPPED
            del changes[:_DROPPED], self._previous[:_DROPPED]
            if gone := bisect_left(self._node_changes, self._dropped):
                self._dropped_node_changes = self._node_changes[gone - 1] + 1
                del self._node_changes[:gone], self._node_rows[:gone]

    def join(self, reader: JournalReader) -> int:
        """Return the start position of a reader that has just derived its data from the current state."""
        if self._marks:
            self._marks[-1].readers[id(reader)] = reader
        return self.position

    def since(self, position: int, reader: JournalReader) -> Sequence[PodChange] | None:
        """Return the changes since a position; ``None`` if some were dropped."""
        if position < self._dropped:
            return None
        changes = self._changes[position - self._dropped :]
        if changes and self._marks:
            self._marks[-1].readers[id(reader)] = reader
        return changes

    def nodes_since(self, position: int, reader: JournalReader) -> Mapping[int, None] | None:
        """Return the rows of nodes that were added, changed or removed since a position, each once.

        Returns:
            The rows in order of their first change; ``None`` if changes were dropped. If it is empty, the reader may
            keep its position.
        """
        if position < self._dropped_node_changes:
            return None
        first = bisect_left(self._node_changes, position)
        if first == len(self._node_changes):
            return {}
        if self._marks:
            self._marks[-1].readers[id(reader)] = reader
        return dict.fromkeys(self._node_rows[first:])

    def about(self, classes: Iterable[PodClass], position: int, reader: JournalReader) -> Sequence[PodChange] | None:
        """Return the changes of some pod classes since a position.

        Returns:
            The changes in order; ``None`` if some were dropped. If it is empty, the reader may keep its position.
        """
        if position < 0:
            return None
        found = []
        for each in classes:
            at = each.last_change
            while at >= position:
                if at < self._dropped:
                    return None
                found.append(at)
                at = self._previous[at - self._dropped]
        if not found:
            return ()
        if self._marks:
            self._marks[-1].readers[id(reader)] = reader
        found.sort()
        return [self._changes[at - self._dropped] for at in found]

    def shared(self, key: Hashable, make: Callable[[], Reader]) -> Reader:
        """Return the up-to-date reader of a key. Call ``make`` if it does not exist or cannot catch up."""
        known = self._shared.get(key)
        if known is None or not known.catch_up():
            known = self._shared[key] = make()
            self._latest.append(known)
        return known  # type: ignore[return-value]  # a key belongs to one kind of reader

    def mark(self) -> None:
        """Record readers from now on, until the mark is dropped."""
        self._marks.append(Mark(self.position, self.stamp))

    def take_back(self) -> None:
        """Remove the changes since the last mark. Their undo changes are among them, so in sum they change nothing.

        First, all readers that read some of them read the others, too.
        """
        mark = self._marks[-1]
        if mark.position < self._dropped:  # some changes since the mark were dropped, so keep the remaining changes
            self._pass_on(mark)
            self._marks[-1] = Mark(self.position, self.stamp)
            return
        up_to_date: dict[int, tuple[JournalReader, bool]] = {}
        while left := [each for number, each in mark.readers.items() if number not in up_to_date]:
            for each in left:  # `catch_up` of one reader may record further readers
                up_to_date[id(each)] = (each, each.catch_up())
        for reader, is_up_to_date in up_to_date.values():
            reader.rewind(mark.position if is_up_to_date else -1)
        self._pass_on(mark)
        mark.readers.clear()
        self._forget_since(mark.position - self._dropped)
        self.position = mark.position
        self.stamp = mark.stamp

    def _forget_since(self, place: int) -> None:
        """Remove the changes from index ``place`` on, also from the chains of their classes."""
        for (_, pod_class, _), before in zip(
            reversed(self._changes[place:]), reversed(self._previous[place:]), strict=True
        ):
            if pod_class is not None:
                pod_class.last_change = before
        del self._changes[place:], self._previous[place:]
        nodes = bisect_left(self._node_changes, self._dropped + place)
        del self._node_changes[nodes:], self._node_rows[nodes:]
        self.last_node_change = self._node_changes[-1] if nodes else self._dropped_node_changes - 1

    def drop_mark(self) -> None:
        """Remove the last mark."""
        self._pass_on(self._marks[-1])
        self._marks.pop()

    def _pass_on(self, mark: Mark) -> None:
        """Add the readers of a removed mark to the last remaining mark, whose changes they also read."""
        if len(self._marks) > 1:
            self._marks[-2].readers.update(mark.readers)
