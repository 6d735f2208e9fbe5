"""Go's ``sort.Slice``, which is not stable: kube-scheduler's order of equal elements follows from its algorithm.

Up to twelve elements, equal elements keep their order. More elements are sorted by pattern-defeating quicksort with its
fixed seed. Without equal elements the result is that of `sorted`.
Source: Go's sort/zsortfunc.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any, Generic, TypeVar

Element = TypeVar("Element")

_INSERTION = 12
_SHORTEST_NINTHER = 50
_MOST_SWAPS = 12
_STEPS = 5
_WORD = (1 << 64) - 1


def go_sorted(elements: Iterable[Element], key: Callable[[Element], Any], *, orderly: bool = True) -> list[Element]:
    """Return the elements sorted by key, with equal elements in Go's order.

    ``orderly``: whether comparisons of keys are consistent. If they are not, Go's algorithm runs step by step, because
    the result depends on each comparison.
    """
    found = list(elements)
    if orderly:
        ordered = sorted(found, key=key)
        if len(found) <= _INSERTION or all(key(one) < key(other) for one, other in pairwise(ordered)):
            return ordered
    run = _Run(found, key)
    run.sort(0, len(found), len(found).bit_length())
    return run.elements


class _Run(Generic[Element]):
    """One sort. All indexes refer to the whole list, also for a part of it."""

    def __init__(self, elements: list[Element], key: Callable[[Element], Any]) -> None:
        self.elements = elements
        self._keys = [key(each) for each in elements]
        self._swaps = 0

    def sort(self, start: int, end: int, limit: int) -> None:
        """Sort like ``pdqsort_func``. ``limit``: number of unbalanced pivots before it switches to heap sort."""
        balanced = partitioned = True
        while end - start > _INSERTION:
            length = end - start
            if limit == 0:
                self._heap_sort(start, end)
                return
            if not balanced:
                self._break_patterns(start, end)
                limit -= 1
            pivot, rising = self._choose_pivot(start, end)
            if rising is False:
                self._reverse(start, end)
                pivot, rising = end - 1 - (pivot - start), True
            if balanced and partitioned and rising and self._nearly_sorted(start, end):
                return
            if start > 0 and not self._less(start - 1, pivot):
                start = self._partition_equal(start, end, pivot)
                continue
            middle, partitioned = self._partition(start, end, pivot)
            left, right = middle - start, end - middle
            balanced = min(left, right) >= length // 8
            if left < right:
                self.sort(start, middle, limit)
                start = middle + 1
            else:
                self.sort(middle + 1, end, limit)
                end = middle
        self._insertion_sort(start, end)

    def _less(self, one: int, other: int) -> bool:
        return bool(self._keys[one] < self._keys[other])

    def _swap(self, one: int, other: int) -> None:
        for each in (self.elements, self._keys):
            each[one], each[other] = each[other], each[one]

    def _insertion_sort(self, start: int, end: int) -> None:
        for i in range(start + 1, end):
            j = i
            while j > start and self._less(j, j - 1):
                self._swap(j, j - 1)
                j -= 1

    def _sift_down(self, root: int, end: int, first: int) -> None:
        while (child := 2 * root + 1) < end:
            if child + 1 < end and self._less(first + child, first + child + 1):
                child += 1
            if not self._less(first + root, first + child):
                return
            self._swap(first + root, first + child)
            root = child

    def _heap_sort(self, start: int, end: int) -> None:
        length = end - start
        for i in range((length - 1) // 2, -1, -1):
            self._sift_down(i, length, start)
        for i in range(length - 1, -1, -1):
            self._swap(start, start + i)
            self._sift_down(0, i, start)

    def _break_patterns(self, start: int, end: int) -> None:
        length = end - start
        random = length
        modulus = 1 << length.bit_length()
        middle = start + length // 4 * 2
        for i in range(middle - 1, middle + 2):
            random ^= random << 13 & _WORD
            random ^= random >> 7
            random ^= random << 17 & _WORD
            other = random & modulus - 1
            self._swap(i, start + (other - length if other >= length else other))

    def _choose_pivot(self, start: int, end: int) -> tuple[int, bool | None]:
        """Return the pivot's index, and whether the elements seem to ascend (True) or descend (False)."""
        quarter = (end - start) // 4
        self._swaps = 0
        places = [start + quarter * part for part in (1, 2, 3)]
        if end - start >= _SHORTEST_NINTHER:
            places = [self._median(place - 1, place, place + 1) for place in places]
        middle = self._median(*places)
        return middle, True if self._swaps == 0 else False if self._swaps == _MOST_SWAPS else None

    def _median(self, one: int, two: int, three: int) -> int:
        one, two = self._ordered(one, two)
        two, three = self._ordered(two, three)
        return self._ordered(one, two)[1]

    def _ordered(self, one: int, two: int) -> tuple[int, int]:
        if self._less(two, one):
            self._swaps += 1
            return two, one
        return one, two

    def _reverse(self, start: int, end: int) -> None:
        for each in (self.elements, self._keys):
            each[start:end] = each[start:end][::-1]

    def _nearly_sorted(self, start: int, end: int) -> bool:
        """Sort the range if a few shifts suffice. Return whether it is sorted (``partialInsertionSort_func``)."""
        i = start + 1
        for _ in range(_STEPS):
            while i < end and not self._less(i, i - 1):
                i += 1
            if i == end:
                return True
            if end - start < _SHORTEST_NINTHER:
                return False
            self._swap(i, i - 1)
            if i - start >= 2:
                for j in range(i - 1, 0, -1):
                    if not self._less(j, j - 1):
                        break
                    self._swap(j, j - 1)
            if end - i >= 2:
                for j in range(i + 1, end):
                    if not self._less(j, j - 1):
                        break
                    self._swap(j, j - 1)
        return False

    def _partition(self, start: int, end: int, pivot: int) -> tuple[int, bool]:
        """Move smaller elements before the pivot. Return its new index, and whether they already were there."""
        self._swap(start, pivot)
        i, j, untouched = start + 1, end - 1, True
        while True:
            while i <= j and self._less(i, start):
                i += 1
            while i <= j and not self._less(j, start):
                j -= 1
            if i > j:
                self._swap(j, start)
                return j, untouched
            self._swap(i, j)
            i, j, untouched = i + 1, j - 1, False

    def _partition_equal(self, start: int, end: int, pivot: int) -> int:
        """Move elements equal to the pivot to the front. Return the start of the greater elements."""
        self._swap(start, pivot)
        i, j = start + 1, end - 1
        while True:
            while i <= j and not self._less(start, i):
                i += 1
            while i <= j and self._less(start, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1
