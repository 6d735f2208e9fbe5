"""A long queue is popped from one sorted list, in the queue's own order."""

from __future__ import annotations

from itertools import count

from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSpec
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND
from topospread.scheduling.requeueing import Requeueing
from topospread.simulation.active_queue_batch import ActiveQueueBatch


def pod(name: str, priority: int = 0) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="d", uid=name), spec=PodSpec(priority=priority))


def queue_of(*pods: Pod) -> SchedulingQueue:
    """A queue whose pods were added a nanosecond apart."""
    requeueing, clock = Requeueing({}, {}), count(1000 * SECOND)
    queue = SchedulingQueue(lambda: next(clock), lambda _: requeueing)
    for each in pods:
        queue.add(each)
    return queue


def taken(batch: ActiveQueueBatch) -> list[str]:
    found = []
    for info in batch.following():
        found.append(info.pod.name)
        batch.drop(info)
    return found


MANY = [pod(f"p{number:02}", priority=number % 3) for number in range(40)]
ORDER = [each.name for each in sorted(MANY, key=lambda each: (-(each.spec.priority or 0), MANY.index(each)))]


def test_a_short_queue_is_not_batched() -> None:
    batch = ActiveQueueBatch(queue_of(*MANY[:31]))
    assert taken(batch) == []
    info = batch.pop()
    assert info is not None
    assert info.pod.name == "p02"


def test_pods_that_are_equal_in_rank_are_not_batched() -> None:
    queue = SchedulingQueue(lambda: 1000 * SECOND, lambda _: Requeueing({}, {}))
    for each in MANY:
        queue.add(each)
    assert taken(ActiveQueueBatch(queue)) == []


def test_a_long_queue_is_taken_in_its_order() -> None:
    assert taken(ActiveQueueBatch(queue_of(*MANY))) == ORDER


def test_pop_takes_the_next_of_the_batch_and_puts_it_in_flight() -> None:
    queue = queue_of(*MANY)
    batch = ActiveQueueBatch(queue)
    next(batch.following())
    assert len(batch) == 40
    info = batch.pop()
    assert info is not None
    assert (info.pod.name, len(batch), info.attempts) == (ORDER[0], 39, 1)


def test_a_pod_that_comes_later_with_more_priority_comes_first() -> None:
    queue = queue_of(*MANY)
    batch = ActiveQueueBatch(queue)
    next(batch.following())
    queue.add(pod("urgent", priority=9))
    assert taken(batch) == []
    info = batch.pop()
    assert info is not None
    assert info.pod.name == "urgent"
    assert taken(batch) == ORDER


def test_the_first_rank_is_the_least_of_batch_and_queue() -> None:
    queue = queue_of()
    batch = ActiveQueueBatch(queue)
    assert batch.first() is None
    for each in MANY:
        queue.add(each)
    next(batch.following())
    first = batch.first()
    assert first is not None
    assert first[:2] == (1, -2)
    queue.add(pod("urgent", priority=9))
    first = batch.first()
    assert first is not None
    assert first[:2] == (1, -9)
