"""Pods that were tried and wait for an event that may help them, in groups that every event treats alike.

kube-scheduler asks each pod's hints on each event (pkg/scheduler/backend/queue/unschedulable_entities.go). Here pods of
one kind that the same plugins rejected are asked about once, and of events of one kind the first answer is kept, so
that an event costs what it moves, not what waits.
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


class Group(msgspec.Struct, frozen=True, cache_hash=True):
    """Pods that are alike to every hint and that the same plugins rejected; ``kind``: a pod's key where it has none."""

    kind: Hashable
    shared: bool
    unschedulable: frozenset[str]
    pending: frozenset[str]
    gating: str


def group_of(info: QueuedPodInfo) -> Group:
    """The group a pod belongs to."""
    shared = info.kind is not None
    kind = info.kind if shared else info.key
    return Group(kind, shared, info.unschedulable_plugins, info.pending_plugins, info.gating_plugin)


Found = tuple[Group, QueueingStrategy]
"""A group that an event may help."""


class KeepsPods(Protocol):
    """An owner of pods' own data for some groups, for a while (`topospread.simulation.batched_unschedulable_pods`)."""

    def __contains__(self, key: str) -> bool: ...

    def moved(self, found: Sequence[Found], members: Mapping[Group, dict[str, QueuedPodInfo]]) -> list[Found]:
        """An event moves pods of some groups; those of which pods are left that are to be moved one by one."""

    def forget(self, key: str) -> None:
        """A pod is to be taken out, or looked at: it says of itself what is so, and is no longer kept."""

    def let_go(self, key: str) -> None:
        """A pod stands where it would have stood all the time."""

    def let_all_go(self) -> None:
        """All do."""


Asking = Callable[[Group, Pod], QueueingStrategy]
"""What an event means for a group, by one of its pods."""


class _Answers:
    """The meaning of events of one kind for the groups up to the one numbered ``asked``."""

    __slots__ = ("asked", "helped")

    def __init__(self) -> None:
        self.asked = 0
        self.helped: list[tuple[Group, QueueingStrategy]] = []


class UnschedulablePods:
    """The pods by key, and by group.

    Attributes:
        turns: how many have come.
        crowd: keeps pods of some groups, ``None`` where nobody does.

    Args:
        undo: what an open savepoint needs to put every pod back in its turn.
    """

    def __init__(self, undo: UndoLog) -> None:
        self._undo = undo
        self._infos: dict[str, QueuedPodInfo] = {}
        self._group: dict[str, Group] = {}
        self._single: dict[Group, QueuedPodInfo] = {}
        self._members: dict[Group, dict[str, QueuedPodInfo]] = {}
        self._shared: dict[Group, Pod] = {}
        self._numbered: list[Group] = []
        self._answers: dict[Hashable, _Answers] = {}
        self.turns = 0
        self.crowd: KeepsPods | None = None

    def __len__(self) -> int:
        return len(self._infos)

    def __contains__(self, key: str) -> bool:
        return key in self._infos

    @property
    def infos(self) -> list[QueuedPodInfo]:
        """All of them, in the order in which they came."""
        if self.crowd is not None:
            self.crowd.let_all_go()
        return sorted(self._infos.values(), key=_TURN)

    @property
    def groups(self) -> int:
        """Number of groups remembered, including those without pods."""
        return len(self._numbered)

    def get(self, key: str) -> QueuedPodInfo | None:
        """The pod of that key."""
        if self.crowd is not None and key in self.crowd:
            self.crowd.let_go(key)
            if key in self._infos:  # those that nobody keeps stand behind those that are kept
                members = self._members[self._group[key]]
                members[key] = members.pop(key)
        return self._infos.get(key)

    def put(self, info: QueuedPodInfo) -> None:
        """Add a pod, or take note that one changed."""
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
        """Take out the pod of that key."""
        info = self._infos.get(key)
        if info is None:
            return None
        if self.crowd is not None and key in self.crowd:
            self.crowd.forget(key)
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
        """Remember a group that was not known; those that have no pods any more are let go of once they are most."""
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
        """Ask again on the next event of each kind: what hints look up besides its objects has changed."""
        self._answers.clear()
        self._undo.record(self._answers.clear)

    def helped(self, ask: Asking, event: Hashable) -> Iterator[tuple[QueueingStrategy, list[QueuedPodInfo]]]:
        """The pods that an event may help, by group.

        ``event``: events that are equal in it are alike to every hint; ``None`` where that is not known.
        """
        if event is None:
            found: list[Found] = [
                (each, ask(each, self._shared[each])) for each in self._numbered if each in self._members
            ]
        else:
            found = [(group, strategy) for group, strategy in self._answered(ask, event) if group in self._members]
        if self.crowd is not None:
            found = self.crowd.moved([each for each in found if each[1]], self._members)
        for info in sorted(self._single.values(), key=_TURN):
            group = self._group[info.key]
            found.append((group, ask(group, info.pod)))
        for group, strategy in found:
            if strategy:
                pods = self._members[group].values() if group.shared else [self._single[group]]
                yield strategy, sorted((each for each in pods if not self._is_kept(each)), key=_TURN)

    def _is_kept(self, info: QueuedPodInfo) -> bool:
        return self.crowd is not None and info.key in self.crowd

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
