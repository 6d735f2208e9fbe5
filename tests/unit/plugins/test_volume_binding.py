"""VolumeBinding: claims with a volume, claims that wait for their first pod, claims that cannot be had."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import (
    HOST,
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
    zonal,
)
from topospread.config.args import ShapePoint
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.plugins.interface import UNRESOLVABLE, PluginError
from topospread.plugins.registry import PLUGINS, PluginSettings
from topospread.plugins.volume_binding import REASON_UNBOUND, VolumeBinding
from topospread.plugins.volume_finding import (
    REASON_CONFLICT,
    REASON_CONFLICT_UNTIL_1_32,
    REASON_NO_VOLUME,
    VolumeBindingRules,
)

NODES = zonal(a0="a", a1="a", b0="b")
FALLING = (ShapePoint(0, 10), ShapePoint(100, 0))
LOCAL = storage_class(provisioner="kubernetes.io/no-provisioner")


def only(names: str, reason: str = REASON_NO_VOLUME) -> Json:
    """All other nodes are rejected for a reason."""
    return {name: (reason,) for name in NODES if name not in names.split()}


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


def test_a_beta_annotation_names_the_class() -> None:
    named = {"annotations": {"volume.beta.kubernetes.io/storage-class": "wait"}}
    made = cluster(NODES, claim("data", metadata=named, storageClassName="no"), storage_class())
    assert rejections(VolumeBinding(), pod(claimed("data")), made) == {}


def test_a_claim_without_a_namespace_is_not_found() -> None:
    made = cluster(NODES, volume("pv"), claim("data", "pv", metadata={"namespace": ""}))
    with pytest.raises(PluginError, match='error getting PVC "/data": persistentvolumeclaims "/data" not found'):
        prepare(VolumeBinding(), pod(claimed("data"), namespace=""), made)


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
