"""The claims of a pod and what the cluster knows of them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.plugins.storage_builders import ZONE, claim, claimed, cluster, pod, storage_class, volume, zonal
from topospread.api.inventory import ABSENT
from topospread.api.storage import (
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from topospread.cluster.objects import ObjectKey
from topospread.plugins.pod_volumes import (
    claim_uid,
    is_bound,
    is_owned,
    pod_claims,
    reach_mask,
    selected_node,
    storage_class_of,
    unread_volumes,
    volume_reads,
)

EPHEMERAL = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}


def test_claims_come_in_the_order_of_the_volumes_with_those_of_ephemeral_ones() -> None:
    made = cluster({}, claim("data"))
    found = list(pod_claims(pod(EPHEMERAL, {"emptyDir": {}}, claimed("data")), made.objects))
    assert [(each.name, each.claim is not None, each.ephemeral) for each in found] == [
        ("p-v0", False, True),
        ("data", True, False),
    ]


def test_kinds_that_are_not_known_keep_a_pod_from_being_judged() -> None:
    made = cluster({}, claim("data"))
    made.objects.unread = {"PersistentVolume": "Forbidden"}
    found = unread_volumes(pod(claimed("data")), made.objects)
    assert found is not None
    assert "PersistentVolume objects are not known: Forbidden" in str(found)
    made.objects.unread = {"Service": "Forbidden"}
    assert unread_volumes(pod(claimed("data")), made.objects) is None


def test_a_kind_that_the_input_lacks_matters_only_for_missing_claims() -> None:
    made = cluster({}, claim("data"))
    made.objects.unread = {"PersistentVolumeClaim": ABSENT}
    assert unread_volumes(pod(claimed("data")), made.objects) is None
    assert unread_volumes(pod(claimed("other")), made.objects) is not None


def test_a_bound_claim_reads_its_volume_and_an_unbound_one_all_volumes() -> None:
    made = cluster({}, claim("bound", "pv"), claim("free"))
    always = {(StorageClass, ""), (CSIDriver, "")}
    assert volume_reads(pod(claimed("bound")), made.objects) == always | {
        ObjectKey(PersistentVolumeClaim, ("ns", "bound")),
        ObjectKey(PersistentVolume, "pv"),
    }
    assert volume_reads(pod(claimed("free")), made.objects) == always | {
        ObjectKey(PersistentVolumeClaim, ("ns", "free")),
        (PersistentVolume, ""),
        (CSIStorageCapacity, ""),
    }
    assert volume_reads(pod(claimed("gone")), made.objects) == always | {
        ObjectKey(PersistentVolumeClaim, ("ns", "gone"))
    }


def test_a_claim_is_bound_once_the_controller_said_so() -> None:
    assert is_bound(claim("c", "pv"))
    assert not is_bound(claim("c"))
    assert not is_bound(claim("c", volumeName="pv"))


def test_the_old_annotation_of_the_class_comes_before_the_field() -> None:
    old = {"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}}
    assert storage_class_of(claim("c", metadata=old)) == "old"
    assert storage_class_of(claim("c")) == "wait"
    assert storage_class_of(claim("c", storageClassName=None)) == ""
    assert storage_class_of(volume("v", metadata=old)) == "old"
    assert storage_class_of(volume("v")) == "wait"


def test_a_claim_without_a_uid_is_known_by_its_name() -> None:
    assert claim_uid(claim("c")) == "uid-c"
    assert claim_uid(claim("c", metadata={"uid": None})) == "ns-c"


def test_the_controller_of_a_claim_is_its_pod_alone() -> None:
    owners = [{"kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}]
    assert is_owned(claim("c", metadata={"ownerReferences": owners}), "uid-p")
    assert not is_owned(claim("c", metadata={"ownerReferences": owners}), "uid-q")
    assert not is_owned(claim("c"), "uid-p")


def test_the_selected_node_is_an_annotation() -> None:
    chosen = {"annotations": {"volume.kubernetes.io/selected-node": "n0"}}
    assert selected_node(claim("c", metadata=chosen)) == "n0"
    assert selected_node(claim("c")) is None


@pytest.mark.parametrize(
    ("fields", "reached"), [(None, ["n0"]), ([{"key": "metadata.name", "operator": "In", "values": ["n1"]}], ["n0"])]
)
def test_only_labels_decide_which_nodes_reach_a_volume(fields: object, reached: list[str]) -> None:
    made = cluster(zonal(n0="a", n1="b"), storage_class())
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}], "matchFields": fields}
    given = volume("v", nodeAffinity={"required": {"nodeSelectorTerms": [term]}})
    mask = reach_mask(given.spec.node_affinity, made.nodes)
    assert mask is not None
    found = mask(np.arange(made.nodes.size))
    assert [name for name, row in made.nodes.row_of.items() if found[row]] == reached
    assert reach_mask(None, made.nodes) is None
