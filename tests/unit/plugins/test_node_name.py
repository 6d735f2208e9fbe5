"""NodeName: a pod that names a node runs there or nowhere."""

from __future__ import annotations

from tests.unit.plugins.storage_builders import cluster, node, pod, prepare, rejections
from topospread.plugins.cluster_event import ADD, ClusterEvent
from topospread.plugins.interface import UNRESOLVABLE
from topospread.plugins.node_name import NodeName, NodeNameRules

REASON = "node(s) didn't match the requested node name"


def test_every_other_node_is_rejected_for_good() -> None:
    made = cluster({"a": {}, "b": {}, "c": {}})
    assert rejections(NodeName(), pod(nodeName="b"), made) == {"a": (REASON,), "c": (REASON,)}
    assert set(rejections(NodeName(), pod(nodeName="away"), made)) == {"a", "b", "c"}
    prepared = prepare(NodeName(), pod(nodeName="b"), made)
    assert prepared.filter is not None
    assert prepared.filter.status(1).code == UNRESOLVABLE
    assert prepared.narrowed == {"b"}
    old = NodeName(NodeNameRules(narrows=False, reason="old words"))
    assert prepare(old, pod(nodeName="b"), made).narrowed is None
    assert rejections(old, pod(nodeName="b"), made)["a"] == ("old words",)


def test_a_pod_that_names_none_is_not_filtered() -> None:
    prepared = prepare(NodeName(), pod(), cluster({"a": {}}))
    assert (prepared.filter, prepared.narrowed) == (None, None)


def test_only_a_node_that_comes_may_help() -> None:
    made = cluster({})
    made.add_node(node("a", {}))
    assert [each.event for each in NodeName().events_to_register(made)] == [ClusterEvent("Node", ADD)]
