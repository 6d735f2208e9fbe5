"""Evictions from nodes that have NoExecute taints."""

from __future__ import annotations

from tests.unit.drill.builders import at, node, nodes, running, told
from topospread.drill.steps import Cordon


def test_pods_leave_a_node_that_is_tainted_at_the_beginning() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
    lost = node("a1", "a", taints=taints)
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    found = told([lost, *nodes("b", "c"), *running(True, True, True)], Cordon(at("zone=c")))
    assert [(each.kind, each.at) for each in found.steps[0].events] == [("evicted", 300.0), ("placed", 300.0)]
    assert ["terminating on a NotReady node" in each for each in found.steps[0].remarks] == [True]
