"""Pods as a watch delivers them, also with gaps: the scheduler's knowledge, and the queue's events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.live.fake_api import node
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.version_rules import rules_for
from topospread.live.kinds import ReadPod
from topospread.live.pods import Assumption, Pods
from topospread.plugins.cluster_event import ASSIGNED_POD_DELETE, ClusterEvent
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.requeueing import RequeueingRules


class Listening(SchedulingQueue):
    """A queue that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__(lambda: 0, lambda pod: None)
        self.told: list[ClusterEvent] = []

    def move_all(self, event: ClusterEvent, *about: Any, **more: Any) -> None:
        self.told.append(event)


def waiting(version: int, node: str | None) -> ReadPod:
    metadata = {"name": "p", "namespace": "d", "uid": "p", "resourceVersion": str(version)}
    status = {"nominatedNodeName": node}
    return msgspec.convert({"metadata": metadata, "spec": {"containers": []}, "status": status}, ReadPod)


@pytest.mark.parametrize(("version", "told"), [("1.32", []), ("1.33", [ASSIGNED_POD_DELETE])])
def test_a_promise_that_ends_is_heard_of_since_1_33(version: str, told: list[ClusterEvent]) -> None:
    queue = Listening()
    pods = Pods(Cluster(), queue, lambda pod: True)
    pods.tells_of_promises = rules_for(RequeueingRules, gates_for(version)).handles_nominations
    pods.put(waiting(1, "n1"))
    pods.put(waiting(2, None))
    assert queue.told == told


NAMES = ("a", "b", "c")
NODES = ("n0", "n1")


@dataclass(frozen=True)
class Truth:
    """A pod as the API server has it."""

    name: str
    uid: str
    version: int
    scheduler: str = "ours"
    node: str = ""
    nominated: str = ""
    phase: str = "Pending"
    terminating: bool = False
    gated: bool = False
    cpu: str = "100m"

    def read(self) -> ReadPod:
        """Return the pod as the reflector reads it."""
        metadata: dict[str, Any] = {
            "name": self.name,
            "namespace": "d",
            "uid": self.uid,
            "resourceVersion": str(self.version),
        }
        if self.terminating:
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        spec: dict[str, Any] = {
            "schedulerName": self.scheduler,
            "containers": [{"name": "main", "resources": {"requests": {"cpu": self.cpu}}}],
        }
        if self.node:
            spec["nodeName"] = self.node
        if self.gated:
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
        status = {"phase": self.phase} | ({"nominatedNodeName": self.nominated} if self.nominated else {})
        return msgspec.convert({"metadata": metadata, "spec": spec, "status": status}, ReadPod)


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[dict[str, Truth], bool, str]]:
    """Draw states of all pods: after each, whether the watch delivered it, and a pod that the scheduler places."""
    pods: dict[str, Truth] = {}
    found = []
    for version in range(1, draw(st.integers(1, 14))):
        name = draw(st.sampled_from(NAMES))
        old = pods.get(name)
        if old is None or (draw(st.booleans()) and draw(st.booleans())):
            pods = {each: pods[each] for each in pods if each != name}
            if old is None or draw(st.booleans()):
                made = Truth(name, f"{name}-{version}", version, draw(st.sampled_from(("ours", "other"))))
                pods[name] = replace(made, gated=draw(st.booleans()), cpu=draw(st.sampled_from(("100m", "200m"))))
        else:
            pods = pods | {name: replace(_changed(draw, old), version=version)}
        found.append((pods, draw(st.booleans()), draw(st.sampled_from(("", *NAMES)))))
    return found


def _changed(draw: st.DrawFn, old: Truth) -> Truth:
    changes: list[dict[str, Any]] = [{"phase": "Succeeded"}, {"terminating": True}]
    if not old.node:
        changes += [{"gated": False}, {"nominated": draw(st.sampled_from(("", *NODES)))}]
        changes += [] if old.gated else [{"node": draw(st.sampled_from(NODES)), "nominated": ""}]
    return replace(old, **draw(st.sampled_from(changes)))


