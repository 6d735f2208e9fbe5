"""Unschedulable pods in groups: every event has the same effect on all pods of a group.

kube-scheduler calls the hints of each pod for each event (pkg/scheduler/backend/queue/unschedulable_entities.go).
Here a hint runs once for each group, and its answer is cached for equal events. An event thus costs time only for the
pods that it moves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Protocol

import msgspec

from topospread.api.pod import Pod
from topospread.cluster.undo import UndoLog

from .queued_pod_info import QueuedPodInfo
from .requeueing import QueueingStrategy

_FEW = 64
_TURN = attrgetter("turn")


def _turn_of(entry: tuple[Hashable, QueuedPodInfo]) -> int:
    return entry[1].turn


class Group(msgspec.Struct, frozen=True, cache_hash=True):
    """Identity of a group: pods of one kind (`QueuedPodInfo.kind`) that the same plugins rejected.

    A pod of unknown kind is alone in its group: ``shared`` is False and ``kind`` is the pod's key.
    """

    kind: Hashable
    shared: bool
    unschedulable: frozenset[str]
    pending: frozenset[str]
    gating: str


def group_of(info: QueuedPodInfo) -> Group:
    """Return the group of a pod."""
    shared = info.kind is not None
    kind = info.kind if shared else info.key
    return Group(kind, shared, info.unschedulable_plugins, info.pending_plugins, info.gating_plugin)


Found = tuple[Group, QueueingStrategy]
"""(group that an event may help, strategy of the event for its pods)."""


class KeepsPods(Protocol):
    """A store that updates the pods of some groups in bulk (`topospread.simulation.batched_unschedulable_pods`)."""

    def __contains__(self, key: str) -> bool: ...

    def moved(self, found: Sequence[Found], members: Mapping[Group, dict[str, QueuedPodInfo]]) -> list[Found]:
        """Move the store's pods of groups that an event may help.

        ``members``: group → its pods by key; a group without pods is missing. Return the entries of ``found`` whose
        group has pods that the caller must move.
        """

    def forget(self, key: str) -> None:
        """Write a pod's current data back to it, and drop it from the store."""

    def let_go(self, key: str) -> None:
        """Drop a pod from the store, and put it into the part of the queue that it now belongs to."""

    def let_all_go(self) -> None:
        """Apply `let_go` to all pods."""


Asking = Callable[[Group, Pod], QueueingStrategy]
"""Function of (group, one of its pods) that returns the strategy of an event for the group."""


class _Answers:
    """Cached answers to equal events.

    ``helped`` has the groups that the events may help among the first ``asked`` groups of
    `UnschedulablePods._numbered`. Later groups have no cached answer yet.
    """

    __slots__ = ("asked", "helped")

    def __init__(self) -> None:
        self.asked = 0
        self.helped: list[tuple[Group, QueueingStrategy]] = []


