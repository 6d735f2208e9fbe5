"""Until 1.31 queueing hints are off: every event that a plugin is registered for moves pods that it rejected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.cluster_event import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ALLOCATABLE,
    NODE_LABEL,
    NODE_TAINT,
    ClusterEvent,
)
from topospread.scheduling.framework import Framework
from topospread.scheduling.queue import SchedulingQueue
from topospread.scheduling.requeueing import EventWithObjects, QueueingStrategy, Requeueing, requeueing_of

RELABELLED = ClusterEvent("Node", NODE_LABEL)


def _requeueing(version: str, switched: Mapping[str, bool] | None = None) -> Requeueing:
    gates = gates_for(version, switched or {})
    return requeueing_of(Framework(default_profile(version, gates), gates), Cluster())


def _pod(name: str, *, node: str = "", app: str = "web", namespace: str = "d", **spec: Any) -> Pod:
    metadata = {"name": name, "namespace": namespace, "uid": name, "labels": {"app": app}}
    return msgspec.convert({"metadata": metadata, "spec": {"nodeName": node or None, **spec}}, Pod)


def _near(app: str) -> Pod:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": app}}}
    return _pod("near", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}})


def _moves(
    version: str, pod: Pod, plugin: str, happening: EventWithObjects, switched: Mapping[str, bool] | None = None
) -> bool:
    found = _requeueing(version, switched).strategy(pod, frozenset([plugin]), frozenset(), happening)
    return found is not QueueingStrategy.SKIP


@pytest.mark.parametrize(("version", "moves"), [("1.27", True), ("1.31", True), ("1.32", False), ("1.37", False)])
def test_without_hints_an_event_moves_a_pod_that_it_cannot_help(version: str, moves: bool) -> None:
    node = msgspec.convert({"metadata": {"name": "n1", "labels": {"x": "y"}}}, Node)
    pod = _pod("p", nodeSelector={"disk": "ssd"})
    assert _moves(version, pod, "NodeAffinity", EventWithObjects(RELABELLED, node, node)) is moves


@pytest.mark.parametrize(("version", "moves"), [("1.30", False), ("1.31", True), ("1.37", False)])
def test_a_pod_that_comes_moves_those_that_spread_rejected_in_its_namespace(version: str, moves: bool) -> None:
    came = EventWithObjects(ASSIGNED_POD_ADD, None, _pod("there", node="n1", app="db"))
    assert _moves(version, _pod("p"), "PodTopologySpread", came) is moves
    elsewhere = EventWithObjects(ASSIGNED_POD_ADD, None, _pod("there", node="n1", namespace="other"))
    assert not _moves(version, _pod("p"), "PodTopologySpread", elsewhere)


@pytest.mark.parametrize("version", ["1.27", "1.31", "1.37"])
def test_a_pod_that_comes_moves_those_that_want_to_be_near_it(version: str) -> None:
    came = EventWithObjects(ASSIGNED_POD_ADD, None, _pod("there", node="n1", app="db"))
    assert _moves(version, _near("db"), "InterPodAffinity", came)
    assert not _moves(version, _near("web"), "InterPodAffinity", came)


def test_a_pod_that_goes_moves_whoever_waits_for_pods_to_go() -> None:
    gone = EventWithObjects(ASSIGNED_POD_DELETE, _pod("there", node="n1", app="db"), None)
    assert _moves("1.31", _pod("p"), "NodePorts", gone)
    assert not _moves("1.37", _pod("p"), "NodePorts", gone)


@pytest.mark.parametrize(("version", "waits"), [("1.31", False), ("1.37", True)])
def test_without_hints_whatever_happened_while_a_pod_was_tried_brings_it_back(version: str, waits: bool) -> None:
    requeueing = _requeueing(version)
    queue = SchedulingQueue(lambda: 0, lambda _: requeueing)
    queue.add(_pod("p"))
    info = queue.pop()
    assert info is not None
    queue.assigned_pod_added(_pod("there", node="n1", namespace="other"))
    queue.add_unschedulable(info, ["NodeResourcesFit"])
    assert ("d/p" in queue.unschedulable) is waits


@pytest.mark.parametrize(
    ("plugin", "action", "versions"),
    [
        ("InterPodAffinity", NODE_TAINT, {"1.21", "1.30", "1.31", "1.32", "1.33"}),
        ("VolumeRestrictions", NODE_TAINT, {"1.21", "1.30", "1.31", "1.32", "1.33"}),
        ("VolumeRestrictions", NODE_LABEL, {"1.21", "1.32", "1.33"}),
        ("PodTopologySpread", NODE_TAINT, {"1.21", "1.30", "1.31", "1.32", "1.33"}),
        ("NodeUnschedulable", NODE_ALLOCATABLE, {"1.21", "1.30", "1.31"}),
        ("NodeName", NODE_ALLOCATABLE, {"1.21", "1.22", "1.29", "1.30", "1.31"}),
        ("NodeResourcesFit", NODE_LABEL, {"1.21", "1.22", "1.29", "1.30", "1.31", "1.32", "1.33"}),
        ("NodeResourcesFit", NODE_TAINT, {"1.21", "1.22", "1.29", "1.30", "1.31", "1.32", "1.33"}),
        ("VolumeZone", NODE_ALLOCATABLE, {"1.21"}),
    ],
)
def test_without_hints_changes_of_nodes_move_those_that_the_version_registers(
    plugin: str, action: int, versions: set[str]
) -> None:
    node = msgspec.convert({"metadata": {"name": "n1"}}, Node)
    changed = EventWithObjects(ClusterEvent("Node", action), node, node)
    tried = ("1.21", "1.22", "1.29", "1.30", "1.31", "1.32", "1.33")
    off = {"SchedulerQueueingHints": False}
    moved = {
        version for version in tried if _moves(version, _pod("p"), plugin, changed, off if version > "1.31" else {})
    }
    assert moved == versions
