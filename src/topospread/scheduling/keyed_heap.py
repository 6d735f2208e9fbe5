"""A heap whose items can be found, changed and taken out by key, with Go's order among equals. Knows no pods.

Source: pkg/scheduler/backend/heap/heap.go on Go's container/heap: which of several equal items is popped first follows
from how that one sifts, and is the same here.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Generic, TypeVar

from topospread.cluster.undo import UndoLog

Item = TypeVar("Item")
Rank = tuple[int, ...]
"""What items are ordered by: the smallest is popped first."""


class KeyedHeap(Generic[Item]):
    """Items by key, the one with the smallest rank on top.

    Args:
        rank: an item's place in the order; asked when the item is put in or changed.
        undo: what an open savepoint needs to put every item back where it was in the array.
    """

    __slots__ = ("_index", "_items", "_keys", "_rank", "_ranks", "_undo")

    def __init__(self, rank: Callable[[Item], Rank], undo: UndoLog | None = None) -> None:
        self._rank = rank
        self._undo = UndoLog() if undo is None else undo
        self._items: list[Item] = []
        self._keys: list[str] = []
        self._ranks: list[Rank] = []
        self._index: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: str) -> bool:
        return key in self._index

    @property
    def items(self) -> list[Item]:
        """All of them, in the order of the heap's array."""
        return list(self._items)

    def get(self, key: str) -> Item | None:
        """The item of that key."""
        index = self._index.get(key)
        return None if index is None else self._items[index]

    def peek(self) -> Item | None:
        """The item that would be popped next."""
        return self._items[0] if self._items else None

    def put(self, key: str, item: Item) -> None:
        """Add an item, or put it in the place of the one with that key (``AddOrUpdate``)."""
        index = self._index.get(key)
        if index is None:
            index = len(self._items)
            self._append(key, item, self._rank(item))
            self._undo.record(self._drop_last)
            self._up(index)
            return
        self._undo.record(self._set, index, self._items[index], self._ranks[index])
        self._set(index, item, self._rank(item))
        if not self._down(index):
            self._up(index)

    def pop(self) -> Item | None:
        """Take the first item out; ``None`` where there is none."""
        return self._take(0) if self._items else None

    def drain(self) -> list[Item]:
        """Take all out, in the order in which they would be popped.

        Nothing is, where equals are among them, whose order hangs on the array, or where it may be undone.
        """
        order = sorted(range(len(self._items)), key=self._ranks.__getitem__)
        ranks = [self._ranks[i] for i in order]
        if self._undo.steps is not None or any(one == other for one, other in pairwise(ranks)):
            return []
        drained = [self._items[i] for i in order]
        for each in (self._items, self._keys, self._ranks, self._index):
            each.clear()
        return drained

    def delete(self, key: str) -> Item | None:
        """Take the item of that key out; ``None`` where there is none."""
        index = self._index.get(key)
        return None if index is None else self._take(index)

    def _take(self, index: int) -> Item:
        last = len(self._items) - 1
        self._swap(index, last)
        self._undo.record(self._append, self._keys[last], self._items[last], self._ranks[last])
        item = self._drop_last()
        if index < last and not self._down(index):
            self._up(index)
        return item

    def _append(self, key: str, item: Item, rank: Rank) -> None:
        self._index[key] = len(self._items)
        self._items.append(item)
        self._keys.append(key)
        self._ranks.append(rank)

    def _drop_last(self) -> Item:
        del self._index[self._keys.pop()]
        self._ranks.pop()
        return self._items.pop()

    def _set(self, index: int, item: Item, rank: Rank) -> None:
        self._items[index], self._ranks[index] = item, rank

    def _swap(self, one: int, other: int) -> None:
        items, keys, ranks = self._items, self._keys, self._ranks
        items[one], items[other] = items[other], items[one]
        keys[one], keys[other] = keys[other], keys[one]
        ranks[one], ranks[other] = ranks[other], ranks[one]
        self._index[keys[one]], self._index[keys[other]] = one, other
        if self._undo.steps is not None:
            self._undo.record(self._swap, one, other)

    def _up(self, index: int) -> None:
        while index:
            parent = (index - 1) // 2
            if not self._ranks[index] < self._ranks[parent]:
                return
            self._swap(index, parent)
            index = parent

    def _down(self, start: int) -> bool:
        """Return whether it moved."""
        index, size, ranks = start, len(self._items), self._ranks
        while (child := 2 * index + 1) < size:
            if child + 1 < size and ranks[child + 1] < ranks[child]:
                child += 1
            if not ranks[child] < ranks[index]:
                break
            self._swap(index, child)
            index = child
        return index > start
