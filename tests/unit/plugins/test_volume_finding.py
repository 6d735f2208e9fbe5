"""Volumes for claims on each node: bound, chosen among those there are, or provisioned; and their score."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.plugins.storage_builders import (
    HOST,
    ZONE,
    Json,
    claim,
    claimed,
    cluster,
    csi_node,
    pod,
    prepare,
    rejections,
    storage_class,
    volume,
    zonal,
)
from topospread.api.inventory import ABSENT
from topospread.config.args import ShapePoint
from topospread.plugins.volume_binding import VolumeBinding
from topospread.plugins.volume_finding import REASON_CONFLICT, REASON_GONE, REASON_NO_VOLUME, VolumeBindingRules

NODES = zonal(a0="a", a1="a", b0="b")
FALLING = (ShapePoint(0, 10), ShapePoint(100, 0))
LOCAL = storage_class(provisioner="kubernetes.io/no-provisioner")


def only(names: str, reason: str = REASON_NO_VOLUME) -> Json:
    """All other nodes are rejected for a reason."""
    return {name: (reason,) for name in NODES if name not in names.split()}


def test_a_bound_volume_has_to_be_reached() -> None:
    made = cluster(NODES, volume("pv", {ZONE: ["b"]}), claim("data", "pv"))
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only("b0", REASON_CONFLICT)


def test_a_bound_volume_without_affinity_is_reached_from_everywhere() -> None:
    made = cluster(NODES, volume("pv"), claim("data", "pv"))
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == {}


def test_the_first_bound_claim_that_fails_gives_the_reason() -> None:
    made = cluster(NODES, volume("pv", {ZONE: ["b"]}), claim("data", "pv"), claim("gone", "no"))
    found = rejections(VolumeBinding(), pod(claimed("data"), claimed("gone")), made)
    assert found == {"a0": (REASON_CONFLICT,), "a1": (REASON_CONFLICT,), "b0": (REASON_GONE,)}
    assert rejections(VolumeBinding(), pod(claimed("gone"), claimed("data")), made) == only("", REASON_GONE)


def test_several_reasons_stand_together() -> None:
    elsewhere = volume("pv", {ZONE: ["b"]}, storageClassName="now")
    made = cluster(NODES, LOCAL, elsewhere, claim("data", "pv"), claim("new"))
    found = rejections(VolumeBinding(), pod(claimed("new"), claimed("data")), made)
    assert found["a0"] == (REASON_CONFLICT, REASON_NO_VOLUME)
    assert found["b0"] == (REASON_NO_VOLUME,)


def test_fields_of_nodes_are_passed_over() -> None:
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a0"]}]}]
    broken = [{"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}]
    for selector, expected in ((terms, {}), (broken, only("", REASON_CONFLICT))):
        made = cluster(
            NODES, volume("pv", nodeAffinity={"required": {"nodeSelectorTerms": selector}}), claim("c", "pv")
        )
        assert rejections(VolumeBinding(), pod(claimed("c")), made) == expected


def test_an_in_tree_volume_is_looked_for_in_its_drivers_labels_where_the_node_has_moved() -> None:
    source = {"gcePersistentDisk": {"pdName": "d"}, "metadata": {"labels": {ZONE: "a"}}}
    nodes = zonal(moved="a", there="a") | {"labelled": {ZONE: "a", "topology.gke.io/zone": "a"}}
    moved = [csi_node(name, "kubernetes.io/gce-pd") for name in ("moved", "labelled")]
    made = cluster(nodes, volume("pv", {ZONE: ["a"]}, **source), claim("c", "pv"), *moved)
    assert rejections(VolumeBinding(), pod(claimed("c")), made) == {"moved": (REASON_CONFLICT,)}


def test_a_volume_that_cannot_be_translated_fails_the_nodes_that_have_moved() -> None:
    source = {"azureDisk": {"diskURI": "/d", "kind": "Dedicated"}}
    made = cluster(NODES, volume("pv", **source), claim("c", "pv"), csi_node("a0", "kubernetes.io/azure-disk"))
    words = "could not translate pv: kind(Dedicated) is not supported in csi migration"
    expected = {"a0": (f'error: running "VolumeBinding" filter plugin: {words}',)}
    assert rejections(VolumeBinding(), pod(claimed("c")), made) == expected


ALLOWED = {"matchLabelExpressions": [{"key": ZONE, "values": ["b", "c"]}]}
EMPTY: Json = {"matchLabelExpressions": []}
BROKEN = {"matchLabelExpressions": [{"key": ZONE, "values": []}]}


@pytest.mark.parametrize(
    ("terms", "feasible"),
    [(None, "a0 a1 b0"), ([], "a0 a1 b0"), ([ALLOWED], "b0"), ([EMPTY], ""), ([BROKEN], ""), ([BROKEN, ALLOWED], "b0")],
)
def test_a_volume_is_made_in_the_topologies_that_its_class_allows(terms: list[Json] | None, feasible: str) -> None:
    made = cluster(NODES, claim("data"), storage_class(allowedTopologies=terms))
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only(feasible)


def test_without_a_provisioner_a_volume_has_to_be_there() -> None:
    made = cluster(NODES, claim("data"), LOCAL, volume("pv", {HOST: ["a1"]}))
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only("a1")


@pytest.mark.parametrize(
    ("of_volume", "of_claim", "fits"),
    [
        ({}, {}, True),
        ({"size": "1025Mi"}, {"size": "1Gi"}, True),
        ({"size": "1023Mi"}, {"size": "1Gi"}, False),
        ({"storageClassName": "other"}, {}, False),
        ({"metadata": {"annotations": {"volume.beta.kubernetes.io/storage-class": "other"}}}, {}, False),
        ({"status": {"phase": "Released"}}, {}, False),
        ({"metadata": {"deletionTimestamp": "t"}}, {}, False),
        ({"volumeMode": "Block"}, {}, False),
        ({"volumeMode": "Block"}, {"volumeMode": "Block"}, True),
        ({"volumeMode": "Filesystem"}, {}, True),
        ({"accessModes": ["ReadWriteOnce"]}, {"accessModes": ["ReadWriteMany"]}, False),
        ({"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, {"accessModes": ["ReadWriteMany"]}, True),
        ({}, {"selector": {"matchLabels": {"tier": "fast"}}}, False),
        ({"metadata": {"labels": {"tier": "fast"}}}, {"selector": {"matchLabels": {"tier": "fast"}}}, True),
        ({"volumeAttributesClassName": "gold"}, {}, False),
        ({"volumeAttributesClassName": "gold"}, {"volumeAttributesClassName": "gold"}, True),
        ({"volumeAttributesClassName": ""}, {}, True),
        ({"claimRef": {"namespace": "ns", "name": "other"}}, {}, False),
        ({"claimRef": {"namespace": "ns", "name": "data", "uid": "other"}}, {}, False),
        ({"claimRef": {"namespace": "ns", "name": "data"}, "status": {"phase": "Pending"}}, {}, True),
        ({"claimRef": {"namespace": "ns", "name": "data", "uid": "uid-data"}}, {}, True),
    ],
)
def test_which_volume_fits_a_claim(of_volume: Json, of_claim: Json, fits: bool) -> None:
    made = cluster(NODES, claim("data", **of_claim), LOCAL, volume("pv", **of_volume))
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only("a0 a1 b0" if fits else "")


def test_a_volume_that_is_promised_is_taken_or_none_is() -> None:
    promised = volume("promised", {ZONE: ["b"]}, size="9Gi", claimRef={"namespace": "ns", "name": "data"})
    made = cluster(NODES, claim("data"), LOCAL, promised, volume("free"))
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only("b0")


def test_two_claims_do_not_get_one_volume() -> None:
    volumes = [volume("small", {ZONE: ["a"]}), volume("large", {HOST: ["a1"]}, size="2Gi")]
    made = cluster(NODES, claim("one"), claim("two"), LOCAL, *volumes)
    assert rejections(VolumeBinding(), pod(claimed("one"), claimed("two")), made) == only("a1")


def test_the_smaller_claim_chooses_first() -> None:
    volumes = [volume("small"), volume("large", {HOST: ["a1"]}, size="2Gi")]
    made = cluster(NODES, claim("big", size="2Gi"), claim("little"), LOCAL, *volumes)
    assert rejections(VolumeBinding(), pod(claimed("big"), claimed("little")), made) == only("a1")


def test_a_claim_that_is_being_provisioned_keeps_its_node() -> None:
    selected = {"annotations": {"volume.kubernetes.io/selected-node": "a1"}}
    made = cluster(NODES, claim("data", metadata=selected), storage_class())
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only("a1")


def test_a_selector_that_does_not_compile_is_an_error() -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "In", "values": []}]}
    made = cluster(NODES, claim("data", selector=selector), storage_class())
    found = rejections(VolumeBinding(), pod(claimed("data")), made)
    assert set(found) == set(NODES)
    assert "error creating internal label selector for claim: ns/data: " in found["a0"][0]


def points(made_pod: Json, *objects: object, shape: tuple[ShapePoint, ...] = FALLING) -> list[int]:
    made = cluster(NODES, *objects)  # type: ignore[arg-type]
    prepared = prepare(VolumeBinding(VolumeBindingRules(shape=shape)), pod(*made_pod["volumes"]), made)
    assert prepared.score is not None
    every = prepared.score.score(slice(0, 3)).tolist()
    assert every == [int(prepared.score.score(np.array([row], dtype=np.int64))[0]) for row in range(3)]
    return every


def test_scores_how_much_of_the_volumes_is_used() -> None:
    volumes = [volume("quarter", {HOST: ["a0"]}, size="4Gi"), volume("whole", {HOST: ["b0"]})]
    one = {"volumes": [claimed("data")]}
    assert points(one, claim("data"), storage_class(), *volumes) == [75, 0, 0]
    rising = (ShapePoint(0, 0), ShapePoint(50, 10), ShapePoint(100, 10))
    assert points(one, claim("data"), storage_class(), *volumes, shape=rising) == [50, 0, 100]


def test_classes_count_alike_and_volumes_of_one_class_add_up() -> None:
    fast = {"storageClassName": "fast"}
    volumes = [volume("a", size="2Gi"), volume("b", size="6Gi"), volume("c", size="10Gi", **fast)]
    claims = [claim("one", size="2Gi"), claim("two", size="2Gi"), claim("three", size="1Gi", **fast)]
    three = {"volumes": [claimed("one"), claimed("two"), claimed("three")]}
    assert points(three, *claims, *volumes, storage_class(), storage_class("fast")) == [70] * 3


@pytest.mark.parametrize(
    ("classes", "feasible"),
    [
        ([], "a0 a1 b0"),
        ([storage_class(allowedTopologies=[ALLOWED])], "b0"),
        ([storage_class(mode="Immediate")], "a0 a1 b0"),
        ([LOCAL], ""),
    ],
)
def test_a_claim_that_would_be_created_can_be_provisioned_where_its_class_allows(
    classes: list[object], feasible: str
) -> None:
    made = cluster(NODES, claim("data"), *classes)  # type: ignore[arg-type]
    made.objects.assumed_claims.add(("ns", "data"))
    made.objects.unread = {} if classes else {"StorageClass": ABSENT}
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == only(feasible)
