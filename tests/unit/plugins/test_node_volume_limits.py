"""NodeVolumeLimits: how many of a driver's volumes a node takes."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import (
    Json,
    claim,
    claimed,
    cluster,
    csi_node,
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


def test_has_no_say_about_pods_without_such_volumes() -> None:
    made = with_volumes(0, csi("a"))
    for each in (pod(), pod({"emptyDir": {}}), pod({"rbd": {"image": "i"}})):
        assert prepare(NodeVolumeLimits(), each, made).filter is None
