"""Searches for a plan shorter than the known one: without some of its evictions, or all shorter plans.

The latter may prove that no shorter plan exists. Equivalent pods on a node count as one. Both searches are limited;
beyond the limit they prove nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from topospread.api.inventory import key_of
from topospread.cluster.cluster import PodKey

from .trials import Movable, PlannedMove, Trials, Tried

BUDGET = 1500
"""Maximum number of placements in the search."""


class SearchResult(msgspec.Struct):
    """The result of the exhaustive search.

    Attributes:
        moves: a plan that meets every goal; None if no plan of the searched length exists.
        at_least: proved minimum number of moves; the earlier bound if the search ended early.
    """

    moves: list[PlannedMove] | None
    at_least: int


def without_needless(trials: Trials, moves: Sequence[PlannedMove], at_least: int) -> Sequence[PlannedMove]:
    """Return the plan without unnecessary evictions. It must meet every goal. The state is unchanged."""
    limit = trials.tried + BUDGET
    while len(moves) > at_least:
        shorter = (
            made for each in _shorter(moves) if trials.tried < limit and (made := _replayed(trials, each)) is not None
        )
        fewer = next(shorter, None)
        if fewer is None:
            break
        moves = fewer
    return moves


def _shorter(moves: Sequence[PlannedMove]) -> Iterator[list[PlannedMove]]:
    """Yield the plans that lack one eviction, in the given order and with one workload's evictions first."""
    orders = [list(moves)]
    for first in dict.fromkeys(key_of(each.movable.workload) for each in moves):
        order = sorted(moves, key=lambda each, first=first: key_of(each.movable.workload) != first)  # type: ignore[misc]
        orders += [] if order in orders else [order]
    for order in orders:
        yield from ([*order[:at], *order[at + 1 :]] for at in reversed(range(len(order))))


def _replayed(trials: Trials, moves: Iterable[PlannedMove]) -> list[PlannedMove] | None:
    """Simulate a plan from the current state. Return it with its actual nodes; None if it does not meet every goal."""
    point, done, plan = trials.cluster.savepoint(), list[tuple[Movable, Movable]](), list[PlannedMove]()
    is_allowed = True
    for each in moves:
        is_there = each.movable.row in trials.at.get(each.movable.pod_class, {})
        movable = trials.like(each.movable) if is_there else each.movable
        is_allowed = is_there and _is_allowed(trials, movable, trials.look(movable))
        if not is_allowed:
            break
        made = trials.evict(movable)
        done.append((movable, made))
        plan.append(PlannedMove(movable, made.row))
    is_met = is_allowed and not trials.unmet
    point.close()
    for old, new in reversed(done):
        trials.take_back(old, new)
    return plan if is_met else None


def _is_allowed(trials: Trials, movable: Movable, tried: Tried) -> bool:
    if tried.row is None or tried.differs or tried.worse or tried.row == movable.row:
        return False
    return not any(after > trials.distances[each] for each, after in tried.after.items() if not each.wanted)


def deepen(trials: Trials, at_least: int, below: int) -> SearchResult:
    """Search for a plan with fewer than ``below`` moves. The state is unchanged afterwards."""
    limit = trials.tried + BUDGET
    for depth in range(max(at_least, 1), below):
        moves: list[PlannedMove] = []
        outcome = _search(trials, depth, moves, limit, set())
        if outcome is None:
            return SearchResult(None, depth)
        if outcome:
            return SearchResult(moves, depth)
    return SearchResult(None, max(at_least, below))


def _search(trials: Trials, depth: int, moves: list[PlannedMove], limit: int, known: set[object]) -> bool | None:
    """Return whether `depth` moves are enough; None if the limit is reached."""
    farthest = max((trials.distances[each] for each in trials.goals if each.wanted), default=0)
    if not farthest:
        return True
    if farthest > depth:
        return False
    state = _state(trials), depth
    if state in known:
        return False
    alike: dict[tuple[PodKey, int], Movable] = {}
    for pod_class, rows in trials.at.items():
        for row, pods in rows.items():
            alike[str(pod_class.index), row] = next(iter(pods.values()))
    for movable in list(alike.values()):
        if trials.tried >= limit:
            return None
        if not _is_allowed(trials, movable, trials.look(movable)):
            continue
        point = trials.cluster.savepoint()
        made = trials.evict(movable)
        moves.append(PlannedMove(movable, made.row))
        outcome = _search(trials, depth - 1, moves, limit, known)
        point.close()
        trials.take_back(movable, made)
        if outcome or outcome is None:
            return outcome
        moves.pop()
    known.add(state)
    return False


def _state(trials: Trials) -> frozenset[tuple[int, int, int]]:
    return frozenset(
        (pod_class.index, row, len(pods)) for pod_class, rows in trials.at.items() for row, pods in rows.items()
    )
