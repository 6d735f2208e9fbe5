"""The volume that a provisioner creates: its driver, its claim and the nodes that reach it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.plugins.storage_builders import HOST, ZONE, Json, claim, cluster, node, storage_class
from topospread.api.meta import KubeObject
from topospread.api.storage import CSINode, PersistentVolume
from topospread.plugins.volume_provisioning import provisioned, provisions

NODE = node("n0", {ZONE: "a", HOST: "n0", "rack": "r1"})


def made(*objects: KubeObject, on_node: bool = True, **fields: Any) -> PersistentVolume:
    known = cluster({}, *objects).objects
    return provisioned(claim("data", size="3Gi", **fields), NODE if on_node else None, known)


def reach(volume: PersistentVolume) -> list[Json]:
    if volume.spec.node_affinity is None:
        return []
    required = volume.spec.node_affinity.required
    assert required is not None
    return [
        {each.key: each.values for each in term.match_expressions or ()} for term in required.node_selector_terms or ()
    ]


def drivers(name: str, keys: list[str] | None) -> CSINode:
    spec = {"drivers": [{"name": name, "topologyKeys": keys}]}
    return msgspec.convert({"metadata": {"name": "n0"}, "spec": spec}, CSINode)


def test_the_volume_has_the_claims_size_and_class_and_is_bound_to_it() -> None:
    volume = made(storage_class())
    assert volume.name == "pvc-uid-data"
    assert (volume.spec.capacity, volume.spec.storage_class_name) == ({"storage": "3Gi"}, "wait")
    assert volume.spec.claim_ref is not None
    assert (volume.spec.claim_ref.namespace, volume.spec.claim_ref.name) == ("ns", "data")
    assert volume.spec.claim_ref.uid == "uid-data"


def test_the_reclaim_policy_is_the_classes_or_delete() -> None:
    assert made(storage_class()).spec.persistent_volume_reclaim_policy == "Delete"
    assert made(storage_class(reclaimPolicy="Retain")).spec.persistent_volume_reclaim_policy == "Retain"


def test_an_in_tree_provisioner_is_its_csi_driver() -> None:
    volume = made(storage_class(provisioner="kubernetes.io/aws-ebs"))
    assert volume.spec.csi is not None
    assert volume.spec.csi.driver == "ebs.csi.aws.com"


def test_nodes_agree_in_the_drivers_topology_keys() -> None:
    assert reach(made(storage_class(), drivers("disk", ["rack"]))) == [{"rack": ["r1"]}]
    assert reach(made(storage_class(), drivers("disk", None))) == []
    assert reach(made(storage_class(), drivers("disk", ["missing"]))) == []


def test_without_the_driver_nodes_agree_in_the_allowed_topologies_or_the_zone() -> None:
    allowed = [{"matchLabelExpressions": [{"key": "rack", "values": ["r1", "r2"]}]}]
    assert reach(made(storage_class(allowedTopologies=allowed), drivers("other", ["x"]))) == [{"rack": ["r1"]}]
    assert reach(made(storage_class())) == [{ZONE: ["a"]}]


def test_without_a_node_the_volume_is_wherever_the_class_allows() -> None:
    allowed = [{"matchLabelExpressions": [{"key": "rack", "values": ["r1", "r2"]}]}]
    assert reach(made(storage_class(allowedTopologies=allowed), on_node=False)) == [{"rack": ["r1", "r2"]}]
    assert reach(made(storage_class(), on_node=False)) == []


@pytest.mark.parametrize(
    ("provisioner", "dynamic"), [("disk", True), ("", False), ("kubernetes.io/no-provisioner", False)]
)
def test_a_class_without_a_provisioner_creates_no_volumes(provisioner: str, dynamic: bool) -> None:
    assert provisions(storage_class(provisioner=provisioner)) is dynamic
    assert not provisions(None)
