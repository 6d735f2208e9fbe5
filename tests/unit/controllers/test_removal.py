"""Which pods a scale-down takes: as the real ReplicaSet and ReplicationController controllers answered."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from tests.unit.controllers.manifests import inventory
from topospread.api.pod import Pod
from topospread.controllers.planner import plan
from topospread.controllers.removal import removal_order

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


def test_where_ages_and_uids_make_no_order_pods_go_as_gos_sort_has_them() -> None:
    """Seen of a real controller: two pods of one second and five of another, in an order of the controller's cache."""
    times = {"08": ("12796ab7", "bb4d089d"), "25": ("03af1691", "ca1a514d", "0de89d80", "4c2d77c8", "5814fcbc")}
    pods = [
        msgspec.convert(
            {"metadata": {"name": uid, "uid": uid, "creationTimestamp": f"2026-11-22T19:31:{second}Z"}}, Pod
        )
        for second, uids in times.items()
        for uid in uids
    ]
    now = datetime(2026, 11, 22, 19, 32, 1, tzinfo=UTC).timestamp()
    order = [each.name for each in removal_order(pods, (), now)]
    assert order[:3] == ["03af1691", "12796ab7", "bb4d089d"]
    assert sorted(order) == sorted(each.name for each in pods)
