"""Unschedulable pods in columns, so an event that moves all of them costs time for their groups only.

An event that may help the pods moves them to the active queue. Each is retried, rejected as before
(`cached_rejections`), and becomes unschedulable again. Here that is one step for all of them. It computes
kube-scheduler's queue order, and updates times, attempts and turns as if each pod had been popped. A pod that must be
scheduled or read leaves the batch first, and takes the position in the queue that it would have had.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from msgspec.structs import replace

from topospread.cluster.arrays import Bools, Ints, grown
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo
from topospread.scheduling.requeueing import QueueingStrategy
from topospread.scheduling.unschedulable_pods import Found, Group
from topospread.scheduling.verdict import Verdict

from .active_queue_batch import Rank
from .run import PodOutcome

MANY = 64
"""Fewer pods are moved one by one."""
_WAITS, _ACTIVE, _BACKS_OFF = 0, 1, 2
# Rows of _table, int64[9, capacity]: one column for each pod of the batch, in the order of _infos.
_STATE, _PRIORITY, _TIME, _COUNT, _ATTEMPTS, _TURN, _GROUP, _STAMP, _EXPIRES = range(9)
_LONGEST_SHIFT = 32


@dataclass(frozen=True, slots=True)
class RejectionSource:
    """Functions about rejections. The rejection of one pod holds for all pods of its equivalence class.

    Attributes:
        takes: returns whether the batch may hold a pod.
        refused: returns the current outcome if the pod would be rejected again; ``None`` if it must be scheduled.
        equivalence_class: returns the key of pods that are rejected for the same reason.
        fallen: returns the keys whose rejection changed since the last call; ``None`` if any may have changed.
        again: records the last new outcome of a pod that leaves the batch.
        tried: records the journal stamp of the last attempt of a pod that leaves the batch.
        stamp: returns the journal's current stamp.
    """

    takes: Callable[[QueuedPodInfo], bool]
    refused: Callable[[QueuedPodInfo], PodOutcome | None]
    equivalence_class: Callable[[QueuedPodInfo], Hashable]
    fallen: Callable[[], Collection[Hashable] | None]
    again: Callable[[QueuedPodInfo, PodOutcome], object]
    tried: Callable[[QueuedPodInfo, int], None]
    stamp: Callable[[], int]


class BatchedUnschedulablePods:
    """Unschedulable pods of some groups, updated in bulk. Release a pod (`let_go`) before you change it."""

    def __init__(self, queue: SchedulingQueue, judge: RejectionSource) -> None:
        self._queue = queue
        self._settings = queue.backoff.settings
        self._judge = judge
        self._clear()

    def _clear(self) -> None:
        # By pod index: _infos, the columns of _table, _alive (False for a pod that left), and _outcome (the last new
        # one, which is recorded when the pod leaves). _row: pod key → index.
        # By group number: _size (pods in the batch), _sample, _verdict (the last that all its pods got), _new (an
        # outcome that some have not got yet) and _known (the rejection was checked and holds).
        # _order: indexes of the pods to retry, in queue order; None if it must be computed. due: their number.
        # _last_order: the last computed order, which may have indexes of pods that left.
        self._infos: list[QueuedPodInfo] = []
        self._outcome: list[PodOutcome | None] = []
        self._row: dict[str, int] = {}
        self._table: Ints = np.zeros((9, 64), dtype=np.int64)
        self._alive: Bools = np.zeros(64, dtype=np.bool_)
        self._number: dict[Group, int] = {}
        self._groups: list[Group] = []
        self._size: list[int] = []
        self._sample: list[QueuedPodInfo] = []
        self._verdict: list[Verdict | None] = []
        self._new: dict[int, PodOutcome] = {}
        self._known: Bools = np.zeros(0, dtype=np.bool_)
        self._refused_alike: dict[Hashable, list[int]] = {}
        self._order: Ints | None = None
        self._last_order: Ints = np.zeros(0, dtype=np.int64)
        self.due = 0

    def __contains__(self, key: str) -> bool:
        return key in self._row

    # Pods enter the batch and are moved.

    def moved(self, found: Sequence[Found], members: Mapping[Group, dict[str, QueuedPodInfo]]) -> list[Found]:
        """Move the pods of groups that an event may help; groups without ``members`` have none.

        Return the groups with pods that the caller must move.
        """
        if self._queue.undo.steps is not None or not self._settings.pops_early or not self._settings.maximum:
            self.let_all_go()
            return list(found)
        if not self._row and (not members or sum(len(members.get(group, ())) for group, _ in found) < MANY):
            return list(found)
        left: list[Found] = []
        strategies: dict[int, QueueingStrategy] = {}
        for group, strategy in found:
            pods = members.get(group)
            if pods is None:
                continue
            number = self._number.get(group)
            new = len(pods) - (0 if number is None else self._size[number])
            if new:  # the newest pods are the last of their group
                infos = list(islice(reversed(pods.values()), new))[::-1]
                if all(map(self._judge.takes, infos)):
                    number = self._take_in(group, infos)
                else:
                    left.append((group, strategy))
            if number is not None:
                strategies[number] = strategy
        if strategies:
            self._move(strategies)
        return left

    def _take_in(self, group: Group, infos: Sequence[QueuedPodInfo]) -> int:
        number = self._number.setdefault(group, len(self._groups))
        if number == len(self._groups):
            self._groups.append(group)
            self._size.append(0)
            self._sample.append(infos[0])
            self._verdict.append(None)
            self._known = grown(self._known, len(self._groups))
            self._refused_alike.setdefault(self._judge.equivalence_class(infos[0]), []).append(number)
        self._verdict[number], self._known[number] = None, False  # the new pods may have been rejected earlier
        self._size[number] += len(infos)
        begin = len(self._infos)
        self._infos += infos
        self._outcome += [None] * len(infos)
        if len(self._infos) > len(self._alive):
            room = 2 * len(self._infos)
            self._table, self._alive = grown(self._table.T, room).T.copy(), grown(self._alive, room)
        for row, info in enumerate(infos, begin):
            self._row[info.key] = row
            counts = (info.timestamp, info.unschedulable_count, info.attempts, info.turn)
            self._table[:, row] = (_WAITS, info.priority, *counts, number, -1, 0)
        self._alive[begin : len(self._infos)] = True
        return number

    def _move(self, strategies: Mapping[int, QueueingStrategy]) -> None:
        """Move pods by the strategies of their groups, like `SchedulingQueue`."""
        table = self._table[:, : len(self._infos)]  # a row of it first: two indexes at once take numpy's slow path
        by_group = np.zeros(len(self._groups), dtype=np.int64)
        by_group[list(strategies)] = list(strategies.values())
        by_row = by_group[table[_GROUP]]
        waiting = self._alive[: len(self._infos)] & (table[_STATE] == _WAITS)
        rows = np.flatnonzero(waiting & (by_row > QueueingStrategy.SKIP))
        waits_first = by_row[rows] == QueueingStrategy.AFTER_BACKOFF
        shift = np.minimum(table[_COUNT][rows] - 1, _LONGEST_SHIFT)
        waits = np.minimum(np.int64(self._settings.initial) << shift, self._settings.maximum)
        expires = _aligned(table[_TIME][rows] + waits)
        backs_off = (expires >= self._this_second()) & waits_first
        table[_EXPIRES][rows] = expires
        table[_STATE][rows] = np.where(backs_off, _BACKS_OFF, _ACTIVE)
        self.due += len(rows)
        self._order = None

    def flush_backoff_completed(self) -> None:
        """Activate the pods whose backoff is over."""
        table = self._table
        table[_STATE, (table[_STATE] == _BACKS_OFF) & (table[_EXPIRES] < self._this_second())] = _ACTIVE
        self._order = None

    def _this_second(self) -> int:
        now = self._queue.clock()
        return now - now % SECOND

    # Pods are retried.

    def first(self) -> Rank | None:
        """Return the rank of the first pod to retry; ``None`` without a pod."""
        order = self._ordered()
        return self._rank(order.item(0)) if len(order) else None

    def pass_over(self, before: Rank | None) -> int:
        """Record rejections in queue order, up to a pod that must be scheduled, which leaves the batch. Return their
        number.

        ``before``: rank of the first pod in the queue itself; pods after it are not retried yet.
        """
        if self._queue.undo.steps is not None:
            self.let_all_go()
        order = self._ordered()
        if before is not None and len(order) and before < self._rank(order.item(0)):
            return 0
        end = len(order) if before is None else bisect_left(order, before, key=self._rank)
        groups = self._table[_GROUP][order[:end]]
        falls = self._falls(groups)
        passed = order[:falls]
        self._tell(passed, groups[:falls])
        self._refuse(passed)
        self._order = order[falls:]
        if falls < end:
            self.let_go(self._infos[order.item(falls)].key)
        return falls

    def _falls(self, groups: Ints) -> int:
        """Return the index of the first pod that must be scheduled; the number of pods if none must.

        ``groups``: each pod's group, in queue order.
        """
        fallen = self._judge.fallen()
        if fallen is None:
            self._known[:] = False
        else:
            for equivalence_class in fallen:
                self._known[self._refused_alike.get(equivalence_class, [])] = False
        unknown = np.flatnonzero(~self._known[groups])
        for place, number in zip(unknown.tolist(), groups[unknown].tolist(), strict=True):
            if not self._known[number] and not self._stands(number):
                return int(place)
        return len(groups)

    def _stands(self, number: int) -> bool:
        """Return whether the rejection of a group still holds. It is assumed to hold until `fallen` reports a
        change.
        """
        last = self._judge.refused(self._sample[number])
        # A pod keeps unjudged parts of earlier outcomes, so it needs every outcome, not only its last in the batch.
        if last is None or last.verdict is None or last.unjudged:
            return False
        if last.verdict.rejectors != self._groups[number].unschedulable:
            return False
        self._known[number] = True
        if last.verdict is not self._verdict[number]:
            self._new[number] = replace(last)  # the cached outcome changes with the cluster
        return True

    def _tell(self, passed: Ints, groups: Ints) -> None:
        """Record the new verdicts of rejected pods."""
        if not self._new or not len(passed):
            return
        is_new = np.zeros(len(self._groups), dtype=np.bool_)
        is_new[list(self._new)] = True
        of_new = np.flatnonzero(is_new[groups])
        numbers = groups[of_new].tolist()
        for row, number in zip(passed[of_new].tolist(), numbers, strict=True):
            self._outcome[row] = self._new[number]
        for number, told in Counter(numbers).items():
            if told == self._size[number]:
                self._verdict[number] = self._new.pop(number).verdict

    def _refuse(self, rows: Ints) -> None:
        """Record a rejection for each pod, in order, like `SchedulingQueue.record_rejection`."""
        queue, table, number = self._queue, self._table, len(rows)
        now, turn = queue.clock(), queue.unschedulable.turns
        queue.unschedulable.turns += number
        queue.cycle += number
        count = np.arange(1, number + 1)
        table[_TIME][rows], table[_TURN][rows] = now + count, turn + count
        table[_COUNT][rows] += 1
        table[_ATTEMPTS][rows] += 1
        table[_STAMP][rows], table[_STATE][rows] = self._judge.stamp(), _WAITS
        self.due -= number

    def _ordered(self) -> Ints:
        """Return the columns of pods to retry, in queue order. Release all pods if the order depends on the queue's
        heaps.
        """
        if self._order is None:
            table = self._table
            due = self._alive & (table[_STATE] != _WAITS)
            # Most pods are due in the same order as last time, and nearly sorted rows sort several times faster.
            again = self._last_order[due[self._last_order]]
            due[again] = False
            rows = np.concatenate((again, np.flatnonzero(due)))
            state, expires = table[_STATE][rows], table[_EXPIRES][rows]
            expires[state == _ACTIVE] = 0
            keys = (table[_TIME][rows], -table[_PRIORITY][rows], expires, state)
            places = np.lexsort(keys)
            tied = np.flatnonzero(np.diff(keys[0][places]) == 0)
            if len(tied) and np.all([each[places[tied]] == each[places[tied + 1]] for each in keys], axis=0).any():
                self.let_all_go()
                return np.zeros(0, dtype=np.int64)
            self._order = self._last_order = rows[places]
        return self._order

    def _rank(self, row: int) -> Rank:
        says: list[int] = self._table[:, row].tolist()
        wait = [says[_EXPIRES]] if says[_STATE] == _BACKS_OFF else []
        return (says[_STATE], *wait, -says[_PRIORITY], says[_TIME])

    # Pods leave the batch.

    def forget(self, key: str) -> None:
        """Write the pod's data back to its `QueuedPodInfo`, and drop it from the batch."""
        row = self._row.pop(key)
        self._alive[row] = False
        info, says = self._infos[row], self._table[:, row].tolist()
        info.timestamp, info.unschedulable_count = says[_TIME], says[_COUNT]
        info.attempts, info.turn = says[_ATTEMPTS], says[_TURN]
        info.backoff_expiration = None
        self._size[says[_GROUP]] -= 1
        last, self._outcome[row] = self._outcome[row], None
        if last is not None:
            self._judge.again(info, last)
        if says[_STAMP] >= 0:
            self._judge.tried(info, says[_STAMP])
        if says[_STATE] != _WAITS:
            self.due -= 1
            if self._order is not None:
                self._order = self._order[self._order != row]

    def let_go(self, key: str) -> None:
        """Drop a pod from the batch and return it to its part of the queue."""
        row = self._row[key]
        info, state = self._infos[row], int(self._table[_STATE, row])
        self.forget(key)
        if state == _ACTIVE:
            self._queue.unschedulable.delete(key)
            self._queue.active.put(key, info)
        elif state == _BACKS_OFF:
            self._queue.unschedulable.delete(key)
            self._queue.backoff.add(info)

    def let_all_go(self) -> None:
        """Apply `let_go` to all pods."""
        if self._row:
            for key in list(self._row):
                self.let_go(key)
            self._clear()


def _aligned(times: Ints) -> Ints:
    """Return times in whole seconds, like `BackoffQueue` if pods are popped early."""
    return times - times % SECOND
