"""The queue's behaviours, one a test; that all of them together are kube-scheduler's, the stored histories hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.forks import fork_of_queue
from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSchedulingGate, PodSpec
from topospread.cluster import Cluster
from topospread.cluster.undo import UndoLog
from topospread.plugins.cluster_event import ADD, POD_GATES_ELIMINATED, ClusterEvent, Registration
from topospread.plugins.interface import PluginError
from topospread.scheduling.queue import FLUSH_PERIOD, LONGEST_STAY, SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND
from topospread.scheduling.requeueing import Requeueing

NODE_ADD = ClusterEvent("Node", ADD)
CLASS_ADD = ClusterEvent("StorageClass", ADD)


class Time:
    def __init__(self) -> None:
        self.now = 1000 * SECOND

    def __call__(self) -> int:
        return self.now


def pod(name: str, priority: int = 0, *, gates: int = 0) -> Pod:
    spec = PodSpec(
        priority=priority,
        scheduling_gates=[PodSchedulingGate(name=f"g{i}") for i in range(gates)],
    )
    return Pod(metadata=ObjectMeta(name=name, namespace="d", uid=name), spec=spec)


def queue_of(
    time: Time, hint: Callable[[Pod, Any, Any], bool] = lambda *_: True, undo: UndoLog | None = None
) -> SchedulingQueue:
    requeueing = requeueing_by(hint)
    return SchedulingQueue(time, lambda _: requeueing, undo=undo)


def requeueing_by(hint: Callable[[Pod, Any, Any], bool] = lambda *_: True) -> Requeueing:
    return Requeueing(
        {
            "Fit": (Registration(NODE_ADD, hint),),
            "Volumes": (Registration(CLASS_ADD),),
            "SchedulingGates": (Registration(ClusterEvent("TargetPod", POD_GATES_ELIMINATED)),),
        },
        {"SchedulingGates": lambda each: not each.spec.scheduling_gates},
    )


def popped(queue: SchedulingQueue) -> str:
    info = queue.pop()
    return "" if info is None else info.pod.name


def fail(queue: SchedulingQueue, *plugins: str) -> None:
    info = queue.pop()
    assert info is not None
    assert queue.add_unschedulable(info, plugins)


def test_the_more_important_pod_is_popped_first_and_then_the_older_one() -> None:
    time = Time()
    queue = queue_of(time)
    for name, priority in (("a", 0), ("b", 5), ("c", 5)):
        queue.add(pod(name, priority))
        time.now += 1
    assert [popped(queue) for _ in range(4)] == ["b", "c", "a", ""]


def test_an_event_moves_the_pods_whose_rejecting_plugin_waits_for_it() -> None:
    time = Time()
    queue = queue_of(time)
    queue.add(pod("a"))
    fail(queue, "Fit")
    queue.move_all(CLASS_ADD, None, object())
    assert popped(queue) == ""
    queue.move_all(NODE_ADD, None, object())
    assert popped(queue) == "a"


def test_a_hint_that_fails_counts_as_yes() -> None:
    def hint(*_: object) -> bool:
        raise PluginError("no such thing")

    queue = queue_of(Time(), hint)
    queue.add(pod("a"))
    fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, object())
    assert popped(queue) == "a"


def test_waits_double_from_one_second_to_ten() -> None:
    backoff = queue_of(Time()).backoff
    assert [backoff.duration(count) // SECOND for count in range(1, 7)] == [1, 2, 4, 8, 10, 10]


def test_a_pod_that_backs_off_is_tried_before_its_time_where_nothing_else_is_to_be_done() -> None:
    time = Time()
    queue = queue_of(time)
    queue.add(pod("a", 5))
    fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, object())
    queue.add(pod("b"))
    assert [popped(queue), popped(queue)] == ["b", "a"]


def test_a_pod_whose_wait_is_over_is_active_again() -> None:
    time = Time()
    queue = queue_of(time)
    queue.add(pod("a", 5))
    fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, object())
    queue.add(pod("b"))
    time.now += SECOND
    queue.flush_backoff_completed()
    assert "d/a" in queue.backoff  # in the second in which the wait ends, it is not over
    time.now += SECOND
    queue.flush_backoff_completed()
    assert popped(queue) == "a"


def test_a_pod_that_failed_by_an_error_waits_to_the_end() -> None:
    time = Time()
    queue = queue_of(time)
    queue.add(pod("a"))
    fail(queue)
    assert popped(queue) == ""
    time.now += 2 * SECOND
    queue.flush_backoff_completed()
    assert popped(queue) == "a"


def test_what_happens_while_a_pod_is_tried_counts_when_it_comes_back() -> None:
    queue = queue_of(Time())
    queue.add(pod("a"))
    info = queue.pop()
    assert info is not None
    queue.move_all(NODE_ADD, None, object())
    queue.add_unschedulable(info, ["Fit"])
    assert "d/a" in queue.backoff


def test_what_happened_before_a_pod_was_popped_does_not_count() -> None:
    queue = queue_of(Time())
    queue.add(pod("a", 1))
    queue.add(pod("b"))
    first = queue.pop()
    queue.move_all(NODE_ADD, None, object())
    second = queue.pop()
    assert first is not None
    assert second is not None
    queue.done(first.uid)
    queue.add_unschedulable(second, ["Fit"])
    assert "d/b" in queue.unschedulable


def test_a_pending_plugin_s_hint_spares_the_backoff() -> None:
    queue = queue_of(Time())
    queue.add(pod("a"))
    info = queue.pop()
    assert info is not None
    queue.add_unschedulable(info, pending=["Fit"])
    queue.move_all(NODE_ADD, None, object())
    assert "d/a" in queue.active


def test_a_gated_pod_waits_for_its_last_gate_whatever_else_happens() -> None:
    queue = queue_of(Time())
    gated = pod("a", gates=2)
    queue.add(gated)
    queue.move_all(NODE_ADD, None, object())
    queue.update(gated, one := pod("a", gates=1))
    assert popped(queue) == ""
    queue.update(one, pod("a"))
    assert popped(queue) == "a"


def test_after_five_minutes_a_pod_is_tried_without_an_event() -> None:
    time = Time()
    queue = queue_of(time)
    queue.add(pod("a"))
    fail(queue, "Fit")
    time.now += LONGEST_STAY
    queue.flush_unschedulable_leftover()
    assert popped(queue) == ""
    time.now += FLUSH_PERIOD
    queue.flush_unschedulable_leftover()
    assert popped(queue) == "a"


def test_an_activated_pod_is_active_at_once() -> None:
    queue = queue_of(Time())
    waiting = pod("a")
    queue.add(waiting)
    fail(queue, "Fit")
    queue.activate([("d/a", waiting)])
    assert "d/a" in queue.active


def test_a_deleted_pod_is_nowhere() -> None:
    queue = queue_of(Time())
    queue.add(pod("a"))
    queue.add(pod("b"))
    fail(queue, "Fit")
    for key in ("d/a", "d/b"):
        queue.delete(key)
    assert popped(queue) == ""
    assert not len(queue.unschedulable)


def test_an_updated_pod_moves_to_its_new_place() -> None:
    time = Time()
    queue = queue_of(time)
    old = pod("a")
    queue.add(old)
    time.now += 1
    queue.add(pod("b", 1))
    queue.update(old, pod("a", 2))
    assert popped(queue) == "a"


def test_pods_of_one_kind_are_asked_about_once_and_all_move() -> None:
    asked: list[str] = []

    def hint(each: Pod, *_: object) -> bool:
        asked.append(each.name)
        return True

    time = Time()
    queue = queue_of(time, hint)
    for number in range(50):
        queue.add(pod(f"p{number}"), kind="alike")
    for _ in range(50):
        fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, object(), alike="node")
    assert len(asked) == 1
    assert len(queue.backoff) == 50


def test_an_event_of_a_known_kind_asks_nobody_twice() -> None:
    asked: list[str] = []

    def hint(each: Pod, *_: object) -> bool:
        asked.append(each.name)
        return False

    queue = queue_of(Time(), hint)
    queue.add(pod("a"), kind="alike")
    fail(queue, "Fit")
    for _ in range(3):
        queue.move_all(NODE_ADD, None, object(), alike="node")
    assert asked == ["a"]
    queue.forget_answers()
    queue.move_all(NODE_ADD, None, object(), alike="node")
    assert asked == ["a", "a"]


def test_a_pod_that_stands_in_two_places_keeps_why_it_waits_where_it_was() -> None:
    queue = queue_of(Time())
    queue.add(pod("a"))
    fail(queue, "Fit")
    info = queue.unschedulable.get("d/a")
    assert info is not None
    queue.fly(info)
    assert not queue.add_unschedulable(info, ["Volumes"])
    assert info.rejectors == {"Fit"}


def test_a_fork_goes_its_own_way() -> None:
    time = Time()
    queue = queue_of(time)
    for name in "abc":
        queue.add(pod(name))
        time.now += 1
    fail(queue, "Fit")
    flying = queue.pop()
    assert flying is not None
    other = fork_of_queue(queue, lambda _: requeueing_by())
    other.move_all(NODE_ADD, None, object())
    other.done(flying.uid)
    assert [popped(other) for _ in range(3)] == ["c", "a", ""]
    assert "d/a" in queue.unschedulable
    assert queue.in_flight == ("b",)
    assert popped(queue) == "c"


def test_a_savepoint_of_the_cluster_takes_the_queue_back() -> None:
    cluster = Cluster()
    queue = queue_of(Time(), undo=cluster.undo)
    for name in "abc":
        queue.add(pod(name))
    fail(queue, "Fit")
    with cluster.savepoint():
        queue.move_all(NODE_ADD, None, object())
        queue.delete("d/b")
        assert [popped(queue) for _ in range(3)] == ["c", "a", ""]
    assert queue.in_flight == ()
    assert "d/a" in queue.unschedulable
    assert [popped(queue) for _ in range(3)] == ["c", "b", ""]


def test_a_savepoint_takes_back_that_a_held_pod_was_let_in() -> None:
    cluster, is_open = Cluster(), [False]
    requeueing = Requeueing({"Gate": (Registration(NODE_ADD),)}, {"Gate": lambda _: is_open[0]})
    queue = SchedulingQueue(Time(), lambda _: requeueing, undo=cluster.undo)
    queue.add(pod("a"))
    held = queue.unschedulable.get("d/a")
    assert held is not None
    assert (held.gating_plugin, held.rejectors) == ("Gate", {"Gate"})
    with cluster.savepoint():
        is_open[0] = True
        queue.move_all(NODE_ADD, None, object())
        assert popped(queue) == "a"
    held = queue.unschedulable.get("d/a")
    assert held is not None
    assert (held.gating_plugin, held.rejectors) == ("Gate", {"Gate"})


def test_what_hints_answered_of_pods_that_a_savepoint_took_back_is_asked_anew() -> None:
    cluster = Cluster()
    queue = queue_of(Time(), undo=cluster.undo)
    with cluster.savepoint():
        queue.add(pod("a"), kind="one")
        fail(queue, "Volumes")
        queue.move_all(NODE_ADD, None, object(), alike="node")
    queue.add(pod("b"), kind="two")
    fail(queue, "Fit")
    queue.move_all(NODE_ADD, None, object(), alike="node")
    assert popped(queue) == "b"


def test_going_back_costs_what_changed_however_many_pods_wait() -> None:
    cluster = Cluster()
    queue = queue_of(Time(), undo=cluster.undo)
    for number in range(500):
        queue.add(pod(f"p{number}"), kind="alike")
    for _ in range(400):
        fail(queue, "Fit")
    with cluster.savepoint():
        fail(queue, "Volumes")
        queue.delete("d/p1")
        assert cluster.undo.steps is not None
        assert len(cluster.undo.steps) < 40


def test_groups_of_pods_that_are_gone_are_let_go_of() -> None:
    queue = queue_of(Time())
    for number in range(1000):
        queue.add(pod("a"), kind=number)
        fail(queue, "Fit")
        queue.move_all(NODE_ADD, None, object(), alike="node")
        queue.delete("d/a")
    assert queue.unschedulable.groups < 100
