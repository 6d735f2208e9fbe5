"""Each node's first rejection by filters that read only the node, kept up to date."""

from __future__ import annotations

import numpy as np

from tests.unit.plugins.storage_builders import cluster, node, place, pod
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.cluster import Cluster
from topospread.scheduling.own_rejections import OwnRejections
from topospread.scheduling.verdict import RejectionList

from .test_dry_run import FRAMEWORK

BIG = [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]


def rejections(found: OwnRejections, made: Cluster) -> dict[str, str]:
    """Rejected node → reason, the same by row and for all rows at once."""
    listed = RejectionList("ns/p")
    rows = np.flatnonzero(made.nodes.alive)
    blamed = found.blame(rows, listed)
    result = {}
    for row, number in zip(rows.tolist(), blamed.tolist(), strict=True):
        assert found.passes(row) == (number < 0)
        assert found.rejection(row) == (listed.rejections[number] if number >= 0 else None)
        if number >= 0:
            result[made.nodes.names[row]] = listed.rejections[number].reasons[0]
    return result


def test_rejections_follow_pods_and_nodes() -> None:
    made = cluster({})
    for name in ("small", "large", "tainted"):
        made.add_node(node(name, {}, allocatable={"cpu": "2" if name == "small" else "4", "pods": "9"}))
    tainted = node("tainted", {}, allocatable={"cpu": "2", "pods": "9"})
    tainted.spec.taints = [UNSCHEDULABLE_TAINT]
    made.put_node(tainted)
    taint = "node(s) had untolerated taint(s)"
    pod_class = made.pod_class(pod(containers=BIG))
    found = OwnRejections(made, FRAMEWORK.prepare(pod_class, made))
    assert rejections(found, made) == {"small": "Insufficient cpu", "tainted": taint}, "the first filter's reason"
    position = made.journal.position
    place(made, pod(name="there", containers=BIG), "large")
    made.delete_node("small")
    assert found.catch_up()
    assert rejections(found, made) == {"large": "Insufficient cpu", "tainted": taint}
    moved = [found.moved_since(made.nodes.row_of[name], position) for name in ("large", "tainted")]
    assert moved == [True, False]
