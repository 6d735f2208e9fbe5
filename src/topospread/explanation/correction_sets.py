"""The smallest sets of changes that suffice, where each trial is dear: every failed trial narrows what is left to try.

The method is that of implicit hitting sets. It takes for granted that a further change never makes a set fail that
suffices. A failed set is extended as far as it fails; every set that suffices then has one of the changes outside.
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
    """Yield the sets of two items and more that suffice and have the fewest items; nothing if more than `most` do.

    Args:
        items: the changes, the smallest first.
        suffices: tries a set.
        go_together: whether two items can be in one set.
        most: largest number of items of a set.
    """

    def extended(begin: tuple[int, ...], order: Sequence[int], *, while_it_fails: bool) -> tuple[int, ...]:
        made = begin
        for each in order:
            if each in made or not all(go_together(items[each], items[other]) for other in made):
                continue
            if not while_it_fails or not suffices(_of(items, (*made, each))):
                made = (*made, each)
        return made

    every = range(len(items))
    largest = dict.fromkeys(frozenset(extended((each,), every[::-1], while_it_fails=False)) for each in every)
    if not any(len(each) > 1 and suffices(_of(items, tuple(each))) for each in largest):
        return
    needed: list[frozenset[int]] = []
    """Of each of these, a set that suffices has at least one."""
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
                failing = extended(chosen, every[::-1], while_it_fails=True)
                needed.append(frozenset(every) - frozenset(failing))
        if found:
            return


def _of(items: Sequence[Item], chosen: Sequence[int]) -> tuple[Item, ...]:
    return tuple(items[each] for each in sorted(chosen))
