"""Evictions from nodes that have NoExecute taints."""

from __future__ import annotations

from tests.unit.drill.builders import at, node, nodes, running, told
from tests.unit.drill.test_unaffected import as_stateful_set
from tests.unit.rebalance.builders import standing
from topospread.drill.steps import Cordon, Fail


def test_pods_leave_a_node_that_is_tainted_at_the_beginning() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
    lost = node("a1", "a", taints=taints)
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    found = told([lost, *nodes("b", "c"), *running(True, True, True)], Cordon(at("zone=c")))
    assert [(each.kind, each.at) for each in found.steps[0].events] == [("evicted", 300.0), ("placed", 300.0)]
    assert ["terminating on a NotReady node" in each for each in found.steps[0].remarks] == [True]


def test_a_node_that_is_not_ready_cannot_fail_and_its_lost_pods_are_not_of_the_steps() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
    db = as_stateful_set(standing({"a1": 1, "b1": 1, "c1": 1}, name="db"), "Parallel")
    objects = [node("a1", "a", taints=taints), *nodes("b", "c"), *db]
    again = told(objects, Fail(at("node=a1"))).answer()
    assert again.says == "2 pods are ready after 1 step, and no pod is newly pending"
    assert "warning: fail node=a1: its nodes are NotReady already" in again.text()
    assert "0 nodes stopped answering" not in again.text()
    more = told(objects, Fail(at("node=b1"))).answer()
    assert more.says == "2 pods of StatefulSets are not replaced: shop/db has 1 of 3"
