"""VolumeRestrictions: disks that are mounted, and claims that one pod may use."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.plugins.storage_builders import claim, claimed, cluster, place, pod, prepare, rejections, zonal
from topospread.config.args import PluginArgs
from topospread.config.gates import gates_for
from topospread.plugins.interface import UNRESOLVABLE, Scope, Settling
from topospread.plugins.registry import PLUGINS, PluginSettings
from topospread.plugins.volume_restrictions import (
    REASON_DISK,
    REASON_IN_USE,
    REASON_IN_USE_UNTIL_1_33,
    VolumeRestrictions,
    VolumeRestrictionsRules,
)

GCE = {"gcePersistentDisk": {"pdName": "d"}}
GCE_READ = {"gcePersistentDisk": {"pdName": "d", "readOnly": True}}
EBS_READ = {"awsElasticBlockStore": {"volumeID": "v", "readOnly": True}}
ISCSI = {"iscsi": {"iqn": "i", "lun": 0}}
RBD = {"rbd": {"image": "i", "pool": "p", "monitors": ["a", "b"]}}


@pytest.mark.parametrize(
    ("mine", "theirs", "conflict"),
    [
        (GCE, GCE, True),
        (GCE, GCE_READ, True),
        (GCE_READ, GCE_READ, False),
        (GCE, {"gcePersistentDisk": {"pdName": "other"}}, False),
        (EBS_READ, EBS_READ, True),
        (EBS_READ, {"awsElasticBlockStore": {"volumeID": "w"}}, False),
        (ISCSI, {"iscsi": {"iqn": "i", "lun": 7}}, True),
        ({"iscsi": {"iqn": "i", "readOnly": True}}, {"iscsi": {"iqn": "i", "readOnly": True}}, False),
        (RBD, {"rbd": {"image": "i", "pool": "p", "monitors": ["b", "c"]}}, True),
        (RBD, {"rbd": {"image": "i", "pool": "p", "monitors": ["c"]}}, False),
        (RBD, {"rbd": {"image": "i", "pool": "q", "monitors": ["a"]}}, False),
        ({"rbd": {"image": "i", "monitors": ["a"]}}, {"rbd": {"image": "i", "pool": "", "monitors": ["a"]}}, True),
        (GCE, {"emptyDir": {}}, False),
    ],
)
def test_disks(mine: dict[str, Any], theirs: dict[str, Any], conflict: bool) -> None:
    made = cluster(zonal(n0="a", n1="a"))
    place(made, pod(theirs, name="there"), "n0")
    expected = {"n0": (REASON_DISK,)} if conflict else {}
    assert rejections(VolumeRestrictions(), pod(mine), made) == expected


def test_a_claim_for_one_pod_is_in_use_wherever_that_pod_is() -> None:
    made = cluster(zonal(n0="a", n1="b"), claim("data", accessModes=["ReadWriteOncePod"]))
    each = pod(claimed("data"))
    assert rejections(VolumeRestrictions(), each, made) == {}
    place(made, pod(claimed("data"), name="there"), "n0")
    assert rejections(VolumeRestrictions(), each, made) == {"n0": (REASON_IN_USE,), "n1": (REASON_IN_USE,)}
    made.unbind("ns/there")
    assert rejections(VolumeRestrictions(), each, made) == {}


def test_other_access_modes_are_shared() -> None:
    made = cluster(zonal(n0="a"), claim("data", accessModes=["ReadWriteOnce"]))
    place(made, pod(claimed("data"), name="there"), "n0")
    assert rejections(VolumeRestrictions(), pod(claimed("data")), made) == {}


def test_the_same_name_in_another_namespace_is_another_claim() -> None:
    made = cluster(zonal(n0="a"), claim("data", accessModes=["ReadWriteOncePod"]))
    place(made, pod(claimed("data"), name="there", namespace="other"), "n0")
    assert rejections(VolumeRestrictions(), pod(claimed("data")), made) == {}


def test_a_missing_claim_rejects_the_pod() -> None:
    prepared = prepare(VolumeRestrictions(), pod(claimed("data")), cluster(zonal(n0="a")))
    assert prepared.rejected is not None
    assert prepared.rejected.code == UNRESOLVABLE
    assert prepared.rejected.reasons == ('persistentvolumeclaim "data" not found',)


def test_has_no_say_about_pods_without_such_volumes() -> None:
    made = cluster(zonal(n0="a"), claim("data"))
    for each in (pod(), pod({"emptyDir": {}}), pod({"ephemeral": {}}), pod(claimed("data"))):
        prepared = prepare(VolumeRestrictions(), each, made)
        assert (prepared.filter, prepared.rejected, prepared.watcher) == (None, None, None)


def test_disks_alone_rest_on_the_pods_of_the_node() -> None:
    prepared = prepare(VolumeRestrictions(), pod(GCE), cluster(zonal(n0="a")))
    assert prepared.filter is not None
    assert prepared.filter.scope is Scope.PODS
    assert prepared.watcher is None


def test_in_a_trial_pods_are_counted_by_the_bare_name_of_the_claim() -> None:
    """As in AddPod and RemovePod: a pod of another namespace that is taken away frees the claim."""
    made = cluster(zonal(n0="a"), claim("data", accessModes=["ReadWriteOncePod"]))
    place(made, pod(claimed("data"), name="holder"), "n0")
    stranger = place(made, pod(claimed("data"), name="stranger", namespace="other"), "n0")
    prepared = prepare(VolumeRestrictions(), pod(claimed("data")), made)
    assert prepared.filter is not None
    assert prepared.watcher is not None
    everywhere = slice(0, 1)
    assert prepared.filter.filter(everywhere).tolist() == [2]
    made.unbind("other/stranger")
    prepared.watcher.assume(0, stranger, -1)  # type: ignore[attr-defined]
    assert prepared.filter.filter(everywhere).tolist() == [0]


def test_a_free_claim_is_not_looked_at_again_beside_nominated_pods() -> None:
    made = cluster(zonal(n0="a"), claim("data", accessModes=["ReadWriteOncePod"]))
    nominated = pod(claimed("data"), name="nominated")
    for skips, codes in ((True, [0]), (False, [2])):
        plugin = VolumeRestrictions(VolumeRestrictionsRules(skips=skips))
        prepared = prepare(plugin, pod(claimed("data")), made)
        assert prepared.filter is not None
        assert isinstance(prepared.watcher, Settling)
        prepared.watcher.begin_dry_run()
        pod_class = place(made, nominated, "n0")
        prepared.watcher.assume(0, pod_class, 1)
        assert prepared.filter.filter(slice(0, 1)).tolist() == codes
        made.unbind("ns/nominated")


@pytest.mark.parametrize(
    ("version", "reason"), [("1.26", None), ("1.27", REASON_IN_USE_UNTIL_1_33), ("1.34", REASON_IN_USE)]
)
def test_by_version(version: str, reason: str | None) -> None:
    plugin = PLUGINS["VolumeRestrictions"](PluginSettings(PluginArgs(), gates_for(version)))
    made = cluster(zonal(n0="a"), claim("data", accessModes=["ReadWriteOncePod"]))
    place(made, pod(claimed("data"), name="there"), "n0")
    assert rejections(plugin, pod(claimed("data")), made) == ({"n0": (reason,)} if reason else {})
