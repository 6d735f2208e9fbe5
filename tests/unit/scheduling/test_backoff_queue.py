"""Backoff: how long pods wait, who leaves first, and who may leave early."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSpec
from topospread.cluster.undo import UndoLog
from topospread.scheduling.backoff_queue import NO_BACKOFF, BackoffQueue, BackoffSettings
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo


class Time:
    def __init__(self) -> None:
        self.now = 100 * SECOND

    def __call__(self) -> int:
        return self.now


def info(name: str, at: float = 100, priority: int = 0, **more: Any) -> QueuedPodInfo:
    pod = Pod(metadata=ObjectMeta(name=name), spec=PodSpec(priority=priority))
    more = {"unschedulable_count": 1, "unschedulable_plugins": frozenset({"Fit"})} | more
    return QueuedPodInfo(pod, name, name, int(at * SECOND), **more)


def failed(name: str, at: float = 100, errors: int = 1) -> QueuedPodInfo:
    return info(name, at, errors=errors, unschedulable_count=0, unschedulable_plugins=frozenset())


def queue(*infos: QueuedPodInfo, time: Time | None = None, **settings: Any) -> BackoffQueue:
    made = BackoffQueue(time or Time(), BackoffSettings(**settings), UndoLog())
    for each in infos:
        made.add(each)
    return made


def names(infos: list[QueuedPodInfo]) -> list[str]:
    return [each.key for each in infos]


@pytest.mark.parametrize(
    ("count", "members", "seconds"),
    [(1, 0, 1), (2, 0, 2), (4, 0, 8), (5, 0, 10), (9, 0, 10), (9, 1, 10), (9, 4, 20), (2, 4, 2)],
)
def test_the_wait_doubles_up_to_a_most_that_grows_with_a_group(count: int, members: int, seconds: int) -> None:
    assert queue().duration(count, members) == seconds * SECOND


def test_errors_count_before_rejections_and_without_either_nobody_waits() -> None:
    it = queue()
    assert it.expiration(info("a", unschedulable_count=3)) == 104 * SECOND
    assert it.expiration(info("a", unschedulable_count=3, errors=1)) == 101 * SECOND
    assert it.expiration(info("a", unschedulable_count=0)) == NO_BACKOFF
    assert queue(maximum=0).expiration(info("a")) == NO_BACKOFF


def test_the_end_is_a_whole_second_where_pods_leave_early_and_is_kept() -> None:
    early, exact = queue(), queue(pops_early=False)
    pod = info("a", at=100.7)
    assert early.expiration(pod) == 101 * SECOND
    pod.unschedulable_count = 5
    assert early.expiration(pod) == 101 * SECOND, "kept"
    assert exact.expiration(info("a", at=100.7)) == int(101.7 * SECOND)


def test_whoever_waits_shortest_is_popped_first_and_errors_wait_to_the_end() -> None:
    it = queue(
        info("late", 103), failed("error", 90), info("low", 101.2), info("high", 101.8, priority=5), info("old", 101.1)
    )
    assert (len(it), it.rejected, "error" in it, "late" in it, "x" in it) == (5, 4, True, True, False)
    assert sorted(names(it.infos)) == ["error", "high", "late", "low", "old"]
    assert it.peek() is it.get("high")
    assert it.comes_before(info("x", 102))
    assert not it.comes_before(info("x", 101, priority=9))
    assert [each.key for each in iter(it.pop, None)] == ["high", "old", "low", "late"]
    assert (len(it), it.peek()) == (1, None)
    assert not it.comes_before(info("x"))


def test_pods_leave_after_the_second_in_which_their_wait_ends() -> None:
    time = Time()
    it = queue(info("a", 100.5), failed("b", 100.5), info("c", 102), time=time)
    time.now = int(101.9 * SECOND)
    assert it.pop_completed() == []
    time.now = 102 * SECOND
    assert names(it.pop_completed()) == ["a", "b"]
    assert names(it.infos) == ["c"]
    exact = queue(info("a", 100.5), time=time, pops_early=False)
    time.now = int(101.5 * SECOND)
    assert exact.pop_completed() == []
    time.now += 1
    assert names(exact.pop_completed()) == ["a"]


def test_a_pod_is_found_moved_and_deleted_wherever_it_waits() -> None:
    it = queue(info("a", 101), info("b", 105), failed("c"))
    first, other = it.get("a"), it.get("c")
    assert first is not None
    assert other is not None
    first.pod = Pod(metadata=ObjectMeta(name="a"), spec=PodSpec(priority=1))
    first.unschedulable_plugins = frozenset()
    it.changed(first)
    it.changed(other)
    assert (len(it), it.rejected) == (3, 2)
    assert it.delete("c") is other
    assert it.delete("c") is None
    assert it.delete("a") is first
    assert names(it.drain()) == ["b"]
    assert len(it) == 0
