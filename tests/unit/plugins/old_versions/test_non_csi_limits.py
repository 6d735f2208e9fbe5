"""EBSLimits, GCEPDLimits, AzureDiskLimits and CinderLimits: in-tree disks on nodes that have not moved to CSI."""

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
from topospread.cluster import Cluster
from topospread.plugins.old_versions.non_csi_limits import REASON, NonCsiLimits

FULL = {"n0": (REASON,)}


def ebs(number: int) -> Json:
    return {"awsElasticBlockStore": {"volumeID": f"vol-{number}"}}


def holding(disks: int, labels: Json | None = None, **allocatable: str) -> Cluster:
    """One node whose pod mounts some disks."""
    made = cluster({})
    made.add_node(
        node("n0", labels or {}, allocatable={key.replace("_", "-"): text for key, text in allocatable.items()})
    )
    place(made, pod(*(ebs(i) for i in range(disks)), name="there"), "n0")
    return made


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (holding(38), {}),
        (holding(39), FULL),
        (holding(24, {"node.kubernetes.io/instance-type": "m5.large"}), {}),
        (holding(25, {"node.kubernetes.io/instance-type": "m5.large"}), FULL),
        (holding(25, {"beta.kubernetes.io/instance-type": "t3.small"}), FULL),
        (holding(25, {"node.kubernetes.io/instance-type": "t2.small"}), {}),
        (holding(2, attachable_volumes_aws_ebs="2"), FULL),
        (holding(2, attachable_volumes_aws_ebs="3"), {}),
    ],
)
def test_ebs(made: Cluster, expected: Json) -> None:
    assert rejections(NonCsiLimits("EBSLimits", 22), pod(ebs(100)), made) == expected
    assert rejections(NonCsiLimits("EBSLimits", 22), pod(ebs(0)), made) == {}, "that disk is there already"


@pytest.mark.parametrize(
    ("name", "source", "most"),
    [
        ("GCEPDLimits", "gcePersistentDisk pdName", 16),
        ("AzureDiskLimits", "azureDisk diskName", 16),
        ("CinderLimits", "cinder volumeID", 256),
    ],
)
def test_the_others(name: str, source: str, most: int) -> None:
    kind, key = source.split()
    disks = [{kind: {key: f"d{i}"}} for i in range(most + 1)]
    made = cluster(
        zonal(n0="a"), *(volume(f"pv{i}", **disk) for i, disk in enumerate(disks)), claim("last", f"pv{most}")
    )
    place(made, pod(*disks[:most], name="there"), "n0")
    assert rejections(NonCsiLimits(name, 22), pod(disks[most]), made) == FULL
    assert rejections(NonCsiLimits(name, 22), pod(claimed("last")), made) == FULL
    assert rejections(NonCsiLimits(name, 22), pod(disks[0]), made) == {}


def test_a_claim_without_a_volume_counts_under_its_provisioner() -> None:
    made = holding(39)
    made.objects.add([storage_class(provisioner="kubernetes.io/aws-ebs"), claim("new"), claim("gone", volumeName="no")])
    for name in ("new", "gone"):
        assert rejections(NonCsiLimits("EBSLimits", 22), pod(claimed(name)), made) == FULL
        assert rejections(NonCsiLimits("GCEPDLimits", 22), pod(claimed(name)), made) == {}


@pytest.mark.parametrize(
    ("minor", "annotation", "expected"),
    [(22, "kubernetes.io/aws-ebs", FULL), (23, "", FULL), (23, "kubernetes.io/aws-ebs", {}), (27, "", {})],
)
def test_leaves_nodes_that_have_moved_to_csi_alone(minor: int, annotation: str, expected: Json) -> None:
    made = holding(39)
    made.objects.add([csi_node("n0", annotation)])
    assert rejections(NonCsiLimits("EBSLimits", minor), pod(ebs(100)), made) == expected


def test_a_missing_claim() -> None:
    made = holding(0)
    words = 'looking up PVC ns/data: persistentvolumeclaim "data" not found'
    each = pod(claimed("data"))
    assert rejections(NonCsiLimits("EBSLimits", 22), each, made) == {}
    assert rejections(NonCsiLimits("EBSLimits", 30), each, made) == {"n0": (words,)}
    failed = f'error: running "EBSLimits" filter plugin: {words}'
    assert rejections(NonCsiLimits("EBSLimits", 29), each, made) == {"n0": (failed,)}


def test_somebody_elses_ephemeral_claim() -> None:
    made = holding(1)
    made.objects.add([claim("p-v0"), claim("other-v0")])
    place(made, pod({"ephemeral": {}}, name="other"), "n0")
    words = 'error: running "EBSLimits" filter plugin: PVC ns/{0}-v0 was not created for pod ns/{0} (pod is not owner)'
    assert rejections(NonCsiLimits("EBSLimits", 26), pod({"ephemeral": {}}), made) == {"n0": (words.format("p"),)}
    assert rejections(NonCsiLimits("EBSLimits", 26), pod(ebs(1)), made) == {"n0": (words.format("other"),)}
    assert rejections(NonCsiLimits("EBSLimits", 22), pod(ebs(1)), made) == {}


def test_has_no_say_about_other_volumes() -> None:
    for each in (pod(), pod({"gcePersistentDisk": {"pdName": "d"}}), pod({"emptyDir": {}})):
        assert prepare(NonCsiLimits("EBSLimits", 22), each, holding(0)).filter is None
