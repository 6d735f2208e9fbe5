"""VolumeBinding's hints: the change of an object that may help a pod, and one that cannot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.plugins.storage_builders import claim, claimed, csi_node, pod, storage_class
from topospread.api.storage import CSIDriver, CSIStorageCapacity
from topospread.plugins.volume_requeueing import VOLUME_REGISTRATIONS, names_claim

HINTS = {each.event.resource: each.hint for each in VOLUME_REGISTRATIONS}
POD = pod(claimed("data"))


def helps(resource: str, old: object, new: object, incoming: object = POD) -> bool:
    hint: Any = HINTS[resource]
    return bool(hint(incoming, old, new))


def driver(tracks: bool | None) -> CSIDriver:
    return msgspec.convert({"metadata": {"name": "disk"}, "spec": {"storageCapacity": tracks}}, CSIDriver)


def capacity(**amounts: str) -> CSIStorageCapacity:
    return msgspec.convert(
        {"metadata": {"name": "c", "namespace": "d"}, "storageClassName": "wait", **amounts}, CSIStorageCapacity
    )


def test_only_the_pods_own_claims_help() -> None:
    assert helps("PersistentVolumeClaim", None, claim("data"))
    assert not helps("PersistentVolumeClaim", None, claim("other"))
    assert not helps("PersistentVolumeClaim", None, claim("data", metadata={"namespace": "elsewhere"}))


def test_the_claim_of_an_ephemeral_volume_is_the_pods() -> None:
    ephemeral = pod({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}})
    assert names_claim(ephemeral, claim("p-v0"))
    assert not names_claim(ephemeral, claim("v0"))


def test_a_class_helps_if_it_is_new_or_its_topologies_changed() -> None:
    moved = storage_class(allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}])
    assert helps("StorageClass", None, storage_class())
    assert helps("StorageClass", storage_class(), moved)
    assert not helps("StorageClass", storage_class(), storage_class(reclaimPolicy="Retain"))


def test_a_csi_node_helps_if_it_is_new_or_its_migration_changed() -> None:
    assert helps("CSINode", None, csi_node("n0"))
    assert helps("CSINode", csi_node("n0"), csi_node("n0", "kubernetes.io/aws-ebs"))
    assert not helps("CSINode", csi_node("n0"), csi_node("n0", disk=3))


def test_a_driver_helps_if_it_stops_tracking_capacity_for_an_inline_volume() -> None:
    inline = pod({"csi": {"driver": "disk"}})
    assert helps("CSIDriver", driver(True), driver(False), inline)
    assert not helps("CSIDriver", driver(True), driver(False))
    assert not helps("CSIDriver", driver(False), driver(False), inline)
    assert not helps("CSIDriver", driver(True), driver(True), inline)


@pytest.mark.parametrize(
    ("old", "new", "more"),
    [
        ({"capacity": "1Gi"}, {"capacity": "2Gi"}, True),
        ({"capacity": "2Gi"}, {"capacity": "2Gi"}, False),
        ({"capacity": "2Gi"}, {"capacity": "1Gi"}, False),
        ({}, {"capacity": "1Gi"}, True),
        ({"capacity": "1Gi"}, {}, False),
        ({"capacity": "9Gi", "maximumVolumeSize": "1Gi"}, {"capacity": "1Gi", "maximumVolumeSize": "2Gi"}, True),
    ],
)
def test_more_capacity_helps_and_the_largest_volume_counts_first(
    old: dict[str, str], new: dict[str, str], more: bool
) -> None:
    assert helps("CSIStorageCapacity", capacity(**old), capacity(**new)) is more
    assert helps("CSIStorageCapacity", None, capacity(**new))
