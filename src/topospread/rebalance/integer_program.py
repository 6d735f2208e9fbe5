"""Compute a lower bound on moves with an integer program (HiGHS) over kinds of pods and cells of nodes.

    x[k, c]    pods of kind k on nodes of cell c afterwards (integer)
    out[k, c]  pods of kind k that leave cell c; the objective minimises their sum
    m[g]       the global minimum of constraint g

A kind is a set of pods with the same counting constraints, requests and allowed nodes. A cell is a set of nodes in the
same domains that allow the same kinds. The program ignores single nodes' limits within a cell, inter-pod affinity, and
moves of pods outside the group. The result is therefore at most the true minimum.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Bools, Floats, Ints
from topospread.cluster.nodes import NON_ZERO_CPU, NON_ZERO_MEMORY

from .goals import Goal, GoalCounts, counts_of, spread_of
from .trials import Movable, Trials

_LARGEST = 40_000
"""Maximum number of variables for the solver."""


@dataclass(frozen=True, slots=True)
class Solved:
    """The solution of the program.

    Attributes:
        at_least: the bound; None if the program is too large, out of time, or new pods differ from old ones.
        impossible: whether no counts satisfy the constraints.
    """

    at_least: int | None
    impossible: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class _Kind:
    """Pods that are equal for the program.

    Attributes:
        on: number of pods by node row, int64[rows].
        may_go: nodes that allow more of them, bool[rows].
    """

    goals: frozenset[int]
    taken: Ints
    may_go: Bools
    on: Ints


@dataclass(slots=True)
class _Program:
    cost: list[float] = field(default_factory=list)
    upper: list[float] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)

    def variable(self, cost: float, upper: float, *, integer: bool) -> int:
        """Add a variable with lower bound 0. Return its index."""
        self.cost.append(cost)
        self.upper.append(upper)
        self.integer.append(integer)
        return len(self.cost) - 1

    def row(self, entries: Sequence[tuple[int, float]], low: float, high: float) -> None:
        """Add the constraint ``low`` ≤ sum ≤ ``high``."""
        self.starts.append(len(self.columns))
        for column, value in entries:
            self.columns.append(column)
            self.values.append(value)
        self.low.append(low)
        self.high.append(high)


def fewest_moves(trials: Trials, goals: Sequence[Goal], room: Floats, seconds: float) -> Solved:
    """Return a lower bound on the moves after which a group of goals holds. ``room`` comes from `bounds.room_of`."""
    begin = time.monotonic()
    counts = [counts_of(each, trials.scheduler) for each in goals]
    kinds = _kinds(trials, counts)
    if kinds is None:
        return Solved(None, False, time.monotonic() - begin)
    cells = _cells(trials, counts, kinds)
    if len(kinds) * (int(cells.max(initial=-1)) + 1) * 2 > _LARGEST:
        return Solved(None, False, time.monotonic() - begin)
    program, x = _program(trials, counts, kinds, cells)
    _add_resources(program, kinds, x, cells, room)
    at_least, impossible = _solve(program, seconds)
    return Solved(at_least, impossible, time.monotonic() - begin)


def _kinds(trials: Trials, counts: Sequence[GoalCounts]) -> list[_Kind] | None:
    """Return the movable pods that a goal counts; None if a new pod would count differently."""
    nodes, size = trials.cluster.nodes, trials.cluster.nodes.size
    place = {each.goal: number for number, each in enumerate(counts)}
    found: dict[tuple[frozenset[int], bytes, bytes], _Kind] = {}
    for pod_class, rows in trials.at.items():
        counting = frozenset(place[each] for each in trials.counting(pod_class) if each in place)
        pods = [each for there in rows.values() for each in there.values()]
        if not counting or not pods:
            continue
        if not _stays_alike(trials, pod_class, pods[0], counting, place):
            return None
        taken, may_go = pod_class.taken(nodes), _may_go(trials, pods[0])
        key = counting, taken.tobytes(), may_go.tobytes()
        kind = found.setdefault(key, _Kind(counting, taken, may_go, np.zeros(size, dtype=np.int64)))
        for each in pods:
            kind.on[each.row] += 1
    return list(found.values())


def _stays_alike(
    trials: Trials, pod_class: PodClass, pod: Movable, counting: frozenset[int], place: dict[Goal, int]
) -> bool:
    new = trials.cluster.shared_class(pod.successor)
    if new is pod_class or new.labels == pod_class.labels:
        return new.request == pod_class.request
    return counting == {place[each] for each in trials.counting(new) if each in place}


def _may_go(trials: Trials, pod: Movable) -> Bools:
    """Return the nodes that node affinity and taints allow for a new pod, bool[rows]."""
    rows = slice(0, trials.cluster.nodes.size)
    spread = spread_of(trials.cluster.shared_class(pod.successor), trials.scheduler)
    alive = trials.cluster.nodes.alive[rows].copy()
    if spread is not None:
        alive &= spread.inclusion(rows, honors_affinity=True, honors_taints=True)
    return alive


def _members(trials: Trials, counts: GoalCounts) -> Ints:
    """Return row → code of the domain in which it counts, or −1, int64[rows]."""
    size = trials.cluster.nodes.size
    taking_part = counts.counted.takes_part(slice(0, size))
    return np.where(taking_part, counts.counted.column.codes[:size], -1).astype(np.int64)


def _cells(trials: Trials, counts: Sequence[GoalCounts], kinds: Sequence[_Kind]) -> Ints:
    """Return row → cell, or −1 for rows without a node, int64[rows]."""
    alive = trials.cluster.nodes.alive[: trials.cluster.nodes.size]
    columns = [_members(trials, each) for each in counts] + [each.may_go.astype(np.int64) for each in kinds]
    cells = np.full(len(alive), -1, dtype=np.int64)
    if columns and alive.any():
        _, numbers = np.unique(np.stack(columns, axis=1)[alive], axis=0, return_inverse=True)
        cells[alive] = numbers.reshape(-1)
    return cells


def _program(
    trials: Trials, counts: Sequence[GoalCounts], kinds: Sequence[_Kind], cells: Ints
) -> tuple[_Program, list[list[int]]]:
    program, number = _Program(), int(cells.max(initial=-1)) + 1
    x: list[list[int]] = []
    on = [np.bincount(cells[cells >= 0], each.on[cells >= 0], minlength=number).astype(np.int64) for each in kinds]
    for kind, there in zip(kinds, on, strict=True):
        open_to = np.bincount(cells[cells >= 0], kind.may_go[cells >= 0], minlength=number) > 0
        total = float(there.sum())
        own = [
            program.variable(0.0, total if open_to[cell] else float(there[cell]), integer=True)
            for cell in range(number)
        ]
        program.row([(each, 1.0) for each in own], total, total)
        for cell in np.flatnonzero(there).tolist():
            out = program.variable(1.0, math.inf, integer=False)
            program.row([(own[cell], 1.0), (out, 1.0)], float(there[cell]), math.inf)
        x.append(own)
    for place, each in enumerate(counts):
        if each.goal.wanted or not trials.distances[each.goal]:
            counted = [(x[k], on[k]) for k, kind in enumerate(kinds) if place in kind.goals]
            _add_goal(program, each, counted, _domains(trials, each, cells))
    return program, x


def _domains(trials: Trials, counts: GoalCounts, cells: Ints) -> dict[int, list[int]]:
    members, found = _members(trials, counts), dict[int, set[int]]()
    for cell, code in set(zip(cells.tolist(), members.tolist(), strict=True)):
        if cell >= 0 and code >= 0:
            found.setdefault(code, set()).add(cell)
    return {code: sorted(each) for code, each in found.items()}


def _add_goal(
    program: _Program, counts: GoalCounts, kinds: Sequence[tuple[Sequence[int], Ints]], domains: dict[int, list[int]]
) -> None:
    """Add rows: each domain has at least the minimum and at most the minimum plus the skew.

    ``kinds`` holds each kind's variables and current counts.
    """
    minimum = program.variable(0.0, 0.0 if counts.minimum_is_zero else math.inf, integer=True)
    for code, matching in zip(counts.codes.tolist(), counts.matching.tolist(), strict=True):
        cells = domains.get(code, [])
        fixed = matching - sum(int(there[cell]) for _, there in kinds for cell in cells)
        entries = [(own[cell], 1.0) for own, _ in kinds for cell in cells]
        program.row([*entries, (minimum, -1.0)], float(-fixed), float(counts.goal.highest - fixed))


def _add_resources(
    program: _Program, kinds: Sequence[_Kind], x: Sequence[Sequence[int]], cells: Ints, room: Floats
) -> None:
    """Add rows: a cell's pods fit into its nodes' resources without all movable pods."""
    of_cells = np.zeros((int(cells.max(initial=-1)) + 1, room.shape[1]))
    np.add.at(of_cells, cells[cells >= 0], np.maximum(room, 0)[cells >= 0])
    for resource in [each for each in range(room.shape[1]) if each not in (NON_ZERO_CPU, NON_ZERO_MEMORY)]:
        taking = [
            (own, float(kind.taken[resource])) for own, kind in zip(x, kinds, strict=True) if kind.taken[resource]
        ]
        largest = max((taken for _, taken in taking), default=1.0)
        for cell in range(len(of_cells)) if taking else ():
            entries = [(own[cell], taken / largest) for own, taken in taking]
            program.row(entries, -math.inf, float(of_cells[cell, resource]) / largest + 1e-6)


def _solve(program: _Program, seconds: float) -> tuple[int | None, bool]:
    import highspy

    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(program.cost), len(program.low)
    lp.col_cost_, lp.col_lower_ = np.array(program.cost), np.zeros(len(program.cost))
    lp.col_upper_ = np.array(program.upper)
    lp.row_lower_, lp.row_upper_ = np.array(program.low), np.array(program.high)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.array([*program.starts, len(program.columns)], dtype=np.int32)
    lp.a_matrix_.index_ = np.array(program.columns, dtype=np.int32)
    lp.a_matrix_.value_ = np.array(program.values)
    kinds = {True: highspy.HighsVarType.kInteger, False: highspy.HighsVarType.kContinuous}
    lp.integrality_ = [kinds[each] for each in program.integer]
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("time_limit", max(seconds, 0.1))
    highs.setOptionValue("threads", 1)
    highs.passModel(lp)
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kInfeasible:
        return None, True
    known = highs.getInfo().mip_dual_bound
    return (max(0, math.ceil(known - 1e-6)) if math.isfinite(known) else None), False
