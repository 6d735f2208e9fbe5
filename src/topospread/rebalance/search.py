"""Greedy search for moves that bring constraints closer to holding.

A move is accepted only if its new pod finds a node, no other constraint gets worse, and the goals get closer. `trials`
simulates each move.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from topospread.simulation.placing import Progress

from .goals import Goal, GoalCounts, counts_of
from .trials import Movable, PlannedMove, Trials, Tried

_CANDIDATES = 60
"""Maximum number of pods tried for one step towards a goal."""
_EVENING = 3
"""Maximum number of moves that only even out counts, before a move must get closer to the goal."""
_ROOM = 24
"""Maximum number of pods tried as obstacles of a pod without room."""


class FoundMoves(msgspec.Struct):
    """The moves found so far.

    Attributes:
        stuck: goal → results of the evictions tried for it.
    """

    moves: list[PlannedMove] = []
    stuck: dict[Goal, list[tuple[Movable, Tried]]] = {}


def plan_of(trials: Trials, found: FoundMoves, progress: Progress | None = None) -> None:
    """Extend the plan with single moves and pairs until no goal gets closer. The state keeps the moves.

    Args:
        progress: receives the number of met goals and the total.
    """
    total = len(trials.unmet)
    while goals := [each for each in trials.unmet if each not in found.stuck]:
        goal = goals[0]
        if progress is not None:
            progress(total - len(trials.unmet), total)
        evidence: list[tuple[Movable, Tried]] = []
        step = _best_step(trials, goal, evidence) or _with_room(trials, goal, evidence)
        step = step or _over_even(trials, goal)
        if step is None:
            found.stuck[goal] = evidence
            continue
        found.moves += step
        found.stuck.clear()


def _best_step(trials: Trials, goal: Goal, evidence: list[tuple[Movable, Tried]]) -> list[PlannedMove] | None:
    """Make and return the best single move for a goal; None if no move helps."""
    best: tuple[int, Movable] | None = None
    for most, movable in _candidates(trials, goal)[:_CANDIDATES]:
        if best is not None and best[0] <= -most:
            break
        tried = trials.look(movable)
        gain = change(trials, tried)
        if gain is None or gain >= 0 or tried.after.get(goal, trials.distances[goal]) >= trials.distances[goal]:
            evidence.append((movable, tried))
        elif best is None or gain < best[0]:
            best = gain, movable
    if best is None:
        return None
    return [_made(trials, best[1])]


def change(trials: Trials, tried: Tried) -> int | None:
    """Return the change of the total distance (negative is better); None if the move is not allowed."""
    if tried.row is None or tried.differs or tried.worse:
        return None
    if any(after > trials.distances[each] for each, after in tried.after.items() if not each.wanted):
        return None
    if any(after > trials.distances[each] == 0 for each, after in tried.after.items()):
        return None
    return sum(after - trials.distances[each] for each, after in tried.after.items() if each.wanted)


def _candidates(trials: Trials, goal: Goal) -> list[tuple[int, Movable]]:
    """Return (number of goals that the pod helps, pod) to try for a goal: most goals first, then fullest domains."""
    related = dict.fromkeys(each for pod_class in trials.counted(goal) for each in trials.counting(pod_class))
    unmet = [counts_of(each, trials.scheduler) for each in related if each.wanted and trials.distances[each]]
    giving = [(each, set(each.giving().tolist())) for each in unmet]
    if goal not in related:
        return []  # no counted pod may move
    own, codes = next((each, codes) for each, codes in giving if each.goal is goal)
    matching = dict(zip(own.codes.tolist(), own.matching.tolist(), strict=True))
    names = trials.cluster.nodes.names
    found: list[tuple[tuple[object, ...], int, Movable]] = []
    for movable in _counted(trials, own, codes):
        counting = trials.counting(movable.pod_class)
        helped = sum(each.goal in counting and code_of(each, movable.row) in codes for each, codes in giving)
        crowd = len(trials.at[movable.pod_class][movable.row])
        order = (-helped, -matching[code_of(own, movable.row)], -crowd, names[movable.row], movable.pod_class.index)
        found.append((order, helped, movable))
    return [(helped, movable) for _, helped, movable in sorted(found, key=lambda each: each[0])]


def _counted(trials: Trials, counts: GoalCounts, codes: set[int]) -> Iterator[Movable]:
    """Yield one pod of each class on each node of some domains that a goal counts."""
    for pod_class in trials.counted(counts.goal):
        for row, pods in trials.at[pod_class].items():
            if code_of(counts, row) in codes:
                yield next(iter(pods.values()))


def code_of(counts: GoalCounts, row: int) -> int:
    """Return the code of the domain in which a node counts, or −1."""
    if counts.counted.counts is not None:
        return int(counts.counted.counts.member[row])
    takes_part = counts.counted.takes_part(np.array([row], dtype=np.int64))
    return int(counts.counted.column.codes[row]) if takes_part[0] else -1


def _with_room(trials: Trials, goal: Goal, evidence: list[tuple[Movable, Tried]]) -> list[PlannedMove] | None:
    """Make and return two moves: an obstacle leaves, and a pod takes its room; None if no pair helps."""
    candidates = [movable for _, movable in _candidates(trials, goal)[:3]]
    counts = counts_of(goal, trials.scheduler)
    receiving = set(counts.receiving().tolist())
    rows = {row for row in range(trials.cluster.nodes.size) if code_of(counts, row) in receiving}
    for first in _in_the_way(trials, goal, rows):
        tried = trials.look(first)
        if tried.row is None or tried.row in rows or change(trials, tried) is None:
            continue
        with_first = trials.cluster.savepoint()
        made = trials.evict(first)
        for second in candidates:
            then = trials.look(second)
            gain = change(trials, then)
            if gain is not None and gain < 0:
                break
            evidence.append((second, then))
        else:
            with_first.close()
            trials.take_back(first, made)
            continue
        with_first.close()
        trials.take_back(first, made)
        return [_made(trials, first), _made(trials, second)]
    return None


def _over_even(trials: Trials, goal: Goal) -> list[PlannedMove] | None:
    """Make and return moves that even out counts until one gets closer to the goal; else undo them, return None."""
    point, made = trials.cluster.savepoint(), list[tuple[Movable, Movable]]()
    found = False
    while len(made) < _EVENING and not found:
        evener = [
            (each, tried)
            for _, each in _candidates(trials, goal)
            if (tried := trials.look(each)).evener > 0 and change(trials, tried) == 0
        ]
        if not evener:
            break
        movable = max(evener, key=lambda each: each[1].evener)[0]
        made.append((movable, trials.evict(movable)))
        own: list[tuple[Movable, Tried]] = []
        step = _best_step(trials, goal, own)
        if step is not None:
            assert trials.latest is not None, "it was just made"
            made.append((step[0].movable, trials.latest))
            found = True
    point.close()
    for old, new in reversed(made):
        trials.take_back(old, new)
    return [_made(trials, trials.like(old)) for old, _ in made] if found else None


def _made(trials: Trials, movable: Movable) -> PlannedMove:
    return PlannedMove(movable, trials.evict(movable).row)


def _in_the_way(trials: Trials, goal: Goal, rows: set[int]) -> list[Movable]:
    """Return pods on some nodes that the goal does not count, one of each class and node, largest first."""
    found = [
        next(iter(pods.values()))
        for pod_class, by_row in trials.at.items()
        if goal not in trials.counting(pod_class)
        for row, pods in by_row.items()
        if row in rows
    ]
    nodes = trials.cluster.nodes
    return sorted(
        found, key=lambda each: (-int(each.pod_class.taken(nodes)[0]), nodes.names[each.row], each.pod_class.index)
    )[:_ROOM]
