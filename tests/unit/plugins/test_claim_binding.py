"""What becomes of a placed pod's claims."""

from __future__ import annotations

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
    rejections,
    storage_class,
    volume,
    zonal,
)
from topospread.api.inventory import ABSENT
from topospread.api.pod import Pod
from topospread.api.storage import CSINode
from topospread.cluster import Cluster
from topospread.plugins.claim_binding import reserve
from topospread.plugins.node_volume_limits import NodeVolumeLimits
from topospread.plugins.pod_volumes import selected_node
from topospread.plugins.volume_binding import VolumeBinding
from topospread.plugins.volume_zone import VolumeZone

NODES = zonal(a0="a", a1="a", b0="b")


def bind(made: Cluster, each: Pod, name: str) -> int:
    """Reserve and PreBind; how many claims were bound."""
    reserved = reserve(made, made.pod_class(each), made.nodes.row_of[name])
    reserved.bind()
    return len(reserved.bindings) + len(reserved.provisions)


def reach(made: Cluster, each: Pod) -> set[str]:
    """The nodes that the pod's volumes leave."""
    rejected = rejections(VolumeBinding(), each, made)
    assert rejections(VolumeZone(), each, made) == {}
    return set(NODES) - set(rejected)


def with_topology(*keys: str) -> list[CSINode]:
    made = []
    for name in NODES:
        each = csi_node(name, disk=None)
        assert each.spec.drivers is not None
        each.spec.drivers[0].topology_keys = list(keys)
        made.append(each)
    return made


ALLOWED = [{"matchLabelExpressions": [{"key": HOST, "values": ["a0", "a1", "b0"]}]}]


@pytest.mark.parametrize(
    ("csi_nodes", "more", "expected"),
    [
        ([], {}, {"a0", "a1"}),
        (with_topology(ZONE), {}, {"a0", "a1"}),
        (with_topology(HOST), {}, {"a0"}),
        (with_topology(), {}, {"a0", "a1", "b0"}),
        (with_topology("no-such-label"), {}, {"a0", "a1", "b0"}),
        ([], {"allowedTopologies": ALLOWED}, {"a0"}),
        (with_topology(ZONE), {"allowedTopologies": ALLOWED}, {"a0", "a1"}),
    ],
)
def test_a_second_pod_has_to_follow_a_new_volume(csi_nodes: list[CSINode], more: Json, expected: set[str]) -> None:
    made = cluster(NODES, claim("data"), storage_class(**more), *csi_nodes)
    each = pod(claimed("data"))
    assert reach(made, each) == set(NODES)
    assert bind(made, each, "a0") == 1
    assert reach(made, each) == expected


def test_a_node_without_labels_leaves_its_volume_free() -> None:
    made = cluster({**NODES, "bare": {}}, claim("data"), storage_class())
    bind(made, pod(claimed("data")), "bare")
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == {}


def test_the_smallest_volume_in_reach_is_taken_and_nobody_else_gets_it() -> None:
    local = storage_class(provisioner="kubernetes.io/no-provisioner")
    volumes = [volume("large", {HOST: ["a0"]}, size="9Gi"), volume("small", {HOST: ["a0"]}, size="2Gi")]
    made = cluster(NODES, local, *volumes, claim("one"), claim("two"), claim("three"))
    bind(made, pod(claimed("one")), "a0")
    assert made.objects.persistent_volume_claims["ns", "one"].spec.volume_name == "small"
    taken = made.objects.persistent_volumes["small"].spec.claim_ref
    assert taken is not None
    assert (taken.namespace, taken.name, taken.uid) == ("ns", "one", "uid-one")
    bind(made, pod(claimed("two")), "a0")
    assert made.objects.persistent_volume_claims["ns", "two"].spec.volume_name == "large"
    assert reach(made, pod(claimed("two"))) == {"a0"}
    assert reach(made, pod(claimed("three"))) == set()


