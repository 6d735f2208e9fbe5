"""What the queue of a live scheduler tells of what happens to it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from tests.unit.live.test_scheduler import Clock
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node
from topospread.api.pod import Pod, PodSpec
from topospread.api.requests import CURRENT_RULES
from topospread.live.instrumented_queue import InstrumentedQueue, label
from topospread.live.observer import HintResult, Observer
from topospread.live.timed_hints import TimedRequeueing
from topospread.plugins.cluster_event import (
    ADD,
    ASSIGNED_POD_ADD,
    NODE_LABEL,
    POD_GATES_ELIMINATED,
    UNSCHEDULABLE_TIMEOUT,
    UPDATE,
    ClusterEvent,
    Registration,
)
from topospread.plugins.interface import PluginError
from topospread.scheduling.backoff_queue import DEFAULT_BACKOFF

NODE_ADD = ClusterEvent("Node", ADD)


class Told(Observer):
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.came: list[tuple[str, str]] = []
        self.hints: list[tuple[str, str, str]] = []

    def event_handled(self, event: str, seconds: float) -> None:
        assert seconds >= 0
        self.events.append(event)

    def incoming(self, queue: str, event: str, pods: int) -> None:
        self.came.append((queue, event))

    def hinted(self, plugin: str, event: str, result: HintResult, seconds: float) -> None:
        self.hints.append((plugin, event, result))


def pod(name: str, labels: Mapping[str, str] | None = None) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="default", uid=name, labels=dict(labels or {})))


def waiting(told: Told, hint: bool = True) -> InstrumentedQueue:
    """A queue with a pod that a plugin rejected, as nothing is being handled."""
    registered = (Registration(NODE_ADD, lambda pod, old, new: hint),)
    requeueing = TimedRequeueing({"NodeName": registered}, observer=told)
    queue = InstrumentedQueue(Clock(), lambda pod: requeueing, DEFAULT_BACKOFF, CURRENT_RULES, told)
    queue.add(pod("a"))
    info = queue.pop()
    assert info is not None
    queue.add_unschedulable(info, ("NodeName",))
    return queue


@pytest.mark.parametrize(
    ("event", "name"),
    [
        (NODE_ADD, "NodeAdd"),
        (ClusterEvent("Node", NODE_LABEL), "NodeUpdateNodeLabel"),
        (ClusterEvent("CSINode", UPDATE), "storage.k8s.io/CSINodeUpdate"),
        (ClusterEvent("TargetPod", POD_GATES_ELIMINATED), "TargetPodUpdatePodSchedulingGatesEliminated"),
        (ASSIGNED_POD_ADD, "AssignedPodAdd"),
        (UNSCHEDULABLE_TIMEOUT, "UnschedulableTimeout"),
    ],
)
def test_events_are_called_as_kube_scheduler_calls_them(event: ClusterEvent, name: str) -> None:
    assert label(event) == name


def test_what_arrives_is_told_with_the_time_it_took() -> None:
    told = Told()
    queue = waiting(told)
    assert told.events == []
    queue.began = 0.0
    queue.move_all(NODE_ADD, None, Node(metadata=ObjectMeta(name="n")))
    queue.add(pod("b"))
    queue.update(pod("b"), pod("b", {"app": "web"}))
    placed = replace(pod("c"), spec=PodSpec(node_name="n"))
    queue.assigned_pod_updated(placed, placed)
    queue.delete("default/b")
    assert told.events == [
        "NodeAdd",
        "UnscheduledPodAdd",
        "UnscheduledPodUpdate",
        "AssignedPodUpdate",
        "UnscheduledPodDelete",
    ]


def test_pods_that_an_event_moves_are_counted_under_it() -> None:
    told = Told()
    queue = waiting(told)
    queue.move_all(NODE_ADD, None, Node(metadata=ObjectMeta(name="n")))
    assert told.came == [("active", "UnscheduledPodAdd"), ("backoff", "NodeAdd")]


@pytest.mark.parametrize(("helps", "result"), [(True, "Queue"), (False, "QueueSkip")])
def test_hints_are_told_with_what_they_said(helps: bool, result: str) -> None:
    told = Told()
    waiting(told, helps).move_all(NODE_ADD, None, Node(metadata=ObjectMeta(name="n")))
    assert told.hints == [("NodeName", "NodeAdd", result)]


def test_a_hint_that_fails_is_told_and_counts_as_yes() -> None:
    told = Told()

    def failing(pod: Pod, old: object, new: object) -> bool:
        raise PluginError("no")

    requeueing = TimedRequeueing({"NodeName": (Registration(NODE_ADD, failing),)}, observer=told)
    queue = InstrumentedQueue(Clock(), lambda pod: requeueing, DEFAULT_BACKOFF, CURRENT_RULES, told)
    queue.add(pod("a"))
    info = queue.pop()
    assert info is not None
    queue.add_unschedulable(info, ("NodeName",))
    queue.move_all(NODE_ADD, None, Node(metadata=ObjectMeta(name="n")))
    assert told.hints == [("NodeName", "NodeAdd", "Error")]
    assert len(queue.backoff) == 1


def test_events_are_counted_while_a_pod_is_tried() -> None:
    queue = waiting(Told())
    queue.add(pod("b"))
    info = queue.pop()
    assert info is not None
    queue.move_all(NODE_ADD, None, Node(metadata=ObjectMeta(name="n")))
    assert queue.in_flight_events() == {"PodPopped": 1, "NodeAdd": 1}
    queue.done(info.uid)
    assert queue.in_flight_events() == {"PodPopped": 0}


def test_who_is_being_tried_while_nobody_else_waits_hears_of_what_happened_meanwhile() -> None:
    queue = waiting(Told())
    queue.delete("default/a")
    queue.add(pod("b"))
    info = queue.pop()
    assert info is not None
    assert not len(queue.unschedulable)
    queue.move_all(NODE_ADD, None, Node(metadata=ObjectMeta(name="n")))
    queue.add_unschedulable(info, ("NodeName",))
    assert not len(queue.unschedulable)


@pytest.mark.parametrize("somebody_waits", [True, False])
def test_a_pod_that_has_a_node_is_counted_once_whoever_waits(somebody_waits: bool) -> None:
    told = Told()
    queue = waiting(told)
    if not somebody_waits:
        queue.delete("default/a")
        queue.done("a")
    told.events.clear()
    queue.began = 0.0
    queue.assigned_pod_added(pod("b"))
    assert told.events == ["AssignedPodAdd"]


def test_a_pod_that_is_being_tried_hears_of_pods_that_come() -> None:
    queue = waiting(Told())
    queue.add(pod("c"))
    assert queue.pop() is not None
    queue.delete("default/a")
    assert queue.listens
    queue.assigned_pod_added(pod("b"))
    assert queue.in_flight_events()["AssignedPodAdd"] == 1
