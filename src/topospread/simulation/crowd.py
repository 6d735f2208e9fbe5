"""Pods that wait and are refused again and again, in columns: an event that moves all of them costs what groups do.

Every event that may help them moves them, they are tried in their order, refused as before and wait again
(`standing_refusals`). That is one step for all of them here: the order in which kube-scheduler's queue would give them
is worked out, and times, attempts and turns are written down as if each had been popped. A pod that has to be tried, or
that somebody looks at, is let go: it stands in the queue then where it would have stood all the time.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from topospread.cluster.arrays import Bools, Ints, grown
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo
from topospread.scheduling.requeueing import QueueingStrategy
from topospread.scheduling.unschedulable_pods import Found, Group
from topospread.scheduling.verdict import Verdict

from .turns import Rank

MANY = 64
"""Fewer pods that wait are moved one by one."""
_WAITS, _ACTIVE, _BACKS_OFF = 0, 1, 2
_STATE, _PRIORITY, _TIME, _COUNT, _ATTEMPTS, _TURN, _GROUP, _STAMP, _EXPIRES = range(9)
_LONGEST_SHIFT = 32


@dataclass(frozen=True, slots=True)
class Judge:
    """The source of verdicts for many pods; one pod's refusal stands for all.

    Attributes:
        takes: whether a pod may be kept in a crowd at all.
        refused: the verdict on a pod that would be refused as the last of its class; ``None``: it has to be tried.
        again: note that a pod was refused so.
        tried: note as of which stamp of the journal a pod was tried last, for one that is let go.
        stamp: the journal's now.
    """

    takes: Callable[[QueuedPodInfo], bool]
    refused: Callable[[QueuedPodInfo], Verdict | None]
    again: Callable[[QueuedPodInfo], object]
    tried: Callable[[QueuedPodInfo, int], None]
    stamp: Callable[[], int]


class Crowd:
    """Pods of some groups of a queue's unschedulable ones; nobody changes them without their being let go."""

    def __init__(self, queue: SchedulingQueue, judge: Judge) -> None:
        self._queue = queue
        self._settings = queue.backoff.settings
        self._judge = judge
        self._clear()

    def _clear(self) -> None:
        self._infos: list[QueuedPodInfo] = []
        self._row: dict[str, int] = {}
        self._table: Ints = np.zeros((64, 9), dtype=np.int64)
        self._alive: Bools = np.zeros(64, dtype=np.bool_)
        self._number: dict[Group, int] = {}
        self._groups: list[Group] = []
        self._size: list[int] = []
        self._sample: list[QueuedPodInfo] = []
        self._verdict: list[Verdict | None] = []
        self._new: dict[int, Verdict] = {}
        self._known: Bools = np.zeros(0, dtype=np.bool_)
        self._known_at = -1
        self._order: Ints | None = None
        self.due = 0

    def __contains__(self, key: str) -> bool:
        return key in self._row

    # Pods come into the crowd, and are moved.

    def moved(self, found: Sequence[Found], members: Mapping[Group, dict[str, QueuedPodInfo]]) -> list[Found]:
        """An event moves pods of some groups; those of which pods are left that are to be moved one by one."""
        waiting = sum(len(members[group]) for group, _ in found)
        if self._queue.undo.steps is not None or not self._settings.pops_early or not self._settings.maximum:
            self.let_all_go()
            return list(found)
        if not self._row and waiting < MANY:
            return list(found)
        left: list[Found] = []
        strategies = [0] * len(self._groups)
        for group, strategy in found:
            number, pods = self._number.get(group), members[group]
            new = len(pods) - (0 if number is None else self._size[number])
            if new:  # whoever came last is last
                infos = list(islice(reversed(pods.values()), new))[::-1]
                if all(map(self._judge.takes, infos)):
                    number = self._take_in(group, infos)
                else:
                    left.append((group, strategy))
            if number is not None:
                strategies.extend([0] * (number + 1 - len(strategies)))
                strategies[number] = strategy
        self._move(np.array(strategies, dtype=np.int64))
        return left

    def _take_in(self, group: Group, infos: Sequence[QueuedPodInfo]) -> int:
        number = self._number.setdefault(group, len(self._groups))
        if number == len(self._groups):
            self._groups.append(group)
            self._size.append(0)
            self._sample.append(infos[0])
            self._verdict.append(None)
            self._known = self._known[:0]
        self._verdict[number] = None  # each may have been refused at another time
        self._size[number] += len(infos)
        begin = len(self._infos)
        self._infos += infos
        room = 2 * len(self._infos) if len(self._infos) > len(self._alive) else 0
        self._table, self._alive = grown(self._table, room), grown(self._alive, room)
        for row, info in enumerate(infos, begin):
            self._row[info.key] = row
            counts = (info.timestamp, info.unschedulable_count, info.attempts, info.turn)
            self._table[row] = (_WAITS, info.priority, *counts, number, -1, 0)
        self._alive[begin : len(self._infos)] = True
        return number

    def _move(self, strategies: Ints) -> None:
        """To where `SchedulingQueue` would put each, by the strategies of their groups."""
        table = self._table[: len(self._infos)]
        if not len(strategies) or not len(table):
            return
        strategy = strategies[table[:, _GROUP]]
        rows = np.flatnonzero(self._alive[: len(table)] & (table[:, _STATE] == _WAITS) & (strategy > 0))
        shift = np.minimum(table[rows, _COUNT] - 1, _LONGEST_SHIFT)
        waits = np.minimum(np.int64(self._settings.initial) << shift, self._settings.maximum)
        expires = _aligned(table[rows, _TIME] + waits)
        backs_off = (expires >= self._this_second()) & (strategy[rows] == QueueingStrategy.AFTER_BACKOFF)
        table[rows, _EXPIRES] = expires
        table[rows, _STATE] = np.where(backs_off, _BACKS_OFF, _ACTIVE)
        self.due += len(rows)
        self._order = None

    def flush_backoff_completed(self) -> None:
        """Activate the pods whose backoff has ended."""
        table = self._table[: len(self._infos)]
        over = self._alive[: len(table)] & (table[:, _STATE] == _BACKS_OFF) & (table[:, _EXPIRES] < self._this_second())
        table[over, _STATE] = _ACTIVE
        self._order = None

    def _this_second(self) -> int:
        now = self._queue.clock()
        return now - now % SECOND

    # Pods are tried.

    def first(self) -> Rank | None:
        """The rank of the pod that is to be tried first; ``None`` where there is none."""
        order = self._ordered()
        return self._rank(order.item(0)) if len(order) else None

    def pass_over(self, before: Rank | None) -> int:
        """Let pods be refused again, up to one that has to be tried, which is let go; how many were.

        ``before``: the rank of the first pod in the queue itself: those that come after it are left.
        """
        if self._queue.undo.steps is not None:
            self.let_all_go()
        order = self._ordered()
        end = len(order) if before is None else bisect_left(order, before, key=self._rank)
        groups = self._table[order[:end], _GROUP]
        falls = np.flatnonzero(~self._stand(groups)[groups]) if end else np.zeros(0, dtype=np.int64)
        passed = order[: falls.item(0) if len(falls) else end]
        self._tell(passed, groups[: len(passed)])
        self._refuse(passed)
        self._order = order[len(passed) :]
        if len(falls):
            self.let_go(self._infos[order.item(len(passed))].key)
        return len(passed)

    def _stand(self, groups: Ints) -> Bools:
        """By number, of which groups the refusal stands; of those that are not asked about it is not known."""
        stamp = self._judge.stamp()
        if stamp != self._known_at or not len(self._known):
            self._known, self._known_at = np.zeros(len(self._groups), dtype=np.bool_), stamp
        self._known = grown(self._known, len(self._groups))
        there = np.bincount(groups, minlength=len(self._groups)) > 0
        for number in np.flatnonzero(there & ~self._known).tolist():
            verdict = self._judge.refused(self._sample[number])
            if verdict is not None and verdict.rejectors == self._groups[number].unschedulable:
                self._known[number] = True
                if verdict is not self._verdict[number]:
                    self._new[number] = verdict
        return self._known

    def _tell(self, passed: Ints, groups: Ints) -> None:
        """Report a refusal for each pod where it is not the one already reported for the group."""
        for number, verdict in list(self._new.items()):
            rows = passed[groups == number]
            for row in rows.tolist():
                self._judge.again(self._infos[row])
            if len(rows) == self._size[number]:
                self._verdict[number] = verdict
                del self._new[number]

    def _refuse(self, rows: Ints) -> None:
        """Record for each pod, in order, what `SchedulingQueue.tried_in_vain` records."""
        queue, table, number = self._queue, self._table, len(rows)
        now, turn = queue.clock(), queue.unschedulable.turns
        queue.unschedulable.turns += number
        queue.cycle += number
        count = np.arange(1, number + 1)
        table[rows, _TIME], table[rows, _TURN] = now + count, turn + count
        table[rows, _COUNT] += 1
        table[rows, _ATTEMPTS] += 1
        table[rows, _STAMP], table[rows, _STATE] = self._judge.stamp(), _WAITS
        self.due -= number

    def _ordered(self) -> Ints:
        """Rows of those that are to be tried, in the queue's order; where that hangs on its heaps, all are let go."""
        if self._order is None:
            rows = np.flatnonzero(self._alive & (self._table[:, _STATE] != _WAITS))
            state, expires = self._table[rows, _STATE], self._table[rows, _EXPIRES]
            expires[state == _ACTIVE] = 0
            keys = (self._table[rows, _TIME], -self._table[rows, _PRIORITY], expires, state)
            places = np.lexsort(keys)
            if len(rows) > 1 and np.all([np.diff(each[places]) == 0 for each in keys], axis=0).any():
                self.let_all_go()
                return np.zeros(0, dtype=np.int64)
            self._order = rows[places]
        return self._order

    def _rank(self, row: int) -> Rank:
        says: list[int] = self._table[row].tolist()
        wait = [says[_EXPIRES]] if says[_STATE] == _BACKS_OFF else []
        return (says[_STATE], *wait, -says[_PRIORITY], says[_TIME])

    # Pods leave.

    def forget(self, key: str) -> None:
        """A pod is to be taken out of the queue, or looked at: it says of itself what is so, and is no longer here."""
        row = self._row.pop(key)
        self._alive[row] = False
        info, says = self._infos[row], self._table[row].tolist()
        info.timestamp, info.unschedulable_count = says[_TIME], says[_COUNT]
        info.attempts, info.turn = says[_ATTEMPTS], says[_TURN]
        info.backoff_expiration = None
        self._size[says[_GROUP]] -= 1
        if says[_STAMP] >= 0:
            self._judge.tried(info, says[_STAMP])
        if says[_STATE] != _WAITS:
            self.due -= 1
            if self._order is not None:
                self._order = self._order[self._order != row]

    def let_go(self, key: str) -> None:
        """A pod is on its own again: where it was moved to, or where it waits."""
        row = self._row[key]
        info, state = self._infos[row], int(self._table[row, _STATE])
        self.forget(key)
        if state == _ACTIVE:
            self._queue.unschedulable.delete(key)
            self._queue.active.put(key, info)
        elif state == _BACKS_OFF:
            self._queue.unschedulable.delete(key)
            self._queue.backoff.add(info)

    def let_all_go(self) -> None:
        """All are on their own again."""
        if self._row:
            for key in list(self._row):
                self.let_go(key)
            self._clear()


def _aligned(times: Ints) -> Ints:
    """Whole seconds, as `BackoffQueue` counts them where pods are popped early."""
    return times - times % SECOND