def test_two_claims_of_a_pod_get_two_volumes() -> None:
    made = cluster(NODES, storage_class(), volume("one"), volume("two", size="2Gi"), claim("a"), claim("b"))
    assert bind(made, pod(claimed("a"), claimed("b")), "a0") == 2
    names = {made.objects.persistent_volume_claims["ns", name].spec.volume_name for name in "ab"}
    assert names == {"one", "two"}


def test_without_provisioner_and_volume_nothing_is_made() -> None:
    made = cluster(NODES, storage_class(provisioner="kubernetes.io/no-provisioner"), claim("data"))
    assert bind(made, pod(claimed("data")), "a1") == 0


def test_what_is_reserved_is_not_written_before_it_is_bound() -> None:
    made = cluster(NODES, storage_class(), volume("pv"), claim("data"), claim("more", size="5Gi"))
    version = made.objects.version
    reserved = reserve(made, made.pod_class(pod(claimed("data"), claimed("more"))), made.nodes.row_of["a0"])
    assert [(each.name, found.name) for each, found in reserved.bindings] == [("data", "pv")]
    assert [each.name for each in reserved.provisions] == ["more"]
    assert made.objects.version == version


def test_what_is_bound_stays_and_what_is_missing_is_passed_over() -> None:
    made = cluster(NODES, volume("pv"), claim("data", "pv"))
    version = made.objects.version
    assert bind(made, pod(claimed("data"), claimed("missing"), {"emptyDir": {}}), "a0") == 0
    assert bind(made, pod(), "a0") == 0
    assert made.objects.version == version


def test_a_claim_that_was_assumed_is_bound_like_any() -> None:
    made = cluster(NODES, claim("data", storageClassName="no"))
    made.objects.assumed_claims.add(("ns", "data"))
    made.objects.unread = {"StorageClass": ABSENT}
    bind(made, pod(claimed("data")), "b0")
    assert reach(made, pod(claimed("data"))) == {"b0"}
    assert not made.objects.assumed_claims


def test_a_claim_that_was_being_provisioned_gets_a_new_volume() -> None:
    selected = {"annotations": {"volume.kubernetes.io/selected-node": "a0"}}
    made = cluster(NODES, storage_class(), volume("free"), claim("data", metadata=selected))
    bind(made, pod(claimed("data")), "a0")
    assert made.objects.persistent_volume_claims["ns", "data"].spec.volume_name == "pvc-uid-data"


@pytest.mark.parametrize(
    ("provisioner", "driver"),
    [
        ("disk", "disk"),
        ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
        ("kubernetes.io/vsphere-volume", "csi.vsphere.vmware.com"),
    ],
)
def test_a_new_volume_is_of_the_driver_that_makes_it(provisioner: str, driver: str) -> None:
    made = cluster(NODES, storage_class(provisioner=provisioner), claim("data"))
    bind(made, pod(claimed("data")), "a0")
    (new,) = made.objects.persistent_volumes.values()
    assert new.spec.csi is not None
    assert new.spec.csi.driver == driver


def test_attached_volumes_are_still_counted_once() -> None:
    made = cluster(NODES, storage_class(), csi_node("a0", disk=1), claim("data"), claim("other"))
    plugin, each = NodeVolumeLimits(), pod(claimed("data"))
    other = pod(claimed("other"), name="other")
    assert rejections(plugin, other, made) == {}
    made.bind("ns/p", made.pod_class(each), made.nodes.row_of["a0"])
    full = {"a0": ("node(s) exceed max volume count",)}
    assert rejections(plugin, other, made) == full
    bind(made, each, "a0")
    assert rejections(plugin, other, made) == full
    assert rejections(plugin, each, made) == {}, "its volume is attached"
    made.unbind("ns/p")
    assert rejections(plugin, other, made) == {}


