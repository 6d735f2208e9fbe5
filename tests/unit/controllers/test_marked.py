"""What controllers write into nodes and volumes of manifests before anything is scheduled."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.controllers.manifests import Json, container, inventory, node, pod, workload
from topospread.api.node import Node
from topospread.controllers.planner import plan
from topospread.simulation.simulate import simulate
from topospread.sources.collection import inherit

CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
OTHER = {"key": "a", "effect": "NoSchedule"}


def cordoned(name: str = "n", *taints: Json, **metadata: str) -> Json:
    made = node(name, zone=f"zone-{name}")
    made["metadata"] |= metadata
    return made | {"spec": {"unschedulable": True, "taints": list(taints)}}


def taints(*objects: Json, version: str = "1.37") -> list[str]:
    (found,) = plan(inventory(*objects), kube_version=version).inventory.nodes
    return [f"{each.key}:{each.effect}" for each in found.spec.taints or ()]


@pytest.mark.parametrize("version", ["1.18", "1.37"])
def test_a_cordoned_node_has_its_taint(version: str) -> None:
    both = ["a:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule"]
    assert taints(cordoned("n", OTHER), version=version) == both
    assert taints(cordoned("n", OTHER, CORDON), version=version) == both
    assert taints(node("n"), version=version) == []


def test_a_node_that_an_api_server_stored_is_as_it_is() -> None:
    assert taints(cordoned(uid="1")) == []


def test_a_cordon_of_a_manifest_in_place_of_a_stored_node_has_its_taint() -> None:
    earlier, later = (
        inventory(each).nodes[0] for each in (node("n") | {"metadata": {"name": "n", "uid": "1"}}, cordoned())
    )
    inherit(earlier, later)
    assert isinstance(later, Node)
    assert [each.key for each in later.spec.taints or ()] == [CORDON["key"]]


def test_a_manifest_changes_neither_the_size_of_a_stored_node_nor_the_spec_of_a_bound_pod() -> None:
    sizes = [{"status": {"allocatable": {"cpu": cpu}}} for cpu in ("4", "400")]
    stored = node("n") | {"metadata": {"name": "n", "uid": "1"}} | sizes[0]
    earlier, later = (inventory(each).nodes[0] for each in (stored, node("n") | sizes[1]))
    inherit(earlier, later)
    assert isinstance(later, Node)
    assert later.status.allocatable == {"cpu": "4"}
    asks = {"requests": {"cpu": "3"}}
    runs = pod("p", node_name="n", uid="2", containers=[container(**asks)])
    before, after = (inventory(each).pods[0] for each in (runs, pod("p", node_name="other")))
    inherit(before, after)
    assert after.spec == before.spec


def test_a_constraint_that_honors_taints_leaves_a_cordoned_domain_out() -> None:
    nodes = [node("a", zone="zone-a"), node("b", zone="zone-b"), cordoned("c")]
    for each in nodes:
        each["status"] = {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}
    constraint = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "nodeTaintsPolicy": "Honor",
    }
    web = workload("Deployment", "web", replicas=9, pod={"topologySpreadConstraints": [constraint]})
    assert not simulate(inventory(*nodes, web)).pending


def volume(claim_ref: Json | None = None, phase: str = "", **spec: Any) -> Json:
    spec |= {"claimRef": claim_ref} if claim_ref else {}
    status = {"status": {"phase": phase}} if phase else {}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": spec, **status}


def claim(uid: str = "", **spec: Any) -> Json:
    metadata = {"name": "data", "namespace": "shop"} | ({"uid": uid} if uid else {})
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


REFERENCE = {"namespace": "shop", "name": "data"}


@pytest.mark.parametrize(
    ("objects", "phase"),
    [
        ([volume()], "Available"),
        ([volume(REFERENCE), claim("1")], "Available"),
        ([volume(REFERENCE | {"uid": "1"}), claim("1")], "Bound"),
        ([volume(REFERENCE | {"uid": "1"}), claim()], "Bound"),
        ([volume(REFERENCE | {"uid": "1"}), claim("2")], "Released"),
        ([volume(REFERENCE | {"uid": "1"})], "Released"),
        ([volume(phase="Failed")], "Failed"),
    ],
)
def test_a_volume_without_a_phase_has_the_one_its_controller_gives(objects: list[Json], phase: str) -> None:
    (found,) = plan(inventory(node("n"), *objects)).inventory.persistent_volumes
    assert found.status is not None
    assert found.status.phase == phase


def test_pods_are_bound_to_volumes_of_manifests() -> None:
    at = {
        "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}]}
    }
    local = volume(
        capacity={"storage": "1Gi"}, accessModes=["ReadWriteOnce"], storageClassName="local", nodeAffinity=at
    )
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local"},
        "provisioner": "kubernetes.io/no-provisioner",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    own = claim(accessModes=["ReadWriteOnce"], storageClassName="local", resources={"requests": {"storage": "1Gi"}})
    own["metadata"]["namespace"] = "default"
    mounted = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
    nodes = [node("a", zone="a"), node("b", zone="b")]
    for each in nodes:
        each["status"] = {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}
    result = simulate(inventory(*nodes, storage_class, local, own, workload("Deployment", "web", pod=mounted)))
    assert [each.node for each in result.placements] == ["b"]
