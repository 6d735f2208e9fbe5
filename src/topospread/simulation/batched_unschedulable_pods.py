"""Unschedulable pods as columns of an array, retried and rejected in bulk.

An event that may help the pods moves them to the active queue. Each is retried, rejected as before
(`cached_rejections`), and becomes unschedulable again. This module does that with array operations: it computes
kube-scheduler's queue order, and updates times, attempts and turns as if each pod had been popped. A pod that must be
scheduled or read leaves the batch first, and gets the position in the queue that it would have had.
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
"""Minimum number of pods that an event must move to start a batch."""
_WAITS, _ACTIVE, _BACKS_OFF = 0, 1, 2
# Rows of _table, int64[9, capacity]; column i is for pod _infos[i]. In order: _WAITS, _ACTIVE or _BACKS_OFF; priority;
# timestamp in ns; unschedulable_count; attempts; turn; group number; journal stamp of the last attempt in the batch, −1
# without one; end of backoff in ns, valid unless the state is _WAITS.
_STATE, _PRIORITY, _TIME, _COUNT, _ATTEMPTS, _TURN, _GROUP, _STAMP, _EXPIRES = range(9)
_LONGEST_SHIFT = 32


@dataclass(frozen=True, slots=True)
class RejectionSource:
    """Functions that judge pods of the batch. A rejection of one pod holds for all pods of its equivalence class.

    Attributes:
        takes: returns whether the batch may hold a pod.
        refused: returns the outcome of one more attempt if the pod is rejected again; ``None`` if it must be scheduled.
        equivalence_class: returns the key of the pod's equivalence class.
        fallen: returns the keys of classes whose rejection changed since the last call; ``None`` if any may have.
        again: records the last outcome that a pod got in the batch, when it leaves.
        tried: records the journal stamp of the last attempt that a pod had in the batch, when it leaves.
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
    """Unschedulable pods of some groups, updated in bulk.

    While a pod is in the batch, its `QueuedPodInfo` is outdated. Release the pod (`let_go`) before you read or change
    it. For the queue, all pods of the batch are unschedulable, even those to retry.
    """

    def __init__(self, queue: SchedulingQueue, judge: RejectionSource) -> None:
        self._queue = queue
        self._settings = queue.backoff.settings
        self._judge = judge
        self._clear()

    def _clear(self) -> None:
        # Per pod index: _infos, the columns of _table, _alive (False for unused columns and pods that left),
        # and
        # _outcome (the newest outcome that `again` must record; None without one). _row: pod key → index, only of
        # pods in the batch. Indexes are not reused until `_clear`.
        # Per group number: _groups, _size (its pods in the batch), _sample (its first pod), _verdict (the last verdict
        # that all its pods got), _new (an outcome that some of its pods have not got yet) and _known (True if its
        # rejection was checked and `fallen` has not reported a change since). _number: group → number.
        # _refused_alike: equivalence class → numbers of its groups.
        # _order: int64[due], indexes of pods that are not in state _WAITS, in queue order; None if unknown.
        # _last_order: the last computed order, which may have indexes of pods that left since.
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

    # Events: pods enter the batch and are moved.

    def moved(self, found: Sequence[Found], members: Mapping[Group, dict[str, QueuedPodInfo]]) -> list[Found]:
        """Move the pods of groups that an event may help; see `KeepsPods.moved`."""
        # Invariant: in ``members``, a group's pods in the batch precede its other pods.
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
            if new:
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
        self._verdict[number], self._known[number] = None, False  # the new pods may have got an earlier verdict
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
        table = self._table[:, : len(self._infos)]  # index as table[a][b], because table[a, b] is slow in NumPy
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

    # Attempts: pods are retried and rejected.

    def first(self) -> Rank | None:
        """Return the rank of the first pod to retry; ``None`` without a pod."""
        order = self._ordered()
        return self._rank(order.item(0)) if len(order) else None

    def pass_over(self, before: Rank | None) -> int:
        """Record rejections in queue order until a pod must be scheduled; release that pod.

        ``before``: rank of the first pod outside the batch; only pods of the batch that precede it are retried. Return
        the number of rejections.
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
        """Return the index in ``groups`` of the first pod that must be scheduled; ``len(groups)`` if all are rejected.

        ``groups``: group number of each pod to retry, in queue order.
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
        """Check a group's rejection; if it still holds, set `_known`. Return whether it holds."""
        last = self._judge.refused(self._sample[number])
        # The batch records only a pod's last outcome, but unjudged parts accumulate over all its outcomes.
        if last is None or last.verdict is None or last.unjudged:
            return False
        if last.verdict.rejectors != self._groups[number].unschedulable:
            return False
        self._known[number] = True
        if last.verdict is not self._verdict[number]:
            self._new[number] = replace(last)  # the cached outcome changes with the cluster
        return True

    def _tell(self, passed: Ints, groups: Ints) -> None:
        """Set new outcomes of rejected pods. ``passed``, ``groups``: their indexes and group numbers, int64[pods]."""
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
        """Record a rejection for each pod index, in order, like `SchedulingQueue.record_rejection`."""
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
        """Return `_order`, computed if unknown. If two pods have equal sort keys, release all pods, because the order
        then depends on the queue's heaps.
        """
        if self._order is None:
            table = self._table
            due = self._alive & (table[_STATE] != _WAITS)
            # Start from the last order: most pods keep it, and NumPy sorts nearly sorted keys several times faster.
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
        """Drop a pod from the batch, and put it into the part of the queue of its state."""
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
        """Put all pods of the batch back into the queue (`let_go`)."""
        if self._row:
            for key in list(self._row):
                self.let_go(key)
            self._clear()


def _aligned(times: Ints) -> Ints:
    """Return times in whole seconds, like `BackoffQueue` if pods are popped early."""
    return times - times % SECOND
