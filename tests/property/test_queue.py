"""Whatever happens to the queue, every pod is in one place of it, the right one comes first, and savepoints undo it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from tests.drawn import drawn
from tests.forks import fork_of_queue
from topospread.api.meta import ObjectMeta
from topospread.api.pod import Pod, PodSchedulingGate, PodSpec
from topospread.cluster import Cluster
from topospread.plugins.cluster_event import ADD, POD_GATES_ELIMINATED, ClusterEvent, Registration
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.queued_pod_info import SECOND, QueuedPodInfo, queue_order, remember
from topospread.scheduling.requeueing import Requeueing

NODE_ADD = ClusterEvent("Node", ADD)
CLASS_ADD = ClusterEvent("StorageClass", ADD)
NAMES = "abcdefgh"
Step = tuple[Any, ...]
"""What to do, and with what."""


def _pod(name: str, priority: int, gates: int) -> Pod:
    gated = [PodSchedulingGate(name=f"g{i}") for i in range(gates)]
    return Pod(
        metadata=ObjectMeta(name=name, namespace="d", uid=name),
        spec=PodSpec(priority=priority, scheduling_gates=gated or None),
    )


def _kind(pod: Pod) -> object:
    """Some pods are alike, of others that is not known."""
    return None if pod.name in "ab" else (pod.spec.priority, bool(pod.spec.scheduling_gates))


REQUEUEING = Requeueing(
    {
        "Fit": (Registration(NODE_ADD, lambda pod, old, new: new >= pod.spec.priority),),
        "Volumes": (Registration(CLASS_ADD),),
        "SchedulingGates": (Registration(ClusterEvent("TargetPod", POD_GATES_ELIMINATED)),),
    },
    {"SchedulingGates": lambda pod: not pod.spec.scheduling_gates},
)
_PODS = st.builds(_pod, st.sampled_from(NAMES), st.integers(0, 2), st.sampled_from([0, 0, 0, 1]))
_PLUGINS = st.sampled_from([["Fit"], ["Fit"], ["Volumes"], ["Fit", "Volumes"], []])
_STEP: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("put"), _PODS),
    st.tuples(st.just("put"), _PODS),
    st.tuples(st.just("pop")),
    st.tuples(st.just("pop")),
    st.tuples(st.just("fail"), st.integers(0, 3), _PLUGINS, st.booleans()),
    st.tuples(st.just("reject"), st.sampled_from("FFV")),
    st.tuples(st.just("reject"), st.just("F")),
    st.tuples(st.just("done"), st.integers(0, 3)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("activate"), st.sampled_from(NAMES)),
    st.tuples(st.just("node"), st.integers(0, 2), st.booleans()),
    st.tuples(st.just("class")),
    st.tuples(st.just("advance"), st.sampled_from([1, SECOND // 2, SECOND, 12 * SECOND, 400 * SECOND])),
    st.tuples(st.just("flush")),
)
_STEPS = st.lists(_STEP, min_size=1, max_size=8)


class Tried:
    """A queue, and by whoever uses it: which pods there are, which are being tried, how much has happened.

    Attributes:
        pods: uid → the pod, while it waits or is being tried.
        flying: uid → what was popped, and how much had happened by then.
    """

    def __init__(self, queue: SchedulingQueue, now: list[int]) -> None:
        self.queue = queue
        self.now = now
        self.pods: dict[str, Pod] = {}
        self.flying: dict[str, tuple[QueuedPodInfo, int]] = {}
        self.happened = 0

    def do(self, step: Step) -> None:
        what, *given = step
        getattr(self, f"_{what}")(*given)

    def kept(self) -> tuple[Any, ...]:
        """What whoever uses the queue knows; the queue has savepoints of its own."""
        return dict(self.pods), dict(self.flying), self.happened, self.now[0]

    def keep(self, kept: tuple[Any, ...]) -> None:
        """Know again what was `kept`."""
        pods, flying, self.happened, self.now[0] = kept
        self.pods, self.flying = dict(pods), dict(flying)

    def _put(self, pod: Pod) -> None:
        old = self.pods.get(pod.name)
        self.pods[pod.name] = pod
        if old is None:
            self.queue.add(pod, kind=_kind(pod))
            return
        before = len(self.queue._in_flight.events)
        self.queue.update(old, pod, kind=_kind(pod))
        self.happened += len(self.queue._in_flight.events) - before

    def _pop(self) -> None:
        active, backoff = self.queue.active.items, self.queue.backoff
        waiting = [info for info in backoff.infos if info.rejectors]
        info = self.queue.pop()
        if info is None:
            assert not active
            assert not waiting
            return
        if active:
            assert queue_order(info) == min(map(queue_order, active))
        else:
            assert backoff.expiration(info) == min(map(backoff.expiration, waiting))
        self.flying[info.uid] = (info, self.happened)

    def _fail(self, number: int, plugins: list[str], pends: bool) -> None:
        info = self._landed(number)
        if info is not None:
            remember(info, self.queue.undo)
            info.pod, info.kind = self.pods[info.uid], _kind(self.pods[info.uid])
            assert self.queue.add_unschedulable(info, () if pends else plugins, plugins if pends else ())

    def _reject(self, plugin: str) -> None:
        """All that are active are tried, and one plugin is against them."""
        for _ in range(len(self.queue.active)):
            self._pop()
            self._fail(len(self.flying) - 1, ["Fit" if plugin == "F" else "Volumes"], False)

    def _done(self, number: int) -> None:
        info = self._landed(number)
        if info is not None:
            del self.pods[info.uid]
            self.queue.done(info.uid)

    def _landed(self, number: int) -> QueuedPodInfo | None:
        uid = next(iter(list(self.flying)[number:]), None)
        return None if uid is None else self.flying.pop(uid)[0]

    def _delete(self, name: str) -> None:
        if name not in self.flying:
            self.pods.pop(name, None)
            self.queue.delete(f"d/{name}")

    def _activate(self, name: str) -> None:
        if name in self.pods:
            self.queue.activate([(f"d/{name}", self.pods[name])])
            self.happened += name in self.flying

    def _node(self, size: int, alike: bool) -> None:
        self.queue.move_all(NODE_ADD, None, size, alike=size if alike else None)
        self.happened += 1

    def _class(self) -> None:
        self.queue.move_all(CLASS_ADD, None, None, alike="class")
        self.happened += 1

    def _advance(self, time: int) -> None:
        self.now[0] += time

    def _flush(self) -> None:
        before = len(self.queue._in_flight.events)
        self.queue.flush_backoff_completed()
        self.queue.flush_unschedulable_leftover()
        self.happened += len(self.queue._in_flight.events) - before


def described(queue: SchedulingQueue) -> Any:
    """Everything that is in a queue, in the order in which it is there."""
    parts = (queue.active.items, queue.backoff.infos, queue.unschedulable.infos)
    told = [[{each.name: getattr(info, each.name) for each in fields(info)} for info in part] for part in parts]
    for info in (info for part in told for info in part):
        del info["turn"]
    return queue.cycle, told, queue.in_flight, queue._in_flight.events


def _popped(queue: SchedulingQueue) -> list[str]:
    """All pods, in the order in which they are tried once everybody is."""
    queue.move_all(NODE_ADD, None, 9, alike="large")
    queue.activate([(info.key, info.pod) for info in queue.unschedulable.infos])
    return [info.key for info in iter(queue.pop, None)]


class Queue(RuleBasedStateMachine):
    """Random histories, with excursions that savepoints of the cluster take back."""

    def __init__(self) -> None:
        super().__init__()
        self.now = [1000 * SECOND]
        self.cluster = Cluster()
        queue = SchedulingQueue(self._clock, lambda _: REQUEUEING, undo=self.cluster.undo)
        self.tried = Tried(queue, self.now)

    def _clock(self) -> int:
        return self.now[0]

    @initialize(pods=st.lists(_PODS, min_size=4, max_size=8))
    def begin(self, pods: list[Pod]) -> None:
        for pod in pods:
            self.tried.do(("put", pod))

    @rule(steps=_STEPS)
    def happen(self, steps: list[Step]) -> None:
        for step in steps:
            self.tried.do(step)
            self.every_pod_is_in_one_place()

    @rule(steps=_STEPS, inner=_STEPS, then=_STEPS)
    def go_back(self, steps: list[Step], inner: list[Step], then: list[Step]) -> None:
        """The queue is what one is that never made the excursion, and goes on like it."""
        queue, begun = self.tried.queue, self.tried.kept()
        before, stayed = described(queue), self._fork()
        with self.cluster.savepoint() as outer:
            self._excursion(steps)
            between, halfway = described(queue), self.tried.kept()
            with self.cluster.savepoint():
                self._excursion(inner)
            assert described(queue) == between
            self.tried.keep(halfway)
            self._excursion(inner)
            outer.rollback()
            assert described(queue) == before
            self.tried.keep(begun)
            self._excursion(inner)
        self.tried.keep(begun)
        assert described(queue) == before == described(stayed.queue)
        for step in then:
            self.tried.do(step)
            stayed.do(step)
        assert described(queue) == described(stayed.queue)
        assert _popped(self._fork().queue) == _popped(stayed.queue)

    def _excursion(self, steps: list[Step]) -> None:
        for step in steps:
            self.tried.do(step)

    def _fork(self) -> Tried:
        """A fork, with a clock of its own."""
        now = list(self.now)
        other = Tried(fork_of_queue(self.tried.queue, lambda _: REQUEUEING, lambda: now[0]), now)
        other.keep((*self.tried.kept()[:3], *now))
        other.flying = {uid: (copy(info), since) for uid, (info, since) in other.flying.items()}
        return other

    @rule(steps=_STEPS)
    def fork(self, steps: list[Step]) -> None:
        """A fork goes its own way."""
        before, other = described(self.tried.queue), self._fork()
        for step in steps:
            other.do(step)
        assert described(self.tried.queue) == before

    @invariant()
    def every_pod_is_in_one_place(self) -> None:
        queue, tried = self.tried.queue, self.tried
        parts: Sequence[list[QueuedPodInfo]] = (queue.active.items, queue.backoff.infos, queue.unschedulable.infos)
        waiting = [info.uid for part in parts for info in part]
        assert sorted([*waiting, *queue.in_flight]) == sorted(tried.pods)
        assert list(queue.in_flight) == list(tried.flying)

    @invariant()
    def what_happened_before_the_first_pod_in_flight_is_forgotten(self) -> None:
        tried = self.tried
        first = min((since for _, since in tried.flying.values()), default=tried.happened)
        assert len(tried.queue._in_flight.events) == tried.happened - first


TestQueue = Queue.TestCase
TestQueue.settings = drawn(25, stateful_step_count=12)
