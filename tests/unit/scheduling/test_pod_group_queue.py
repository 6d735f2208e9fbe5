"""Pod groups in the queue, one behaviour a test; that all of them together are kube-scheduler's, stored cases hold."""

from __future__ import annotations

import pytest

from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSchedulingGate, PodSpec, SchedulingGroup
from topospread.api.pod_groups import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec
from topospread.cluster import Cluster
from topospread.plugins.cluster_event import ADD, UPDATE, ClusterEvent
from topospread.plugins.scheduling_gates import SchedulingGates
from topospread.scheduling.pod_group_queue import UNSCHEDULED_POD_ADD, PodGroupQueue
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo
from topospread.scheduling.requeueing import Requeueing

KEY = ("d", "g")


def pod(name: str, *gates: str) -> Pod:
    spec = PodSpec(
        scheduling_group=SchedulingGroup(pod_group_name="g"),
        scheduling_gates=[PodSchedulingGate(name=each) for each in gates] or None,
    )
    return Pod(metadata=ObjectMeta(name=name, namespace="d", uid=name), spec=spec)


def gang(minimum: int, priority: int = 0) -> PodGroup:
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=minimum))
    return PodGroup(
        metadata=ObjectMeta(name="g", namespace="d"), spec=PodGroupSpec(scheduling_policy=policy, priority=priority)
    )


class Queue:
    """A queue with groups, and its clock."""

    def __init__(self) -> None:
        self.now = 1000 * SECOND
        self.cluster = Cluster()
        self.cluster.objects.whole_groups = None
        gates = SchedulingGates()
        requeueing = Requeueing(
            {gates.name: tuple(gates.events_to_register(self.cluster))}, {gates.name: gates.pre_enqueue}
        )
        self.queue = SchedulingQueue(lambda: self.now, lambda _: requeueing, undo=self.cluster.undo)
        self.queue.groups = self.groups = PodGroupQueue(self.queue, self.cluster, lambda _: requeueing)

    def create(self, *pods: Pod) -> None:
        for each in pods:
            self.now += 1
            self.queue.add(each)
            self.queue.move_all(UNSCHEDULED_POD_ADD, None, each)

    def put(self, group: PodGroup) -> None:
        before = self.cluster.objects.pod_groups.get(KEY)
        self.cluster.objects.put(group)
        if before is None:
            self.groups.group_added(KEY)
        self.queue.move_all(ClusterEvent("PodGroup", ADD if before is None else UPDATE), before, group)

    def pop(self) -> list[str]:
        """Names of the pods of the group that is tried next."""
        info = self.queue.pop()
        return [] if info is None else [each.name for each in self.groups.popped(info)[1]]

    def fail(self, info: QueuedPodInfo, code: str = "Unschedulable") -> None:
        """The group that was popped finds no nodes."""
        for each in info.members:
            self.groups.failed(each)
        self.groups.tried(info, code)


def test_pods_wait_for_their_group_to_be_there() -> None:
    queue = Queue()
    queue.create(pod("a"), pod("b"))
    assert queue.pop() == []
    queue.put(gang(2))
    assert queue.pop() == ["a", "b"]


def test_a_gang_waits_for_min_count_pods() -> None:
    queue = Queue()
    queue.put(gang(3))
    queue.create(pod("a"), pod("b"))
    assert queue.pop() == []
    queue.create(pod("c"))
    assert queue.pop() == ["a", "b", "c"]


def test_a_lower_min_count_lets_the_gang_in() -> None:
    queue = Queue()
    queue.put(gang(3))
    queue.create(pod("a"), pod("b"))
    queue.put(gang(2))
    assert queue.pop() == ["a", "b"]


def test_a_group_without_a_gang_policy_enters_with_its_first_pod() -> None:
    queue = Queue()
    queue.put(PodGroup(metadata=ObjectMeta(name="g", namespace="d")))
    queue.create(pod("a"))
    assert queue.pop() == ["a"]


def test_one_pod_with_gates_keeps_the_whole_group_out() -> None:
    queue = Queue()
    queue.put(gang(2))
    queue.create(pod("a"), pod("b", "wait"), pod("c"))
    assert queue.pop() == []
    queue.queue.update(pod("b", "wait"), pod("b"))
    assert queue.pop() == ["a", "b", "c"]


def test_a_group_that_failed_backs_off_and_is_not_popped_before_its_time() -> None:
    queue = Queue()
    queue.put(gang(2))
    queue.create(pod("a"), pod("b"))
    info = queue.queue.pop()
    assert info is not None
    queue.groups.popped(info)
    queue.fail(info)
    assert queue.pop() == []
    queue.now += 2 * SECOND
    queue.queue.flush_backoff_completed()
    assert queue.pop() == ["a", "b"]


def test_pods_that_come_while_their_group_is_tried_go_with_it_the_next_time() -> None:
    queue = Queue()
    queue.put(gang(2))
    queue.create(pod("a"), pod("b"))
    info = queue.queue.pop()
    assert info is not None
    queue.groups.popped(info)
    queue.create(pod("c"))
    queue.fail(info)
    queue.now += 2 * SECOND
    queue.queue.flush_backoff_completed()
    assert queue.pop() == ["a", "b", "c"], "pods that were tried come first"


def test_what_a_successful_group_leaves_is_tried_at_once() -> None:
    queue = Queue()
    queue.put(gang(1))
    queue.create(pod("a"), pod("b"))
    info = queue.queue.pop()
    assert info is not None
    queue.groups.popped(info)
    queue.groups.bound(KEY, "d/a")
    queue.groups.failed(info.members[1], ["NodeResourcesFit"])
    queue.groups.tried(info, "Success")
    assert queue.pop() == ["b"]


def test_a_deleted_pod_is_counted_until_the_group_is_asked_again() -> None:
    queue = Queue()
    queue.put(gang(2))
    queue.create(pod("a"), pod("b"))
    queue.groups.delete(KEY, "d/a")
    assert queue.pop() == ["b"]


def test_pods_of_a_deleted_group_wait_for_it() -> None:
    queue = Queue()
    queue.put(gang(2))
    queue.create(pod("a"), pod("b"))
    queue.cluster.objects.delete(gang(2))
    queue.groups.group_deleted(KEY)
    assert queue.pop() == []
    queue.put(gang(1))
    assert queue.pop() == ["a", "b"]


def test_a_group_has_its_own_priority() -> None:
    queue = Queue()
    queue.put(gang(1, priority=5))
    single = Pod(metadata=ObjectMeta(name="single", namespace="d", uid="s"), spec=PodSpec(priority=3))
    queue.create(single, pod("a"))
    assert queue.pop() == ["a"]


def test_an_undissolved_group_is_put_back_by_a_savepoint() -> None:
    queue = Queue()
    queue.put(gang(2))
    queue.create(pod("a"), pod("b"))
    with queue.cluster.savepoint():
        info = queue.queue.pop()
        assert info is not None
        queue.groups.popped(info)
        queue.cluster.objects.judge_groups(set(), {KEY: ValueError()})
        queue.groups.dissolve(info)
        assert [each.key for each in queue.queue.active.items] == ["d/a", "d/b"]
    assert queue.pop() == ["a", "b"]


@pytest.mark.parametrize("size", [1, 4])
def test_the_longest_wait_grows_with_the_size_of_the_group(size: int) -> None:
    backoff = Queue().queue.backoff
    assert backoff.duration(20, size) == backoff.settings.maximum * size**0.5
