"""Lower bounds on the number of evictions, for any choice and order.

One bound comes from the counts of single constraints. With the extra ``solver``, an integer program also considers
constraints that share pods, resources, and allowed nodes. Both relax the problem, so neither bound is too high.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.util import find_spec

import msgspec
import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Floats

from .goals import Goal
from .result import BoundBy
from .trials import Trials


class Bound(msgspec.Struct, frozen=True):
    """A lower bound on the number of evictions.

    Attributes:
        at_least: minimum number of evictions, if any plan fixes everything.
    """

    at_least: int
    by: BoundBy
    impossible: bool = False


def has_solver() -> bool:
    """Return whether the extra ``solver`` is installed."""
    return find_spec("highspy") is not None


def bound_by_counts(trials: Trials, related: Iterable[Sequence[Goal]]) -> Bound:
    """Return the bound from the counts alone. ``related`` is the result of `groups`."""
    return Bound(sum(_farthest(trials, goals) for goals in related), "counts")


def _farthest(trials: Trials, goals: Iterable[Goal]) -> int:
    return max(trials.distances[each] for each in goals if each.wanted)


def bound_of(trials: Trials, related: Iterable[Sequence[Goal]], seconds: float) -> Bound:
    """Return the bound for the current state.

    Args:
        related: the result of `groups`.
        seconds: total time limit of the integer programs.
    """
    at_least, solved_any, impossible = 0, False, False
    room = room_of(trials) if has_solver() and seconds > 0 and trials.unmet else None
    for goals in related:
        by_counts = _farthest(trials, goals)
        if room is not None and seconds > 0:
            from .integer_program import fewest_moves

            solved = fewest_moves(trials, goals, room, seconds)
            seconds -= solved.seconds
            impossible |= solved.impossible
            if solved.at_least is not None:
                solved_any = True
                by_counts = max(by_counts, solved.at_least)
        at_least += by_counts
    return Bound(at_least, "solver" if solved_any else "counts", impossible)


def room_of(trials: Trials) -> Floats:
    """Return each node's free resources without all movable pods, float64[rows, resources]."""
    nodes, size = trials.cluster.nodes, trials.cluster.nodes.size
    room = (nodes.allocatable[:size] - nodes.used[:size]).astype(np.float64)
    for pod_class, rows in trials.at.items():
        taken = pod_class.taken(nodes)
        for row, pods in rows.items():
            room[row] += len(pods) * taken
    return room


def groups(trials: Trials) -> list[list[Goal]]:
    """Group goals that count the same pods, directly or through other goals. Each group has a goal to fix.

    Groups share no pods, so their numbers of evictions add up.
    """
    left = dict.fromkeys(trials.unmet)
    found: list[list[Goal]] = []
    while left:
        group = _reached(trials, next(iter(left)))
        found.append(group)
        for each in group:
            left.pop(each, None)
    return found


def _reached(trials: Trials, first: Goal) -> list[Goal]:
    goals, classes, fresh = {first: None}, set[PodClass](), [first]
    while fresh:
        for pod_class in trials.counted(fresh.pop()):
            if pod_class not in classes:
                classes.add(pod_class)
                new = [each for each in trials.counting(pod_class) if each not in goals]
                goals.update(dict.fromkeys(new))
                fresh += new
    return list(goals)
