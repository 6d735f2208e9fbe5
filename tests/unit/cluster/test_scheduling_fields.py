"""Updates that scheduling does not read are the same to it; updates of what it reads are not."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from topospread.api.kinds import KINDS
from topospread.cluster.scheduling_fields import same_to_scheduling

Json = dict[str, Any]
SELECTOR: Json = {"selector": {"a": "b"}}


def item(kind: str, metadata: Json | None = None, **more: Any) -> Any:
    more |= {"provisioner": "p"} if kind == "StorageClass" else {}
    return msgspec.convert({"metadata": {"name": "x"} | (metadata or {})} | more, KINDS[kind].struct)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (item("Node", {"resourceVersion": "1"}), item("Node", {"resourceVersion": "2", "annotations": {"a": "b"}})),
        (item("Node"), item("Node", status={"conditions": [{"type": "Ready", "status": "True"}]})),
        (item("Namespace"), item("Namespace", {"annotations": {"a": "b"}})),
        (item("Service", spec=SELECTOR), item("Service", {"labels": {"a": "b"}}, spec=SELECTOR)),
        (item("CSINode"), item("CSINode", {"labels": {"a": "b"}})),
        (item("PodDisruptionBudget"), item("PodDisruptionBudget", {"labels": {"a": "b"}})),
        (item("ReplicationController", spec={"replicas": 1}), item("ReplicationController", spec={"replicas": 2})),
        (item("StorageClass", {"resourceVersion": "1"}), item("StorageClass", {"resourceVersion": "2"})),
    ],
)
def test_the_same(before: Any, after: Any) -> None:
    assert before != after
    assert same_to_scheduling(before, after)
    assert same_to_scheduling(before, before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (item("Node"), item("Node", {"labels": {"a": "b"}})),
        (item("Node"), item("Node", spec={"unschedulable": True})),
        (item("Node"), item("Node", status={"allocatable": {"cpu": "1"}})),
        (item("Node"), item("Node", status={"images": [{"names": ["a"], "sizeBytes": 1}]})),
        (item("Node"), item("Node", status={"declaredFeatures": ["a"]})),
        (item("Namespace"), item("Namespace", {"labels": {"a": "b"}})),
        (item("Service"), item("Service", spec={"selector": {"a": "b"}})),
        (item("ReplicationController"), item("ReplicationController", spec={"selector": {"a": "b"}})),
        (item("PodDisruptionBudget"), item("PodDisruptionBudget", spec={"minAvailable": 1})),
        (item("PodDisruptionBudget"), item("PodDisruptionBudget", status={"disruptionsAllowed": 1})),
        (item("CSINode"), item("CSINode", {"annotations": {"a": "b"}})),
        (item("CSINode"), item("CSINode", spec={"drivers": [{"name": "d", "nodeID": "n"}]})),
        (item("StorageClass"), item("StorageClass", {"labels": {"a": "b"}})),
    ],
)
def test_not_the_same(before: Any, after: Any) -> None:
    assert not same_to_scheduling(before, after)