def test_an_existing_volume_counts_under_its_own_driver_once_it_is_bound() -> None:
    there = volume("pv", csi={"driver": "file", "volumeHandle": "h"})
    made = cluster(NODES, storage_class(), csi_node("a0", disk=1, file=0), there, claim("data"), claim("other"))
    plugin, each = NodeVolumeLimits(), pod(claimed("data"))
    rejections(plugin, each, made)
    made.bind("ns/p", made.pod_class(each), made.nodes.row_of["a0"])
    assert rejections(plugin, pod(claimed("other")), made) == {"a0": ("node(s) exceed max volume count",)}
    bind(made, each, "a0")
    assert rejections(plugin, pod(claimed("other")), made) == {}


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("b0", ""),
        (
            "a0",
            'running PreBind plugin "VolumeBinding": binding volumes: '
            'pv "kept" node affinity doesn\'t match node "a0": no matching NodeSelectorTerms',
        ),
    ],
)
def test_a_volume_of_another_class_that_names_the_claim_is_taken_before_a_new_one_is_made(
    at: str, expected: str
) -> None:
    kept = volume("kept", {HOST: ["b0"]}, storageClassName="other", claimRef={"namespace": "ns", "name": "data"})
    made = cluster(NODES, storage_class(), kept, claim("data"))
    reserved = reserve(made, made.pod_class(pod(claimed("data"))), made.nodes.row_of[at])
    assert reserved.bind() == expected
    bound = made.objects.persistent_volume_claims["ns", "data"]
    assert (bound.spec.volume_name, selected_node(bound)) == ("kept", at)


def test_a_claim_for_which_no_volume_can_be_made_is_handed_back() -> None:
    chosen = {"annotations": {"volume.kubernetes.io/selected-node": "a0"}}
    made = cluster(NODES, storage_class(), claim("data", metadata=chosen))
    reserved = reserve(made, made.pod_class(pod(claimed("data"))), made.nodes.row_of["a0"])
    assert reserved.bind(makes_volumes=False).endswith('provisioning failed for PVC "data"')
    left = made.objects.persistent_volume_claims["ns", "data"]
    assert (left.spec.volume_name, selected_node(left)) == (None, None)


def test_a_claim_that_is_listed_twice_reserves_two_volumes_and_its_pod_is_not_bound() -> None:
    local = storage_class(provisioner="kubernetes.io/no-provisioner")
    made = cluster(NODES, local, volume("one"), volume("two", size="2Gi"), claim("data"))
    reserved = reserve(made, made.pod_class(pod(claimed("data"), claimed("data"))), made.nodes.row_of["a0"])
    assert reserved.bind().endswith('ClaimRef got reset for pv "two"')
    assert made.objects.persistent_volume_claims["ns", "data"].spec.volume_name == "one"
    assert made.objects.persistent_volumes["two"].spec.claim_ref is None


def test_of_two_volumes_for_a_claim_that_is_listed_twice_that_with_fewer_access_modes_stays() -> None:
    local = storage_class(provisioner="kubernetes.io/no-provisioner")
    modes = ["ReadWriteOnce", "ReadWriteMany"]
    made = cluster(NODES, local, volume("one", accessModes=modes), volume("two", size="2Gi"), claim("data"))
    reserved = reserve(made, made.pod_class(pod(claimed("data"), claimed("data"))), made.nodes.row_of["a0"])
    assert reserved.bind().endswith('ClaimRef got reset for pv "one"')
    assert made.objects.persistent_volume_claims["ns", "data"].spec.volume_name == "two"


def test_no_volume_is_made_for_a_claim_that_is_listed_twice_and_has_got_one() -> None:
    made = cluster(NODES, storage_class(), volume("one"), claim("data"))
    reserved = reserve(made, made.pod_class(pod(claimed("data"), claimed("data"))), made.nodes.row_of["a0"])
    assert reserved.bind() == ""
    bound = made.objects.persistent_volume_claims["ns", "data"]
    assert (bound.spec.volume_name, selected_node(bound)) == ("one", "a0")
    assert list(made.objects.persistent_volumes) == ["one"]
