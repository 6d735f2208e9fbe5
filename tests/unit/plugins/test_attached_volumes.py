"""Volumes that count for a driver: in-tree disks, limits of nodes, and long names."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import (
    Json,
    claim,
    claimed,
    cluster,
    csi_node,
    node,
    pod,
    rejections,
    volume,
    zonal,
)
from topospread.api.storage import PersistentVolume
from topospread.plugins.attached_volumes import NodeVolumeLimitsRules, limit_key
from topospread.plugins.node_volume_limits import REASON, NodeVolumeLimits

NODES = zonal(n0="a", n1="a")
FULL = {"n0": (REASON,)}


def csi(name: str, handle: str = "", driver: str = "disk") -> PersistentVolume:
    return volume(name, csi={"driver": driver, "volumeHandle": handle or name})


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
