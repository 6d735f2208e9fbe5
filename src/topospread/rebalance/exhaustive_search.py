"""Exhaustive search for a plan shorter than the known one, or a proof that no shorter plan exists.

Equivalent pods on a node count as one. The search is limited; beyond the limit it proves nothing.
"""

from __future__ import annotations

import msgspec

from topospread.cluster.cluster import PodKey

from .trials import Movable, PlannedMove, Trials

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
        tried = trials.look(movable)
        if tried.row is None or tried.differs or tried.worse or tried.row == movable.row:
            continue
        if any(after > trials.distances[each] for each, after in tried.after.items() if not each.wanted):
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
    """Return the numbers of pods by class and node."""
    return frozenset(
        (pod_class.index, row, len(pods)) for pod_class, rows in trials.at.items() for row, pods in rows.items()
    )
