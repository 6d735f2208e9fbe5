"""The changes of a cluster in order, for everything that is derived from the cluster and kept up to date.

A reader remembers a position. It reads all changes since then, or only those of some pod classes or of nodes: changes
of one class are linked backwards. Between `mark` and `take_back` the journal notes its readers, because their changes
are undone.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar
from weakref import WeakValueDictionary

import msgspec

from .pod_class import PodClass

PodChange = tuple[int, PodClass | None, int]
"""(row of a node, class, +1 or −1) as a pod comes or goes; (row, None, 0) as the node is added, changed or removed;
(row, None, `VOLUMES`) as other volumes stand behind what its pods name; `ELSEWHERE`."""

VOLUMES = 1

NO_ROW = -1
ELSEWHERE: PodChange = (NO_ROW, None, 0)
"""An object was added, changed or removed (`ClusterObjects.changed` says of which kind), or a node was promised to a
pod."""

_KEPT = 1 << 17
_LATEST = 8
"""So many shared readers are kept although nothing else holds them yet."""
_NONE = -1
"""Stands for the position of a change that does not exist."""


class JournalReader(Protocol):
    """A reader that follows the journal."""

    def catch_up(self) -> bool:
        """Read on; False when what was derived has to be made anew."""

    def rewind(self, position: int) -> None:
        """The newest changes, which were read and undo each other, were taken back; −1: nothing that is kept fits."""


Reader = TypeVar("Reader", bound=JournalReader)


class Mark(msgspec.Struct):
    """A moment to which the journal can be taken back.

    Attributes:
        position, stamp: of the journal at that moment.
        readers: who read on since, by ``id``.
    """

    position: int
    stamp: int
    readers: WeakValueDictionary[int, JournalReader] = msgspec.field(default_factory=WeakValueDictionary)


class Journal:
    """A list of changes; the older half is dropped once there are many, and who has not read it starts anew.

    Attributes:
        position: where the next change will stand.
        stamp: stands for what the cluster is now: never the same again after a change, but what it was before once
            changes were taken back.
    """

    __slots__ = (
        "_changes",
        "_dropped",
        "_last_node_change",
        "_last_stamp",
        "_latest",
        "_marks",
        "_previous",
        "_shared",
        "position",
        "stamp",
    )

    def __init__(self) -> None:
        # The change at position p is _changes[p - _dropped]. _previous has the same places: the position of the change
        # before it of the same class, or of any node. PodClass.last_change and _last_node_change begin these chains.
        self._changes: list[PodChange] = []
        self._previous: array[int] = array("q")
        self._last_node_change = _NONE
        self._dropped = 0
        self._shared: WeakValueDictionary[Hashable, JournalReader] = WeakValueDictionary()
        self._latest: deque[JournalReader] = deque(maxlen=_LATEST)
        self._marks: list[Mark] = []
        self.position = 0
        self.stamp = 0
        self._last_stamp = 0

    @property
    def is_marked(self) -> bool:
        """True if what is written may be taken back."""
        return bool(self._marks)

    def append(self, change: PodChange) -> None:
        """Add a change."""
        row, pod_class, what = change
        position, changes = self.position, self._changes
        if pod_class is not None:
            self._previous.append(pod_class.last_change)
            pod_class.last_change = position
        elif row == NO_ROW or what == VOLUMES:
            self._previous.append(_NONE)
        else:
            self._previous.append(self._last_node_change)
            self._last_node_change = position
        changes.append(change)
        self.stamp = self._last_stamp = self._last_stamp + 1
        self.position = position + 1
        if len(changes) > _KEPT:
            half = len(changes) // 2
            self._dropped += half
            del changes[:half], self._previous[:half]

    def join(self, reader: JournalReader) -> int:
        """The position from which somebody reads who has just derived everything from what there is."""
        if self._marks:
            self._marks[-1].readers[id(reader)] = reader
        return self.position

    def since(self, position: int, reader: JournalReader) -> Sequence[PodChange] | None:
        """Changes from a position on; ``None`` when some of them are no longer kept."""
        if position < self._dropped:
            return None
        changes = self._changes[position - self._dropped :]
        if changes and self._marks:
            self._marks[-1].readers[id(reader)] = reader
        return changes

    def about(
        self, subjects: Iterable[PodClass | None], position: int, reader: JournalReader
    ) -> Sequence[PodChange] | None:
        """Return the changes of some pod classes since a position, and of nodes if ``None`` is among the subjects.

        Returns:
            The changes in their order, ``None`` if some of them are no longer kept. A reader that gets no change keeps
            its position.
        """
        if position < 0:
            return None
        found = []
        for each in subjects:
            at = self._last_node_change if each is None else each.last_change
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
        """Return the reader that is known by a key, up to date; make it if there is none, or none that can catch up."""
        known = self._shared.get(key)
        if known is None or not known.catch_up():
            known = self._shared[key] = make()
            self._latest.append(known)
        return known  # type: ignore[return-value]  # a key belongs to one kind of reader

    def mark(self) -> None:
        """Note from now on who reads, until the mark is dropped."""
        self._marks.append(Mark(self.position, self.stamp))

    def take_back(self) -> None:
        """Drop the entries since the last mark, which cancel each other; who read some of them first reads the rest."""
        mark = self._marks[-1]
        if mark.position < self._dropped:  # so much was written that the beginning is gone: all is read as it comes
            self._pass_on(mark)
            self._marks[-1] = Mark(self.position, self.stamp)
            return
        up_to_date: dict[int, tuple[JournalReader, bool]] = {}
        while left := [each for number, each in mark.readers.items() if number not in up_to_date]:
            for each in left:  # who reads on may have others read on who had not until now
                up_to_date[id(each)] = (each, each.catch_up())
        for reader, is_up_to_date in up_to_date.values():
            reader.rewind(mark.position if is_up_to_date else -1)
        self._pass_on(mark)
        mark.readers.clear()
        self._forget_since(mark.position - self._dropped)
        self.position = mark.position
        self.stamp = mark.stamp

    def _forget_since(self, place: int) -> None:
        """Remove the newest changes; the chains end where they ended before."""
        for (row, pod_class, what), before in zip(
            reversed(self._changes[place:]), reversed(self._previous[place:]), strict=True
        ):
            if pod_class is not None:
                pod_class.last_change = before
            elif row != NO_ROW and what != VOLUMES:
                self._last_node_change = before
        del self._changes[place:], self._previous[place:]

    def drop_mark(self) -> None:
        """End what `mark` began."""
        self._pass_on(self._marks[-1])
        self._marks.pop()

    def _pass_on(self, mark: Mark) -> None:
        """Pass readers that read on since the last mark to the mark before it: they have read its entries, too."""
        if len(self._marks) > 1:
            self._marks[-2].readers.update(mark.readers)
