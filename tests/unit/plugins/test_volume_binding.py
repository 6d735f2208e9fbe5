"""VolumeBinding: claims with a volume, claims that wait for their first pod, claims that cannot be had."""

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
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.interface import UNRESOLVABLE, PluginError
from topospread.plugins.registry import PLUGINS, PluginSettings
from topospread.plugins.volume_binding import REASON_UNBOUND, VolumeBinding
from topospread.plugins.volume_finding import (
    REASON_CONFLICT,
    REASON_CONFLICT_UNTIL_1_32,
    REASON_GONE,
    REASON_NO_VOLUME,
    VolumeBindingRules,
)

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


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"status": {"phase": "Lost"}}, 'persistentvolumeclaim "data" bound to non-existent persistentvolume ""'),
        ({"metadata": {"deletionTimestamp": "t"}}, 'persistentvolumeclaim "data" is being deleted'),
        ({"storageClassName": "now"}, REASON_UNBOUND),
        ({"storageClassName": "no"}, REASON_UNBOUND),
        ({"storageClassName": ""}, REASON_UNBOUND),
        ({"volumeName": "prebound"}, REASON_UNBOUND),
        ({}, ""),
    ],
)
def test_claims_that_reject_the_pod(more: Json, words: str) -> None:
    made = cluster(NODES, claim("data", **more), storage_class(), storage_class("now", "Immediate"))
    prepared = prepare(VolumeBinding(), pod(claimed("data")), made)
    assert (prepared.rejected.reasons if prepared.rejected else ("",)) == (words,)
    assert prepared.rejected is None or prepared.rejected.code == UNRESOLVABLE


def test_missing_claims() -> None:
    made = cluster(NODES)
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == {"*": ('persistentvolumeclaim "data" not found',)}
    words = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-v0"'
    assert rejections(VolumeBinding(), pod({"ephemeral": {}}), made) == {"*": (words,)}


def test_an_ephemeral_claim_has_to_be_the_pods() -> None:
    made = cluster(NODES, claim("p-v0", "pv"), volume("pv"))
    words = "PVC ns/p-v0 was not created for pod ns/p (pod is not owner)"
    assert rejections(VolumeBinding(), pod({"ephemeral": {}}), made) == {"*": (words,)}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "uid-p", "controller": True}
    made.objects.add([claim("p-v0", "pv", metadata={"ownerReferences": [owner]})])
    assert rejections(VolumeBinding(), pod({"ephemeral": {}}), made) == {}


def test_a_class_that_does_not_say_when_it_binds_is_an_error() -> None:
    made = cluster(NODES, claim("data"), storage_class(mode=None))
    words = 'running PreFilter plugin "VolumeBinding": VolumeBindingMode not set for StorageClass "wait"'
    with pytest.raises(PluginError) as caught:
        prepare(VolumeBinding(), pod(claimed("data")), made)
    assert str(caught.value) == words


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


def test_a_beta_annotation_names_the_class() -> None:
    named = {"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}}
    made = cluster(NODES, claim("data", metadata=named, storageClassName="no"), storage_class())
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == {}


def test_a_claim_without_a_namespace_is_not_found() -> None:
    made = cluster(NODES, volume("pv"), claim("data", "pv", metadata={"namespace": ""}))
    with pytest.raises(PluginError, match='error getting PVC "/data": persistentvolumeclaims "/data" not found'):
        prepare(VolumeBinding(), pod(claimed("data"), namespace=""), made)


def test_a_selector_that_does_not_compile_is_an_error() -> None:
    selector = {"matchExpressions": [{"key": "tier", "operator": "In", "values": []}]}
    made = cluster(NODES, claim("data", selector=selector), storage_class())
    found = rejections(VolumeBinding(), pod(claimed("data")), made)
    assert set(found) == set(NODES)
    assert "error creating internal label selector for claim: ns/data: " in found["a0"][0]


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


@pytest.mark.parametrize(
    ("wanted", "classes", "because"),
    [
        ("fast", ["slow"], "storageClassName fast: there is only slow"),
        ("fast", ["slow", "cold"], "storageClassName fast: there are cold, slow"),
        ("fast", [], "storageClassName fast: there is no StorageClass"),
        (None, ["slow"], "no storageClassName, and no default StorageClass"),
    ],
)
def test_a_claim_that_would_be_created_needs_a_class_where_the_classes_are_known(
    wanted: str | None, classes: list[str], because: str
) -> None:
    made = cluster(NODES, claim("data", storageClassName=wanted), *(storage_class(name=each) for each in classes))
    made.objects.assumed_claims.add(("ns", "data"))
    refused = prepare(VolumeBinding(), pod(claimed("data")), made).rejected
    assert refused is not None
    assert refused.reasons == ("pod has unbound immediate PersistentVolumeClaims",)
    assert refused.because == because


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


def test_has_no_score_where_nothing_can_be_bound() -> None:
    scored = VolumeBinding(VolumeBindingRules(shape=FALLING))
    made = cluster(NODES, claim("data", "pv"), volume("pv", storageClassName="now"), claim("new"), storage_class())
    for name in ("data", "new"):
        assert prepare(scored, pod(claimed(name)), made).score is None


def test_has_no_say_about_pods_without_claims() -> None:
    made = cluster(NODES)
    for each in (pod(), pod({"emptyDir": {}}), pod({"gcePersistentDisk": {"pdName": "d"}})):
        prepared = prepare(VolumeBinding(), each, made)
        assert (prepared.filter, prepared.score, prepared.rejected) == (None, None, None)


@pytest.mark.parametrize(
    ("version", "narrowed", "reason", "scored"),
    [
        ("1.22", None, REASON_CONFLICT_UNTIL_1_32, False),
        ("1.27", {"a0"}, REASON_CONFLICT_UNTIL_1_32, False),
        ("1.30", None, REASON_CONFLICT_UNTIL_1_32, False),
        ("1.36", None, REASON_CONFLICT, False),
        ("1.37", None, REASON_CONFLICT, True),
    ],
)
def test_by_version(version: str, narrowed: set[str] | None, reason: str, scored: bool) -> None:
    gates = gates_for(version)
    plugin = PLUGINS["VolumeBinding"](PluginSettings(default_profile(version, gates).args, gates))
    made = cluster(NODES, volume("pv", {HOST: ["a0"]}), claim("data", "pv"), claim("new"), LOCAL, volume("free"))
    assert prepare(plugin, pod(claimed("data")), made).narrowed == narrowed
    assert rejections(plugin, pod(claimed("data")), made) == only("a0", reason)
    assert (prepare(plugin, pod(claimed("new")), made).score is not None) is scored


def test_volumes_that_name_different_nodes_leave_none_until_1_29() -> None:
    plugin = VolumeBinding(VolumeBindingRules(names_nodes=True))
    volumes = [volume("one", {HOST: ["a0", "a1"]}), volume("two", {HOST: ["a1", "b0"]}), volume("three", {ZONE: ["a"]})]
    made = cluster(NODES, *volumes, *(claim(each.name, each.name) for each in volumes))
    assert prepare(plugin, pod(claimed("three")), made).narrowed is None
    assert prepare(plugin, pod(claimed("three"), claimed("one")), made).narrowed == {"a0", "a1"}
    assert prepare(plugin, pod(claimed("one"), claimed("two")), made).narrowed == {"a1"}