class UnschedulablePods:
    """Unschedulable pods by key and by group.

    Attributes:
        turns: number of pods added so far, which is the last pod's ``turn``.
        batch: store of the pods of some groups; ``None`` if there is none.

    Args:
        undo: undo log; it restores each pod's turn.
    """

    def __init__(self, undo: UndoLog) -> None:
        self._undo = undo
        # Each pod is in `_infos`, its group in `_group`, and the pod in `_members` of a shared group or in `_single`.
        # `_numbered` and `_shared` (group → a pod of it, for hints) also have shared groups that lost all their pods.
        self._infos: dict[str, QueuedPodInfo] = {}
        self._group: dict[str, Group] = {}
        self._single: dict[Group, QueuedPodInfo] = {}
        self._members: dict[Group, dict[str, QueuedPodInfo]] = {}
        self._shared: dict[Group, Pod] = {}
        self._numbered: list[Group] = []
        self._answers: dict[Hashable, _Answers] = {}
        self.turns = 0
        self.batch: KeepsPods | None = None

    def __len__(self) -> int:
        return len(self._infos)

    def __contains__(self, key: str) -> bool:
        return key in self._infos

    @property
    def infos(self) -> list[QueuedPodInfo]:
        """All pods, in the order in which they became unschedulable."""
        if self.batch is not None:
            self.batch.let_all_go()
        return sorted(self._infos.values(), key=_TURN)

    @property
    def groups(self) -> int:
        """Number of known groups, including groups without pods."""
        return len(self._numbered)

    def get(self, key: str) -> QueuedPodInfo | None:
        """Return the pod of a key."""
        if self.batch is not None and key in self.batch:
            self.batch.let_go(key)
            if key in self._infos:  # invariant: in `_members`, pods in the batch precede the other pods
                members = self._members[self._group[key]]
                members[key] = members.pop(key)
        return self._infos.get(key)

    def put(self, info: QueuedPodInfo) -> None:
        """Add a pod, or move a changed pod to its new group."""
        if info.key in self._infos:
            self.delete(info.key)
        group = group_of(info)
        if group.shared and group not in self._shared:
            self._number(group, info.pod)
        self.turns += 1
        self._insert(info, group, self.turns)
        if self._undo.steps is not None:
            self._undo.record(self._take, info.key)

    def delete(self, key: str) -> QueuedPodInfo | None:
        """Remove and return the pod of a key."""
        info = self._infos.get(key)
        if info is None:
            return None
        if self.batch is not None and key in self.batch:
            self.batch.forget(key)
        if self._undo.steps is not None:
            self._undo.record(self._insert, info, self._group[key], info.turn)
        return self._take(key)

    def _insert(self, info: QueuedPodInfo, group: Group, turn: int) -> None:
        info.turn = turn
        self._infos[info.key] = info
        self._group[info.key] = group
        if group.shared:
            self._members.setdefault(group, {})[info.key] = info
        else:
            self._single[group] = info

    def _take(self, key: str) -> QueuedPodInfo:
        info = self._infos.pop(key)
        group = self._group.pop(key)
        if not group.shared:
            del self._single[group]
            return info
        members = self._members[group]
        del members[key]
        if not members:
            del self._members[group]
        return info

    def _number(self, group: Group, pod: Pod) -> None:
        """Add a new group with one of its pods. Drop groups without pods if they are the majority."""
        if len(self._numbered) > 2 * len(self._members) + _FEW and self._undo.steps is None:
            self._numbered = [each for each in self._numbered if each in self._members]
            self._shared = {each: self._shared[each] for each in self._numbered}
            self._answers.clear()
        self._shared[group] = pod
        self._numbered.append(group)
        self._undo.record(self._forget_group, group)

    def _forget_group(self, group: Group) -> None:
        del self._shared[group]
        self._numbered.pop()
        self._answers.clear()

    def forget_answers(self) -> None:
        """Drop the cached answers after a change of other objects that hints read."""
        self._answers.clear()
        self._undo.record(self._answers.clear)

    def helped(self, ask: Asking, event: Hashable) -> Iterator[tuple[QueueingStrategy, list[QueuedPodInfo]]]:
        """Yield the pods that an event may help, by group.

        ``event``: key that is equal for events for which every hint gives equal answers; ``None`` if unknown.
        """
        if event is None:
            asked = ((each, ask(each, self._shared[each])) for each in self._numbered if each in self._members)
            found: Sequence[Found] = [each for each in asked if each[1]]
        else:
            found = self._answered(ask, event)
        if self.batch is not None:
            found = self.batch.moved(found, self._members)
        alone = ((group, ask(group, info.pod)) for group, info in sorted(self._single.items(), key=_turn_of))
        for group, strategy in (*found, *(each for each in alone if each[1])):
            pods = self._members.get(group, {}).values() if group.shared else [self._single[group]]
            if pods:
                yield strategy, sorted((each for each in pods if not self._is_kept(each)), key=_TURN)

    def _is_kept(self, info: QueuedPodInfo) -> bool:
        return self.batch is not None and info.key in self.batch

    def _answered(self, ask: Asking, event: Hashable) -> list[tuple[Group, QueueingStrategy]]:
        answers = self._answers.get(event)
        if answers is None:
            answers = self._answers[event] = _Answers()
        for group in self._numbered[answers.asked :]:
            strategy = ask(group, self._shared[group])
            if strategy:
                answers.helped.append((group, strategy))
        answers.asked = len(self._numbered)
        return answers.helped
