"""The queue's record of a pod: who comes first, since when it waits, and what an undo gives back."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.api.pod import Pod, PodSpec
from topospread.cluster.undo import UndoLog
from topospread.scheduling.queued_pod_info import QueuedPodInfo, queue_order, remember


def info(priority: int | None = None, timestamp: int = 5, **more: Any) -> QueuedPodInfo:
    return QueuedPodInfo(Pod(spec=PodSpec(priority=priority)), "ns/p", "uid", timestamp, **more)


def test_the_order_is_by_priority_and_then_by_time() -> None:
    assert sorted([info(1, 9), info(2, 9), info(None, 3), info(1, 4)], key=queue_order)[0].priority == 2
    assert queue_order(info(None, 3)) == (0, 3)
    assert queue_order(info(7, 3)) == (-7, 3)
    assert (info().priority, info(4).priority) == (0, 4)


@pytest.mark.parametrize(("flushed", "since"), [(None, 5), (3, 5), (8, 8)])
def test_it_waits_since_it_came_or_was_flushed(flushed: int | None, since: int) -> None:
    assert info(flushed_at=flushed).waits_since == since


def test_plugins_that_rejected_it_and_those_that_wait() -> None:
    assert info(unschedulable_plugins=frozenset("a"), pending_plugins=frozenset("b")).rejectors == {"a", "b"}
    assert info(unschedulable_plugins=frozenset("a")).rejectors == {"a"}
    assert info().rejectors == set()


def test_a_record_is_given_back_as_it_was() -> None:
    undo, it = UndoLog(), info(attempts=2)
    remember(it, undo)
    assert undo.steps is None
    undo.open()
    remember(it, undo)
    it.attempts, it.timestamp, it.gating_plugin = 3, 9, "Gates"
    undo.back_to(0)
    assert (it.attempts, it.timestamp, it.gating_plugin) == (2, 5, "")
