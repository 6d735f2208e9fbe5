"""Claims are bound as pods are placed, and the next pod sees it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.why.builders import inventory, node, prepared
from topospread.simulation.result import Simulation
from topospread.simulation.simulate import simulate
from topospread.why.repeated_simulation import RepeatedSimulation

Json = dict[str, Any]
HOST = "kubernetes.io/hostname"
PENDING = "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind."


def storage_class(provisioner: str = "kubernetes.io/no-provisioner", mode: str = "WaitForFirstConsumer") -> Json:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def volume(name: str, on: str, size: str = "1Gi", **spec: Any) -> Json:
    wanted = {"key": HOST, "operator": "In", "values": [on]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "labels": {"disk": name}},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "local",
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}},
            **spec,
        },
    }


def claim_spec(**more: Any) -> Json:
    resources = {"requests": {"storage": "1Gi"}}
    return {"accessModes": ["ReadWriteOnce"], "storageClassName": "local", "resources": resources, **more}


def claim(name: str, **more: Any) -> Json:
    metadata = {"name": name, "namespace": "d"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": claim_spec(**more)}


def pod(name: str, *claims: str, **spec: Any) -> Json:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims]
    containers = [{"name": "c", "image": "x"}]
    metadata = {"name": name, "namespace": "d", "uid": name}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": containers, "volumes": volumes, **spec},
    }


def stateful_set(replicas: int, **claimed: Any) -> Json:
    labels = {"app": "db"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {
            "replicas": replicas,
            "podManagementPolicy": "Parallel",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim_spec(**claimed)}],
        },
    }


def simulated(*objects: Json) -> Simulation:
    return simulate(inventory(node("n1", "a"), node("n2", "b"), *objects))


def nodes_of(result: Simulation) -> dict[str, str | None]:
    return {each.name: each.node for each in result.placements}


def test_of_three_replicas_that_need_local_volumes_the_one_volume_takes_one() -> None:
    result = simulated(storage_class(), volume("pv", "n1"), stateful_set(3))
    assert nodes_of(result) == {"db-0": "n1", "db-1": None, "db-2": None}
    assert {each.message for each in result.pending} == {PENDING}


def test_two_pods_with_a_claim_each_do_not_share_a_volume() -> None:
    result = simulated(
        storage_class(), volume("pv", "n1"), claim("one"), claim("two"), pod("first", "one"), pod("second", "two")
    )
    assert nodes_of(result) == {"first": "n1", "second": None}


def test_two_pods_share_a_claim_and_its_volume() -> None:
    volumes = [volume("pv1", "n1"), volume("pv2", "n2", size="2Gi")]
    result = simulated(storage_class(), *volumes, claim("one"), pod("first", "one"), pod("second", "one"))
    assert nodes_of(result) == {"first": "n2", "second": "n2"}  # less of the larger volume is used


def test_the_second_of_two_pods_on_a_read_write_once_pod_claim_waits() -> None:
    modes = {"accessModes": ["ReadWriteOncePod"]}
    result = simulated(
        storage_class(), volume("pv", "n1", **modes), claim("one", **modes), pod("first", "one"), pod("second", "one")
    )
    assert nodes_of(result) == {"first": "n1", "second": None}
    assert "ReadWriteOncePod access mode" in result.pending[0].message


@pytest.mark.parametrize(
    ("of_claim", "of_volume", "expected"),
    [
        ({}, {"volumeMode": "Block"}, "n1"),
        ({"selector": {"matchLabels": {"disk": "pv2"}}}, {}, "n2"),
        ({"volumeMode": "Block"}, {"volumeMode": "Block"}, "n2"),
        ({"accessModes": ["ReadWriteMany"]}, {"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, "n2"),
        ({}, {"claimRef": {"namespace": "d", "name": "data-db-0"}}, "n2"),
        ({"resources": {"requests": {"storage": "2Gi"}}}, {}, "n2"),
    ],
)
def test_a_replica_goes_where_a_volume_suits_its_claim(of_claim: Json, of_volume: Json, expected: str) -> None:
    volumes = [volume("pv1", "n1"), volume("pv2", "n2", size="4Gi", **of_volume)]
    result = simulated(storage_class(), *volumes, stateful_set(1, **of_claim))
    assert nodes_of(result) == {"db-0": expected}


def test_a_promised_volume_of_other_access_modes_is_never_bound() -> None:
    promised = volume("pv", "n1", claimRef={"namespace": "d", "name": "one"})
    result = simulated(storage_class(), promised, claim("one", accessModes=["ReadWriteMany"]), pod("first", "one"))
    assert nodes_of(result) == {"first": None}
    assert result.pending[0].message.endswith("binding volumes: context deadline exceeded")


def test_a_volume_that_a_claim_names_is_bound_to_it_before_pods_come() -> None:
    volumes = [volume("pv1", "n1"), volume("pv2", "n2")]
    result = simulated(storage_class(), *volumes, claim("one", volumeName="pv2"), pod("first", "one"))
    assert nodes_of(result) == {"first": "n2"}


def test_claims_that_bind_at_once_are_bound_before_the_first_pod() -> None:
    volumes = [volume("large", "n1", size="2Gi"), volume("small", "n2")]
    objects = [storage_class(mode="Immediate"), *volumes, claim("one"), claim("two"), claim("three")]
    pods = [pod(f"p-{name}", name) for name in ("one", "three", "two")]
    result = simulated(*objects, *pods)
    assert nodes_of(result) == {"p-one": "n2", "p-three": "n1", "p-two": None}
    assert "unbound immediate PersistentVolumeClaims" in result.pending[0].message


def test_a_volume_is_made_at_once_for_a_claim_that_nobody_has_seen() -> None:
    seen = claim("seen") | {"status": {"phase": "Pending"}}
    objects = [storage_class("disk.example.com", mode="Immediate"), claim("new"), seen]
    result = simulated(*objects, pod("first", "new"), pod("second", "seen"))
    assert nodes_of(result) == {"first": "n1", "second": None}


def test_a_claim_that_is_provisioned_for_one_pod_holds_the_next_in_its_zone() -> None:
    objects = [storage_class("disk.example.com"), claim("one")]
    pods = [pod("first", "one", nodeSelector={HOST: "n2"}), pod("second", "one", nodeSelector={HOST: "n1"})]
    assert nodes_of(simulated(*objects, *pods)) == {"first": "n2", "second": None}


def test_capacity_that_a_driver_publishes_is_said_not_to_be_used_up() -> None:
    driver = "disk.example.com"
    published = [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": {"name": driver},
            "spec": {"storageCapacity": True},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIStorageCapacity",
            "metadata": {"name": "c", "namespace": "d"},
            "storageClassName": "local",
            "nodeTopology": {},
            "capacity": "1Gi",
        },
    ]
    result = simulated(storage_class(driver), *published, stateful_set(2))
    assert set(nodes_of(result).values()) == {"n1", "n2"}
    assert any(note.startswith(f"2 new volumes of {driver}: the simulation does not") for note in result.notes)


def test_a_rehearsal_frees_the_volumes_it_took() -> None:
    run = prepared(node("n1", "a"), node("n2", "b"), storage_class(), volume("pv", "n1"), stateful_set(2))
    simulation = RepeatedSimulation(run)
    for _ in range(2):
        again = simulation.carry_out()
        assert [again.outcomes[id(each)].placement.node for each in again.queue] == ["n1", None]
        simulation.restore()
        assert run.cluster.objects.persistent_volumes["pv"].spec.claim_ref is None
        assert run.cluster.objects.persistent_volume_claims["d", "data-db-0"].spec.volume_name is None
