"""A pod in the scheduling queue: since when, how often it was tried, and what rejected it. It is data alone.

Source: pkg/scheduler/framework/types.go (``QueuedPodInfo``, ``QueueingParams``). Times are nanoseconds of the queue's
clock.
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass

from topospread.api.pod import Pod
from topospread.cluster.undo import UndoLog

SECOND = 1_000_000_000
"""Nanoseconds."""


@dataclass(slots=True, eq=False)
class QueuedPodInfo:
    """The queue's record of a pod.

    Attributes:
        key: ``namespace/name``.
        uid: which of several pods of that name it is.
        timestamp: when it last came to the queue.
        kind: pods of one kind are alike to every hint; ``None`` where that is not known.
        attempts: how often it was popped.
        unschedulable_count: how often plugins rejected it; ``errors``: how often it failed since by an error.
        backoff_expiration: ``None`` until it is asked for.
        first_in_active: when it first became active.
        flushed_at: when it was last taken out of the unschedulable pods for its long stay.
        unschedulable_plugins: plugins that rejected it; ``pending_plugins``: those that wait for something.
        gating_plugin: the PreEnqueue plugin that keeps it out of the queue, "" for none.
        turn: the how manieth of the unschedulable pods it was when it came to them.
        members: of a pod group that stands in the queue as one, its pods; empty for a pod.
    """

    pod: Pod
    key: str
    uid: str
    timestamp: int
    kind: Hashable = None
    attempts: int = 0
    unschedulable_count: int = 0
    errors: int = 0
    backoff_expiration: int | None = None
    first_in_active: int | None = None
    flushed_at: int | None = None
    unschedulable_plugins: frozenset[str] = frozenset()
    pending_plugins: frozenset[str] = frozenset()
    gating_plugin: str = ""
    turn: int = 0
    members: tuple[QueuedPodInfo, ...] = ()

    @property
    def priority(self) -> int:
        """The pod's priority."""
        return self.pod.spec.priority or 0

    @property
    def waits_since(self) -> int:
        """Since when it waits, where it is unschedulable."""
        return self.timestamp if self.flushed_at is None else max(self.timestamp, self.flushed_at)

    @property
    def rejectors(self) -> frozenset[str]:
        """All plugins that rejected it."""
        return self.unschedulable_plugins | self.pending_plugins if self.pending_plugins else self.unschedulable_plugins


def queue_order(info: QueuedPodInfo) -> tuple[int, int]:
    """The order of active pods: priority, then time (plugins/queuesort, PrioritySort)."""
    return -(info.pod.spec.priority or 0), info.timestamp


def remember(info: QueuedPodInfo, undo: UndoLog) -> None:
    """Before a pod's data changes: what it was, for an open savepoint."""
    if undo.steps is not None:
        undo.record(_restore, info, copy(info))


def _restore(info: QueuedPodInfo, before: QueuedPodInfo) -> None:
    for name in QueuedPodInfo.__slots__:
        setattr(info, name, getattr(before, name))
