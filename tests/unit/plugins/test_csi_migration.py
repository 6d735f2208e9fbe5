"""In-tree volumes as their CSI drivers see them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.plugins.storage_builders import HOST, ZONE, Json, csi_node, pod, volume
from topospread.cluster.volume_use import volume_refs
from topospread.plugins.csi_migration import (
    AWS,
    AZURE,
    BETA_REGION,
    BETA_ZONE,
    GCE,
    PX,
    REGION,
    InTree,
    TranslationError,
    counts_as_csi,
    handle,
    has_moved,
    in_tree_plugin,
    inline_handle,
    translated_affinity,
)

GKE, EBS = "topology.gke.io/zone", "topology.ebs.csi.aws.com/zone"


def gce(labels: Json | None = None, where: Json | None = None) -> Any:
    return volume("pv", where, gcePersistentDisk={"pdName": "d"}, metadata={"labels": labels or {}})


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d"),
        ({ZONE: "eu-west1-a"}, "projects/UNSPECIFIED/zones/eu-west1-a/disks/d"),
        ({BETA_ZONE: "eu-west1-b", ZONE: "eu-west1-a"}, "projects/UNSPECIFIED/zones/eu-west1-b/disks/d"),
        ({ZONE: "eu-west1-a__eu-west1-b"}, "projects/UNSPECIFIED/regions/eu-west1/disks/d"),
    ],
)
def test_handle_of_a_gce_disk(labels: Json, expected: str) -> None:
    assert handle(gce(labels)) == expected


@pytest.mark.parametrize(
    ("zones", "words"),
    [
        ("a__b", "zone in unexpected format, expected: {locale}-{region}-{zone}, got: a"),
        ("a-b-c__d-e-f", "multiple or no regions gotten from zones, got: map[a-b:{} d-e:{}]"),
    ],
)
def test_a_regional_gce_disk_needs_one_region(zones: str, words: str) -> None:
    with pytest.raises(TranslationError) as caught:
        handle(gce({ZONE: zones}))
    assert str(caught.value) == f"failed to get region from zones: {words}"


@pytest.mark.parametrize(
    ("given", "expected"), [("vol-1", "vol-1"), ("aws://zone/vol-1", "vol-1"), ("aws:///vol-1", "vol-1"), ("x", "x")]
)
def test_handle_of_an_ebs_disk(given: str, expected: str) -> None:
    source = {"awsElasticBlockStore": {"volumeID": given}}
    assert handle(volume("pv", **source)) == inline_handle(volume_refs(pod(source))[0]) == expected


def test_an_ebs_disk_with_a_strange_name_has_no_handle() -> None:
    with pytest.raises(TranslationError, match=r"Invalid format for AWS volume \(aws://zone/disk\)"):
        handle(volume("pv", awsElasticBlockStore={"volumeID": "aws://zone/disk"}))


@pytest.mark.parametrize("kind", ["Managed", "managed"])
def test_handle_of_a_managed_azure_disk(kind: str) -> None:
    assert handle(volume("pv", azureDisk={"diskName": "d", "diskURI": "/d", "kind": kind})) == "/d"


def test_other_azure_disks_have_no_handle() -> None:
    with pytest.raises(TranslationError, match=r"kind\(Dedicated\) is not supported in csi migration"):
        handle(volume("pv", azureDisk={"diskURI": "/d", "kind": "Dedicated"}))


@pytest.mark.parametrize(
    ("labels", "where", "expected"),
    [
        ({}, {ZONE: ["a"]}, {GKE: ["a"]}),
        ({}, {BETA_ZONE: ["a"], BETA_REGION: ["r"]}, {GKE: ["a"], REGION: ["r"]}),
        ({ZONE: "a__b"}, None, {GKE: ["a", "b"]}),
        ({ZONE: "a"}, {HOST: ["h"]}, {HOST: ["h"], GKE: ["a"]}),
        ({BETA_ZONE: "b"}, None, {GKE: ["b"]}),
        ({ZONE: "a"}, {ZONE: ["b"]}, {GKE: ["b"]}),
        ({BETA_ZONE: "b"}, {ZONE: ["a"]}, {GKE: ["a"]}),
        ({ZONE: " "}, {HOST: ["h"]}, {HOST: ["h"]}),
        ({}, None, None),
    ],
)
def test_topology_in_the_drivers_labels(labels: Json, where: Json | None, expected: Json | None) -> None:
    found = translated_affinity(gce(labels, where), GCE)
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found.required is not None
    terms = found.required.node_selector_terms or []
    assert [{each.key: each.values for each in term.match_expressions or ()} for term in terms] == [expected]


def test_azure_disks_keep_their_topology() -> None:
    each = volume("pv", {ZONE: ["a"]}, azureDisk={"diskURI": "/d"})
    assert translated_affinity(each, AZURE) is each.spec.node_affinity


@pytest.mark.parametrize(
    ("plugin", "minor", "annotated", "moved", "counts"),
    [
        (AWS, 22, True, False, False),
        (AWS, 23, True, True, True),
        (AWS, 26, False, False, False),
        (AWS, 27, False, False, True),
        (GCE, 27, False, False, False),
        (GCE, 28, False, False, True),
        (PX, 30, True, False, False),
        (PX, 35, True, True, True),
        (PX, 35, False, False, False),
        (PX, 36, False, False, True),
    ],
)
def test_when_a_plugin_has_moved(plugin: InTree, minor: int, annotated: bool, moved: bool, counts: bool) -> None:
    each = csi_node("n", f"kubernetes.io/other,{plugin.name}" if annotated else "kubernetes.io/other")
    assert has_moved(plugin, each, minor) is moved
    assert counts_as_csi(plugin, each, minor) is counts
    assert not counts_as_csi(plugin, None, minor)


def test_volumes_of_no_such_plugin() -> None:
    assert in_tree_plugin(volume("pv", nfs={"server": "s"}).spec) is None
    assert in_tree_plugin(gce().spec) is GCE