class Scene:
    """Pods with a cluster and a queue."""

    def __init__(self) -> None:
        self.cluster = Cluster()
        for name in NODES:
            self.cluster.put_node(msgspec.convert(node(name), Node))
        self.queue = SchedulingQueue(lambda: 0, lambda pod: None)
        self.attempts: list[Assumption] = []
        self.pods = Pods(self.cluster, self.queue, lambda pod: pod.spec.scheduler_name == "ours")

    def relist(self, truths: dict[str, Truth]) -> None:
        """Deliver a list, as the reflector does after a gap in the watch."""
        unseen = self.pods.keys()
        for each in truths.values():
            if each.phase == "Pending":
                unseen.discard(("d", each.name))
                self.pods.put(each.read())
        for key in unseen:
            self.pods.delete(key, None)

    def watch(self, before: dict[str, Truth], after: dict[str, Truth]) -> None:
        """Deliver the events between two states."""
        for name in NAMES:
            old, new = before.get(name), after.get(name)
            if old is not None and old.phase == "Pending" and (new is None or new.uid != old.uid):
                self.pods.delete(("d", name), old.read())
            if new is not None and new != old:
                self.pods.put(new.read())

    def assume(self, name: str) -> None:
        """Place a pending pod, as an attempt does before its binding."""
        key = f"d/{name}"
        pod = self.pods.waiting.get(key)
        if pod is not None and key not in self.pods.assumed and not pod.terminating and not pod.spec.scheduling_gates:
            self.queue.delete(key)
            self.cluster.bind(key, self.cluster.pod_class(pod), 0)
            self.attempts.append(self.pods.assume(key, pod, NODES[0]))

    def forget_assumed(self) -> None:
        """Let all bindings fail, so that only the API server's state is left."""
        for each in self.attempts:
            self.pods.forget(each)
            pod = self.pods.waiting.get(each.key)
            if pod is not None and pod.metadata.uid == each.pod.metadata.uid and each.key not in self.pods.assumed:
                self.queue.add(pod, each.key)
                self.pods.promise(each.key, None)

    def known(self) -> tuple[object, ...]:
        """Return everything that decides on later placements."""
        cluster, pods = self.cluster, self.pods
        return (
            {key: each.metadata.uid for key, each in pods.waiting.items()},
            pods.assigned,
            {key: (row, cluster.on_node[row][key].counted) for key, row in cluster.placed.items()},
            cluster.nodes.used.tolist(),
            {key: cluster.nominated_node(key) for key in pods.waiting},
        )

    def queued(self) -> set[tuple[str, str | None]]:
        """Return name and uid of the pods in the queue."""
        queue = self.queue
        infos = (*queue.active.items, *queue.backoff.infos, *queue.unschedulable.infos)
        return {(each.key, each.pod.metadata.uid) for each in infos}


@given(histories())
def test_after_any_gaps_the_state_is_that_of_a_fresh_start(
    history: list[tuple[dict[str, Truth], bool, str]],
) -> None:
    scene, seen = Scene(), dict[str, Truth]()
    for truths, is_delivered, placed in history:
        if is_delivered:
            scene.watch(seen, truths)
            seen = truths
        scene.assume(placed)
    last = history[-1][0] if history else {}
    scene.relist(last)
    scene.forget_assumed()
    fresh = Scene()
    fresh.relist(last)
    assert scene.known() == fresh.known()
    assert {each for each in scene.queued() if each[0] in scene.pods.waiting} >= {
        (key, each.metadata.uid) for key, each in scene.pods.waiting.items() if not each.terminating
    }
    assert {key for key, _ in scene.queued()} <= scene.pods.waiting.keys()


def test_a_bound_pod_makes_room_when_another_schedulers_pod_has_its_name() -> None:
    scene = Scene()
    scene.relist({"a": Truth("a", "first", 1, node="n0")})
    scene.relist({"a": Truth("a", "second", 9, scheduler="other")})
    assert (scene.pods.assigned, scene.cluster.placed) == ({}, {})


def test_the_late_deletion_of_a_former_pod_leaves_the_current_one() -> None:
    scene = Scene()
    scene.pods.put(Truth("a", "second", 9, node="n0").read())
    scene.pods.delete(("d", "a"), Truth("a", "first", 5).read())
    assert scene.pods.assigned == {"d/a": "second"}
