"""Which changes of a pod's spec let it in: one at a time, the smallest maxSkew, and two at once where no one does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

from topospread.plugins.spread_constraints import Constraint

from .changes import (
    Change,
    combined,
    constraint_changes,
    max_skew_change,
    newest_revision,
    toleration_change,
    topology_key_change,
)
from .meant_changes import meant_changes
from .owner import Owned
from .result import Suggestion
from .what_if import PendingPodFacts, WhatIf

Worked = tuple[Change, Suggestion]
Attempt = Callable[[int], tuple[Change, Suggestion | None]]
_PAIRS = 8
"""How many pairs of changes are tried at most."""


def of_spec(search: WhatIf, owner: Owned, found: PendingPodFacts) -> Iterator[Worked]:
    """Changes of the spec that work, each with what comes of it.

    Where the pod is of an older revision, and the newest one would find its places, nothing else is looked for.
    """
    if found.older:
        change = newest_revision(owner)
        tried = search.try_out(change)
        if tried is not None:
            yield change, tried
            if tried.complete and tried.stuck_at is None:
                return
    failed: list[Change] = []
    complete = False
    for change in _single(owner, found):
        tried = search.try_out(change)
        if tried is None:
            failed.append(change)
        else:
            complete |= tried.complete
            yield change, tried
    for constraint in _hard(owner, found):
        by_max_skew = _by_max_skew(search, owner, constraint)
        smallest = _smallest(search, constraint.max_skew, _most(found, constraint), by_max_skew)
        if smallest is not None:
            complete |= smallest[1].complete
            yield smallest
    if not complete:
        yield from _pairs(search, owner, found, failed)


def _hard(owner: Owned, found: PendingPodFacts) -> list[Constraint]:
    """Return the hard constraints that the owner's spec has, too: a pod of an older revision may have more."""
    own = len(owner.spec.topology_spread_constraints or ()) or len(found.constraints)
    return [each for each in found.constraints if each.when_unsatisfiable == "DoNotSchedule" and each.position < own]


def _single(owner: Owned, found: PendingPodFacts) -> Iterator[Change]:
    """Everything but maxSkew, of which there are many."""
    for constraint in _hard(owner, found):
        key = found.meant.keys.get(constraint.topology_key)
        change = topology_key_change(owner, constraint, key) if key else None
        if change is not None:
            yield change
    yield from meant_changes(owner, found.meant)
    domains = {each.arithmetic.position: len(each.domains) for each in found.tables}
    for constraint in _hard(owner, found):
        yield from constraint_changes(owner, constraint, domains[constraint.position])
    for taints in found.taints:
        yield toleration_change(owner, taints)


def _most(found: PendingPodFacts, constraint: Constraint) -> int:
    """A maxSkew that forbids nothing."""
    table = next(each for each in found.tables if each.arithmetic.position == constraint.position)
    most = max((each.matching for each in table.domains), default=0) + found.baseline.wanted + 1
    return max(most, constraint.max_skew + 1)


def _by_max_skew(search: WhatIf, owner: Owned, constraint: Constraint, beside: Change | None = None) -> Attempt:
    """Tries a maxSkew, with another constraint's beside it; the patch follows their places in the pod."""

    def tried(value: int) -> tuple[Change, Suggestion | None]:
        change = max_skew_change(owner, constraint, value)
        if beside is not None:
            change = combined(*sorted((change, beside), key=lambda each: each.size[-1]))
        return change, search.try_out(change)

    return tried


def _smallest(search: WhatIf, now: int, most: int, tried: Attempt) -> Worked | None:
    """The smallest maxSkew that lets in as many pods as the largest does; one less was tried and lets in fewer."""
    untried = search.untried
    _, largest = tried(most)
    if largest is None:
        return None
    low, step = now, 1
    high = low + step
    while not _as_good(tried(high)[1], largest):
        low, step = high, 2 * step
        high = min(low + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _as_good(tried(middle)[1], largest) else (middle, high)
    change, smallest = tried(high)
    return (change, smallest) if smallest is not None and search.untried == untried else None


def _as_good(one: Suggestion | None, largest: Suggestion) -> bool:
    """Whether as many pods are placed, and a rolling update gets there if the largest one's does."""
    if one is None or one.placed < largest.placed:
        return False
    return one.stuck_at is None or largest.stuck_at is not None


def _pairs(search: WhatIf, owner: Owned, found: PendingPodFacts, failed: list[Change]) -> Iterator[Worked]:
    """Two changes at once, of those that do nothing alone; of two constraints each the smallest maxSkew that works."""
    own = [each for each in _hard(owner, found) if each.origin == "pod"]
    for first, second in list(combinations(own, 2))[:_PAIRS]:
        wide = max_skew_change(owner, second, _most(found, second))
        narrowed = _smallest(search, first.max_skew, _most(found, first), _by_max_skew(search, owner, first, wide))
        if narrowed is None:
            continue
        beside = max_skew_change(owner, first, narrowed[0].patch[0]["value"])
        both = _smallest(search, second.max_skew, _most(found, second), _by_max_skew(search, owner, second, beside))
        if both is not None:
            yield both
    for one, other in [pair for pair in combinations(failed, 2) if _go_together(*pair)][:_PAIRS]:
        change = combined(one, other)
        tried = search.try_out(change)
        if tried is not None and tried.complete:
            yield change, tried


def _go_together(one: Change, other: Change) -> bool:
    """Whether two patches can follow each other: of different things, and neither moves what the other points at."""
    first, second = ({each["path"].rpartition("/")[0] for each in change.patch} for change in (one, other))
    moves = any(each["op"] == "remove" and each["path"][-1].isdigit() for each in (*one.patch, *other.patch))
    return not moves and not first & second
