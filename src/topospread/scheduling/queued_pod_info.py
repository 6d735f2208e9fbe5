"""The scheduling queue's record of a pod. Times are nanoseconds of the queue's clock.

Source: pkg/scheduler/framework/types.go (``QueuedPodInfo``, ``QueueingParams``).
"""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from dataclasses import dataclass

from topospread.api.pod import Pod
from topospread.cluster.undo import UndoLog

SECOND = 1_000_000_000
"""Nanoseconds in a second."""


@dataclass(slots=True, eq=False)
class QueuedPodInfo:
    """The queue's record of a pod.

    Attributes:
        key: ``namespace/name``.
        uid: UID of the pod, to distinguish pods with the same key.
        timestamp: time when it was last added to the queue.
        kind: key that is equal for pods for which every hint gives equal answers; ``None`` if unknown.
        attempts: number of times it was popped.
        unschedulable_count: number of rejections by plugins.
        errors: number of errors since the last rejection.
        backoff_expiration: end of the backoff; ``None`` until it is computed.
        first_in_active: time when it first became active.
        flushed_at: time when it was last retried because it had been unschedulable for `LONGEST_STAY`.
        unschedulable_plugins: plugins that rejected it.
        pending_plugins: plugins that rejected it and wait for an action that they started themselves.
        gating_plugin: PreEnqueue plugin that holds it, "" for none.
        turn: sequence number of its last addition to the unschedulable pods.
        members: pods of a pod group that is queued as one entity; empty for a single pod.
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
        """Priority of the pod."""
        return self.pod.spec.priority or 0

    @property
    def waits_since(self) -> int:
        """Time since which it has been unschedulable."""
        return self.timestamp if self.flushed_at is None else max(self.timestamp, self.flushed_at)

    @property
    def rejectors(self) -> frozenset[str]:
        """All plugins that rejected it."""
        return self.unschedulable_plugins | self.pending_plugins if self.pending_plugins else self.unschedulable_plugins


def queue_order(info: QueuedPodInfo) -> tuple[int, int]:
    """Return the sort key of active pods: higher priority, then earlier timestamp (plugins/queuesort, PrioritySort)."""
    return -(info.pod.spec.priority or 0), info.timestamp


def remember(info: QueuedPodInfo, undo: UndoLog) -> None:
    """Record a pod's data in the undo log before it changes, if a savepoint is open."""
    if undo.steps is not None:
        undo.record(_restore, info, copy(info))


def _restore(info: QueuedPodInfo, before: QueuedPodInfo) -> None:
    for name in QueuedPodInfo.__slots__:
        setattr(info, name, getattr(before, name))
