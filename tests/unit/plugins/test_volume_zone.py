"""VolumeZone: zone and region labels of volumes."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import (
    ZONE,
    Json,
    claim,
    claimed,
    cluster,
    pod,
    prepare,
    rejections,
    storage_class,
    volume,
)
from topospread.api.inventory import ABSENT
from topospread.api.well_known_labels import REGION
from topospread.plugins.csi_migration import BETA_REGION, BETA_ZONE
from topospread.plugins.volume_zone import REASON, VolumeZone

NODES = {
    "a": {ZONE: "a", REGION: "eu"},
    "b": {ZONE: "b", REGION: "eu"},
    "beta": {BETA_ZONE: "a", BETA_REGION: "eu"},
    "region": {REGION: "eu"},
    "bare": {"disk": "ssd"},
}


@pytest.mark.parametrize(
    ("labels", "rejected"),
    [
        ({ZONE: "a"}, "b beta region"),
        ({ZONE: "a__b"}, "beta region"),
        ({ZONE: " a __ b "}, "beta region"),
        ({ZONE: "a__"}, ""),
        ({ZONE: ""}, ""),
        ({BETA_ZONE: "a"}, "b region"),
        ({ZONE: "a", REGION: "us"}, "a b beta region"),
        ({REGION: "eu"}, "beta"),
        ({"tier": "fast"}, ""),
    ],
)
def test_labels_have_to_agree_where_the_node_has_any(labels: Json, rejected: str) -> None:
    made = cluster(NODES, volume("pv", metadata={"labels": labels}), claim("data", "pv"))
    assert rejections(VolumeZone(), pod(claimed("data")), made) == dict.fromkeys(rejected.split(), (REASON,))


def test_until_1_28_a_beta_label_is_looked_for_as_it_is() -> None:
    made = cluster(NODES, volume("pv", metadata={"labels": {BETA_ZONE: "a"}}), claim("data", "pv"))
    found = rejections(VolumeZone(current_labels=False), pod(claimed("data")), made)
    assert list(found) == ["a", "b", "region"]


@pytest.mark.parametrize(
    ("more", "mode", "words"),
    [
        ({"storageClassName": ""}, "Immediate", "PersistentVolumeClaim had no pv name and storageClass name"),
        ({"storageClassName": "no"}, "Immediate", 'storageclass.storage.k8s.io "no" not found'),
        ({}, None, 'VolumeBindingMode not set for StorageClass "wait"'),
        ({}, "Immediate", "PersistentVolume had no name"),
        ({"volumeName": "gone"}, "Immediate", 'persistentvolume "gone" not found'),
        ({}, "WaitForFirstConsumer", ""),
    ],
)
def test_a_claim_without_a_volume(more: Json, mode: str | None, words: str) -> None:
    made = cluster(NODES, claim("data", **more), storage_class(mode=mode))
    assert rejections(VolumeZone(), pod(claimed("data")), made) == ({"*": (words,)} if words else {})


def test_a_missing_claim() -> None:
    expected = {"*": ('persistentvolumeclaim "data" not found',)}
    assert rejections(VolumeZone(), pod(claimed("data")), cluster(NODES)) == expected


def test_a_claim_that_would_be_created_is_no_hindrance() -> None:
    made = cluster(NODES, claim("data"))
    made.objects.assumed_claims.add(("ns", "data"))
    made.objects.unread = {"StorageClass": ABSENT}
    assert rejections(VolumeZone(), pod(claimed("data")), made) == {}


def test_ephemeral_volumes_are_passed_over() -> None:
    assert prepare(VolumeZone(), pod({"ephemeral": {}}), cluster(NODES)).filter is None
