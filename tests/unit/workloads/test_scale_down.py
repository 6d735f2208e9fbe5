"""Which pods a scale-down takes: as the real ReplicaSet and ReplicationController controllers answered."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.unit.workloads.manifests import inventory
from topospread.workloads.planner import plan

Json = dict[str, Any]


def recorded() -> Iterator[tuple[Json, list[str]]]:
    """Each case with the names of the pods that were deleted (record_scale_down.py says how)."""
    with gzip.open(Path(__file__).parent / "scale_down.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    return zip(lines[::2], lines[1::2], strict=True)


def test_the_same_pods_are_removed() -> None:
    ranked = 0
    for case, deleted in recorded():
        heard = [{"type": "Ready", "status": "True", "lastHeartbeatTime": case["now"]}]
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": {"conditions": heard}}
        controllers = (*case["replicaSets"], *case["replicationControllers"])
        planned = plan(inventory(node, *controllers, *case["pods"]))
        assert sorted(pod.name for pod in planned.removed) == deleted, case
        ranked += bool(deleted) and any("ownerReferences" in each["metadata"] for each in controllers)
    assert ranked > 50
