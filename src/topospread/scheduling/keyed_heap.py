"""A heap whose items can be found, updated and removed by key, with Go's order of equal items.

The order of items with equal ranks depends on how Go's container/heap sifts, which this module copies.
Source: pkg/scheduler/backend/heap/heap.go.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Generic, TypeVar

from topospread.cluster.undo import UndoLog

Item = TypeVar("Item")
Rank = tuple[int, ...]
"""Sort key of an item; the smallest is popped first."""


class KeyedHeap(Generic[Item]):
    """Items by key, the item with the smallest rank on top.

    Args:
        rank: function that returns an item's rank; called when the item is added or updated.
        undo: undo log that restores every item's position in the array.
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
        """All items, in the order of the heap's array."""
        return list(self._items)

    def get(self, key: str) -> Item | None:
        """Return the item of a key."""
        index = self._index.get(key)
        return None if index is None else self._items[index]

    def peek(self) -> Item | None:
        """Return the item that `pop` would return."""
        return self._items[0] if self._items else None

    def put(self, key: str, item: Item) -> None:
        """Add an item, or replace the item of that key (``AddOrUpdate``)."""
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
        """Remove and return the first item; ``None`` if the heap is empty."""
        return self._take(0) if self._items else None

    def drain(self) -> list[Item]:
        """Remove and return all items in the order of `pop`.

        Return an empty list and change nothing if some ranks are equal, because the order then depends on the array, or
        if a savepoint is open.
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
        """Remove and return the item of a key; ``None`` if it does not exist."""
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
        """Sift an item down. Return whether it moved."""
        index, size, ranks = start, len(self._items), self._ranks
        while (child := 2 * index + 1) < size:
            if child + 1 < size and ranks[child + 1] < ranks[child]:
                child += 1
            if not ranks[child] < ranks[index]:
                break
            self._swap(index, child)
            index = child
        return index > start
