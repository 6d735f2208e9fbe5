"""All orders of few moves, where a plan has more than is known to be needed: a shorter plan, or the proof of none.

Moves of alike pods on one node are one. What is looked at is bounded; beyond it nothing is said.
"""

from __future__ import annotations

import msgspec

from topospread.cluster.cluster import PodKey

from .trials import Movable, PlannedMove, Trials

BUDGET = 1500
"""So many placements are tried for a shorter plan."""


class Deepened(msgspec.Struct):
    """The result of trying all orders.

    Attributes:
        moves: a plan that brings every goal home, ``None`` where there is none of at most so many moves.
        at_least: so many moves are needed, as all shorter plans were tried; what was known before where not.
    """

    moves: list[PlannedMove] | None
    at_least: int


def deepen(trials: Trials, at_least: int, below: int) -> Deepened:
    """A plan of fewer than ``below`` moves, where all of some length can be tried; the state is as it was."""
    limit = trials.tried + BUDGET
    for depth in range(max(at_least, 1), below):
        moves: list[PlannedMove] = []
        outcome = _search(trials, depth, moves, limit, set())
        if outcome is None:
            return Deepened(None, depth)
        if outcome:
            return Deepened(moves, depth)
    return Deepened(None, max(at_least, below))


def _search(trials: Trials, depth: int, moves: list[PlannedMove], limit: int, known: set[object]) -> bool | None:
    """Return whether so many moves are enough; ``None`` if the limit is reached first."""
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
