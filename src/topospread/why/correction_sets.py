"""Search for the smallest sufficient sets of changes with few trials, because trials are expensive.

The method is implicit hitting sets. It assumes that a sufficient set stays sufficient if a change is added. A failed
set is extended as long as it fails. Every sufficient set then contains at least one of the remaining changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import TypeVar

Item = TypeVar("Item")


def smallest_sets(
    items: Sequence[Item],
    suffices: Callable[[tuple[Item, ...]], bool],
    go_together: Callable[[Item, Item], bool],
    most: int,
) -> Iterator[tuple[Item, ...]]:
    """Yield the smallest sufficient sets of two or more items; nothing if more than `most` items are needed.

    Args:
        items: the changes, the smallest first.
        suffices: simulates a set.
        go_together: whether two items can be in one set.
        most: largest number of items of a set.
    """

    def failing_with(begin: tuple[int, ...]) -> frozenset[int]:
        """Return a maximal insufficient set that contains an insufficient set."""
        largest = extended(begin, lambda _: True)
        if not suffices(_of(items, largest)):
            return frozenset(largest)
        return frozenset(extended(begin, lambda made: not suffices(_of(items, made))))

    def extended(begin: tuple[int, ...], may_be: Callable[[tuple[int, ...]], bool]) -> tuple[int, ...]:
        made = begin
        for each in every[::-1]:
            fits = each not in made and all(go_together(items[each], items[other]) for other in made)
            if fits and may_be((*made, each)):
                made = (*made, each)
        return made

    every = range(len(items))
    if len(items) < 2:
        return
    needed: list[frozenset[int]] = []
    """Each sufficient set contains at least one item of every set in this list."""
    largest = extended((), lambda _: True)
    if not suffices(_of(items, largest)):
        needed.append(frozenset(every) - frozenset(largest))
    for size in range(2, most + 1):
        found = False
        for chosen in combinations(every, size):
            if any(each.isdisjoint(chosen) for each in needed):
                continue
            if not all(go_together(items[one], items[other]) for one, other in combinations(chosen, 2)):
                continue
            if suffices(_of(items, chosen)):
                found = True
                yield _of(items, chosen)
            else:
                needed.append(frozenset(every) - failing_with(chosen))
        if found:
            return


def _of(items: Sequence[Item], chosen: Sequence[int]) -> tuple[Item, ...]:
    return tuple(items[each] for each in sorted(chosen))
