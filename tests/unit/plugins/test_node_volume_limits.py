"""NodeVolumeLimits: how many of a driver's volumes a node takes."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import (
    Json,
    claim,
    claimed,
    cluster,
    csi_node,
    node,
    place,
    pod,
    prepare,
    rejections,
    storage_class,
    volume,
    zonal,
)
from topospread.api.storage import PersistentVolume
from topospread.cluster import Cluster
from topospread.plugins.attached_volumes import NodeVolumeLimitsRules, limit_key
from topospread.plugins.node_volume_limits import REASON, NodeVolumeLimits

NODES = zonal(n0="a", n1="a")
FULL = {"n0": (REASON,)}


def csi(name: str, handle: str = "", driver: str = "disk") -> PersistentVolume:
    return volume(name, csi={"driver": driver, "volumeHandle": handle or name})


def with_volumes(limit: int | None, *volumes: PersistentVolume) -> Cluster:
    """Claims ``c-PV`` for volumes; n0 has a limit for driver ``disk``, n1 has no CSINode."""
    claims = [claim(f"c-{each.name}", each.name) for each in volumes]
    return cluster(NODES, csi_node("n0", disk=limit), *volumes, *claims)


@pytest.mark.parametrize(("limit", "expected"), [(0, FULL), (1, FULL), (2, {}), (None, {})])
def test_counts_what_is_there_and_what_is_new(limit: int | None, expected: Json) -> None:
    made = with_volumes(limit, csi("a"), csi("b"))
    place(made, pod(claimed("c-a"), name="there"), "n0")
    assert rejections(NodeVolumeLimits(), pod(claimed("c-b")), made) == expected


def test_a_volume_that_is_there_is_not_new() -> None:
    made = with_volumes(1, csi("a"), csi("b", "a"))
    place(made, pod(claimed("c-a"), name="there"), "n0")
    assert rejections(NodeVolumeLimits(), pod(claimed("c-a")), made) == {}
    assert rejections(NodeVolumeLimits(), pod(claimed("c-b")), made) == {}, "two claims, one handle"


def test_drivers_are_counted_apart() -> None:
    made = with_volumes(1, csi("a"), csi("b", driver="file"))
    place(made, pod(claimed("c-b"), name="there"), "n0")
    assert rejections(NodeVolumeLimits(), pod(claimed("c-a")), made) == {}


def test_keeps_up_with_pods_that_come_and_go() -> None:
    made = with_volumes(1, csi("a"), csi("b"))
    plugin = NodeVolumeLimits()
    each = pod(claimed("c-b"))
    assert rejections(plugin, each, made) == {}
    for name in ("one", "two"):
        place(made, pod(claimed("c-a"), name=name), "n0")
    assert rejections(plugin, each, made) == FULL
    made.unbind("ns/one")
    assert rejections(plugin, each, made) == FULL
    made.unbind("ns/two")
    assert rejections(plugin, each, made) == {}


def test_counts_anew_when_objects_are_added() -> None:
    made = with_volumes(1, csi("a"), csi("b"))
    plugin = NodeVolumeLimits()
    place(made, pod(claimed("c-a"), name="there"), "n0")
    assert rejections(plugin, pod(claimed("c-b")), made) == FULL
    made.objects.add([csi_node("n0", disk=5)])
    assert rejections(plugin, pod(claimed("c-b")), made) == {}


def test_a_claim_without_a_volume_counts_under_its_provisioner() -> None:
    made = with_volumes(1, csi("a"))
    made.objects.add([storage_class(), claim("new"), claim("unknown", storageClassName="no")])
    place(made, pod(claimed("c-a"), name="there"), "n0")
    assert rejections(NodeVolumeLimits(), pod(claimed("new")), made) == FULL
    assert rejections(NodeVolumeLimits(), pod(claimed("unknown")), made) == {}


GCE = {"gcePersistentDisk": {"pdName": "d"}}


@pytest.mark.parametrize(
    ("source", "driver"),
    [
        (GCE, "pd.csi.storage.gke.io"),
        ({"awsElasticBlockStore": {"volumeID": "vol-1"}}, "ebs.csi.aws.com"),
        ({"azureDisk": {"diskName": "d", "diskURI": "/d"}}, "disk.csi.azure.com"),
        ({"cinder": {"volumeID": "d"}}, "cinder.csi.openstack.org"),
        ({"portworxVolume": {"volumeID": "d"}}, "pxd.portworx.com"),
    ],
)
def test_in_tree_disks_count_as_their_drivers(source: Json, driver: str) -> None:
    made = cluster(NODES, csi_node("n0", **{driver: 0}), volume("pv", **source), claim("data", "pv"))
    assert rejections(NodeVolumeLimits(), pod(source), made) == FULL
    assert rejections(NodeVolumeLimits(), pod(claimed("data")), made) == FULL


def test_an_azure_disk_that_is_not_managed_does_not_count_as_a_volume() -> None:
    source = {"azureDisk": {"diskName": "d", "diskURI": "/d", "kind": "Dedicated"}}
    made = cluster(NODES, csi_node("n0", **{"disk.csi.azure.com": 0}), volume("pv", **source), claim("data", "pv"))
    assert rejections(NodeVolumeLimits(), pod(claimed("data")), made) == {}
    words = 'error: running "NodeVolumeLimits" filter plugin: converting volume(/d) from inline to csi: '
    found = rejections(NodeVolumeLimits(), pod(source), made)
    assert found["n0"] == (words + "kind(Dedicated) is not supported in csi migration",)


def test_portworx_moves_where_the_node_says_so_until_1_35() -> None:
    source = {"portworxVolume": {"volumeID": "d"}}
    plugin = NodeVolumeLimits(NodeVolumeLimitsRules(minor=35))
    made = cluster(
        NODES,
        csi_node("n0", **{"pxd.portworx.com": 0}),
        csi_node("n1", "kubernetes.io/portworx-volume", **{"pxd.portworx.com": 0}),
    )
    assert rejections(plugin, pod(source), made) == {"n1": (REASON,)}


def test_a_missing_claim_where_nothing_else_rejects_it() -> None:
    words = 'looking up PVC ns/data: persistentvolumeclaim "data" not found'
    made = cluster(NODES)
    assert rejections(NodeVolumeLimits(), pod(claimed("data")), made) == dict.fromkeys(NODES, (words,))
    until_1_29 = NodeVolumeLimits(NodeVolumeLimitsRules(missing_rejects=False))
    failed = f'error: running "NodeVolumeLimits" filter plugin: {words}'
    assert rejections(until_1_29, pod(claimed("data")), made) == dict.fromkeys(NODES, (failed,))


def test_somebody_elses_ephemeral_claim_fails_the_nodes_that_count() -> None:
    made = with_volumes(5, csi("a"), csi("b"))
    made.objects.add([claim("there-v0", "b")])
    place(made, pod({"ephemeral": {}}, name="there"), "n0")
    place(made, pod({"ephemeral": {}}, name="there"), "n1")
    words = "PVC ns/there-v0 was not created for pod ns/there (pod is not owner)"
    found = rejections(NodeVolumeLimits(), pod(claimed("c-a")), made)
    assert found == {"n0": (f'error: running "NodeVolumeLimits" filter plugin: {words}',)}


def test_an_ephemeral_claim_counts_once_it_is_the_pods() -> None:
    made = with_volumes(0, csi("a"))
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    made.objects.add([claim("p-v0", "a", metadata={"ownerReferences": [owner]})])
    assert rejections(NodeVolumeLimits(), pod({"ephemeral": {}}), made) == FULL


def test_until_1_31_nodes_themselves_have_limits() -> None:
    made = cluster({}, csi("a"), claim("c-a", "a"))
    made.add_node(node("n0", {}, allocatable={"attachable-volumes-csi-disk": "0"}))
    assert rejections(NodeVolumeLimits(NodeVolumeLimitsRules(node_limits=True)), pod(claimed("c-a")), made) == FULL
    assert rejections(NodeVolumeLimits(), pod(claimed("c-a")), made) == {}


def test_the_limit_of_a_driver_with_a_long_name() -> None:
    assert limit_key("disk") == "attachable-volumes-csi-disk"
    key = limit_key("a" * 45)
    assert len(key) == 62
    assert key.startswith("attachable-volumes-csi-" + "a" * 23)


def test_has_no_say_about_pods_without_such_volumes() -> None:
    made = with_volumes(0, csi("a"))
    for each in (pod(), pod({"emptyDir": {}}), pod({"rbd": {"image": "i"}})):
        assert prepare(NodeVolumeLimits(), each, made).filter is None
