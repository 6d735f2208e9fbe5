"""How many more pods fit is what cluster-capacity counted on the same clusters.

The counts in `capacity.jsonl` are those of the real cluster-capacity 0.30.0, whose scheduler is kube-scheduler 1.30, on
a real API server: ``python -m conformance.capacity --binary hypercc --count 60 --seed 13 --store FILE``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.capacity import KUBE_VERSION, counts

STORED = [json.loads(line) for line in (Path(__file__).parent / "capacity.jsonl").read_text().splitlines()]


def test_enough_clusters_are_stored_and_most_have_constraints() -> None:
    constrained = [each for each in STORED if each["pod"]["spec"].get("topologySpreadConstraints")]
    assert len(STORED) >= 50
    assert len(constrained) > len(STORED) / 2
    assert len({each["count"] for each in STORED}) > 15


@pytest.mark.parametrize("number", range(len(STORED)))
def test_as_many_fit_as_cluster_capacity_counted(tmp_path: Path, number: int) -> None:
    stored: dict[str, Any] = STORED[number]
    items = [_as_read(each) for each in (*stored["nodes"], *stored["pods"])]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    (tmp_path / "cluster.json").write_text(json.dumps(listed))
    (tmp_path / "pod.json").write_text(json.dumps(stored["pod"]))
    assert stored["count"] in counts(tmp_path / "cluster.json", tmp_path / "pod.json", KUBE_VERSION, (None, 1, 2))


def _as_read(item: dict[str, Any]) -> dict[str, Any]:
    """What an API server says of it: no controller was there to taint nodes that are cordoned."""
    metadata = item["metadata"] | {"uid": f"{item['kind']}-{item['metadata']['name']}", "resourceVersion": "1"}
    return item | {"metadata": metadata | {"creationTimestamp": "2026-01-01T00:00:00Z"}}
