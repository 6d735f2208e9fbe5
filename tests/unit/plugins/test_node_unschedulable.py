"""NodeUnschedulable: cordoned nodes are rejected unless the pod tolerates their taint."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.plugins.storage_builders import pod, prepare, rejections
from topospread.api.node import Node
from topospread.cluster import Cluster
from topospread.plugins.cluster_event import ADD, NODE_TAINT, POD_TOLERATION, ClusterEvent
from topospread.plugins.interface import UNRESOLVABLE
from topospread.plugins.node_unschedulable import REASON, NodeUnschedulable

KEY = "node.kubernetes.io/unschedulable"


def node(name: str, cordoned: bool | None = None) -> Node:
    return msgspec.convert({"metadata": {"name": name}, "spec": {"unschedulable": cordoned}}, Node)


def cluster() -> Cluster:
    made = Cluster()
    for each in (node("open"), node("shut", True), node("said", False)):
        made.add_node(each)
    return made


@pytest.mark.parametrize(
    ("tolerations", "rejected"),
    [
        ([], {"shut": (REASON,)}),
        ([{"key": KEY, "operator": "Exists"}], {}),
        ([{"operator": "Exists"}], {}),
        ([{"key": KEY, "operator": "Exists", "effect": "NoSchedule"}], {}),
        ([{"key": KEY, "operator": "Exists", "effect": "NoExecute"}], {"shut": (REASON,)}),
        ([{"key": "other", "operator": "Exists"}], {"shut": (REASON,)}),
    ],
)
def test_cordoned_nodes(tolerations: list[Any], rejected: dict[str, Any]) -> None:
    assert rejections(NodeUnschedulable(), pod(tolerations=tolerations), cluster()) == rejected
    prepared = prepare(NodeUnschedulable(), pod(tolerations=tolerations), cluster())
    assert (prepared.filter is None) == (not rejected)
    assert prepared.filter is None or prepared.filter.status(1).code == UNRESOLVABLE


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, node("a"), True),
        (None, node("a", True), False),
        (node("a", True), node("a"), True),
        (node("a"), node("a"), False),
        (node("a", True), node("a", True), False),
        (node("a"), node("a", True), False),
    ],
)
def test_a_node_helps_once_it_is_open(old: Node | None, new: Node, helps: bool) -> None:
    on_node, on_pod = NodeUnschedulable().events_to_register(Cluster())
    assert (on_node.event, on_pod.event) == (
        ClusterEvent("Node", ADD | NODE_TAINT),
        ClusterEvent("TargetPod", POD_TOLERATION),
    )
    assert on_node.hint(pod(), old, new) == helps


def test_a_new_toleration_helps_if_it_is_the_one() -> None:
    _, on_pod = NodeUnschedulable().events_to_register(Cluster())
    assert on_pod.hint(pod(), pod(), pod(tolerations=[{"key": KEY, "operator": "Exists"}]))
    assert not on_pod.hint(pod(), pod(), pod(tolerations=[{"key": "other", "operator": "Exists"}]))
