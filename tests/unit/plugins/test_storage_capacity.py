"""Published storage capacity, through whole verdicts."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.judging.cases import judge_case

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"


def node(name: str, zone: str) -> Json:
    return {"metadata": {"name": name, "labels": {ZONE: zone}}, "status": {"allocatable": {"pods": "9"}}}


def pool(zone: str, capacity: str, **more: str) -> Json:
    topology = {"matchLabels": {ZONE: zone}}
    return {
        "metadata": {"name": zone},
        "storageClassName": "fast",
        "nodeTopology": topology,
        "capacity": capacity,
    } | more


def verdict(capacities: list[Json], version: str = "1.37", **driver: bool) -> Json:
    storage_class = {"metadata": {"name": "fast"}, "provisioner": "csi", "volumeBindingMode": "WaitForFirstConsumer"}
    asks = {"storageClassName": "fast", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    pod = {"metadata": {"name": "p", "namespace": "d"}, "spec": {"containers": [{"name": "c"}], "volumes": [volume]}}
    case = {
        "kubeVersion": version,
        "nodes": [node("a", "x"), node("b", "y")],
        "incoming": [pod],
        "storageClasses": [storage_class],
        "persistentVolumeClaims": [{"metadata": {"name": "c", "namespace": "d"}, "spec": asks}],
        "csiDrivers": [{"metadata": {"name": "csi"}, "spec": driver}] if driver else [],
        "csiStorageCapacities": capacities,
    }
    found: Json = judge_case(case)["verdicts"][0]
    return found


def test_a_node_without_a_pool_that_is_large_enough_is_rejected() -> None:
    found = verdict([pool("x", "10Gi"), pool("y", "1Gi")], storageCapacity=True)
    assert found["feasible"] == ["a"]
    assert found["rejected"]["b"]["reasons"] == ["node(s) did not have enough free storage"]


def test_nothing_is_checked_for_drivers_that_publish_nothing() -> None:
    assert verdict([pool("y", "1Gi")])["feasible"] == ["a", "b"]
    assert verdict([pool("y", "1Gi")], storageCapacity=False)["feasible"] == ["a", "b"]


def test_a_maximum_size_decides_where_it_is_given() -> None:
    limited = pool("x", "10Gi", maximumVolumeSize="1Gi")
    assert verdict([limited, pool("y", "10Gi")], storageCapacity=True)["feasible"] == ["b"]


@pytest.mark.parametrize(("version", "feasible"), [("1.20", ["a", "b"]), ("1.21", ["a"])])
def test_versions_before_the_gate_was_on_check_nothing(version: str, feasible: list[str]) -> None:
    assert verdict([pool("x", "10Gi"), pool("y", "1Gi")], version, storageCapacity=True)["feasible"] == feasible


def test_the_fuller_pool_is_scored_lower_or_higher_by_the_shape() -> None:
    scores = verdict([pool("x", "100Gi"), pool("y", "2Gi")], storageCapacity=True)["scores"]
    assert scores["a"]["VolumeBinding"] != scores["b"]["VolumeBinding"]
    assert "VolumeBinding" not in verdict([pool("x", "100Gi")], "1.36", storageCapacity=True)["scores"]["a"]
