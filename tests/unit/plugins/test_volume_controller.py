"""What the PV controller makes of volumes and claims."""

from __future__ import annotations

from typing import Any

from tests.unit.plugins.storage_builders import Json, claim, cluster, storage_class, volume, zonal
from topospread.api.meta import KubeObject
from topospread.cluster import Cluster
from topospread.plugins.volume_controller import VolumeController

NODES = zonal(a="x", b="y")
NOW = storage_class("wait", "Immediate", provisioner="kubernetes.io/no-provisioner")
ONCE, MANY = ["ReadWriteOnce"], ["ReadWriteOnce", "ReadWriteMany"]


def controlled(*objects: KubeObject) -> Cluster:
    made = cluster(NODES, *objects)
    VolumeController(made).sync()
    return made


def volume_of(made: Cluster, name: str) -> str | None:
    return made.objects.persistent_volume_claims["ns", name].spec.volume_name


def phase(made: Cluster, name: str) -> str | None:
    status = made.objects.persistent_volumes[name].status
    return None if status is None else status.phase


def promised(name: str, to: str, uid: str = "", **more: Any) -> KubeObject:
    reference: Json = {"namespace": "ns", "name": to, "uid": uid}
    return volume(name, claimRef=reference, accessModes=ONCE, **more)


def unnumbered(name: str, **more: Any) -> KubeObject:
    """A claim as a controller makes it, before an API server gave it a uid."""
    return claim(name, metadata={"uid": None}, **more)


def test_fewer_access_modes_go_before_a_smaller_size() -> None:
    volumes = [volume("small", accessModes=MANY), volume("large", size="9Gi", accessModes=ONCE)]
    assert volume_of(controlled(NOW, *volumes, claim("data", accessModes=ONCE)), "data") == "large"


def test_a_promised_volume_goes_before_a_smaller_one_and_is_kept_from_others() -> None:
    volumes = [volume("small", accessModes=ONCE), promised("large", "b", size="9Gi")]
    made = controlled(NOW, *volumes, claim("a", accessModes=ONCE), claim("b", accessModes=ONCE))
    assert (volume_of(made, "a"), volume_of(made, "b")) == ("small", "large")


def test_a_claim_that_waits_for_its_pod_gets_a_promised_volume_alone() -> None:
    volumes = [volume("free", accessModes=ONCE), promised("kept", "b", size="9Gi")]
    made = controlled(storage_class(), *volumes, claim("a", accessModes=ONCE), claim("b", accessModes=ONCE))
    assert (volume_of(made, "a"), volume_of(made, "b")) == (None, "kept")


def test_a_claim_whose_volume_is_gone_is_lost_and_a_volume_whose_claim_is_gone_is_released() -> None:
    made = controlled(NOW, claim("data", "gone"), promised("left", "other", uid="uid-other"))
    status = made.objects.persistent_volume_claims["ns", "data"].status
    assert status is not None
    assert (status.phase, phase(made, "left")) == ("Lost", "Released")


def test_a_volume_that_was_meant_in_vain_is_free_again_if_nobody_wrote_its_claim_into_it() -> None:
    annotations = {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}}
    other = promised("other", "data", uid="uid-data", metadata=annotations)
    pinned = promised("pinned", "data", uid="uid-data")
    made = controlled(NOW, other, pinned, promised("own", "data", uid="uid-data"), claim("data", "own"))
    volumes = made.objects.persistent_volumes
    assert volumes["other"].spec.claim_ref is None
    assert volumes["pinned"].spec.claim_ref is not None
    assert not volumes["pinned"].spec.claim_ref.uid
    assert [phase(made, name) for name in ("other", "pinned", "own")] == ["Available", "Available", "Bound"]


def test_a_made_volume_goes_with_its_claim_unless_it_is_retained() -> None:
    annotations = {"annotations": {"pv.kubernetes.io/provisioned-by": "disk"}}
    volumes = [
        promised(policy.lower(), "gone", uid="x", metadata=annotations, persistentVolumeReclaimPolicy=policy)
        for policy in ("Delete", "Retain")
    ]
    assert list(controlled(NOW, *volumes).objects.persistent_volumes) == ["retain"]


def test_of_two_claims_on_one_volume_the_first_by_name_gets_it() -> None:
    made = controlled(NOW, volume("pv", accessModes=ONCE), claim("b", accessModes=ONCE), claim("a", accessModes=ONCE))
    assert (volume_of(made, "a"), volume_of(made, "b")) == ("pv", None)


def test_what_is_bound_to_a_claim_without_a_uid_stays_bound() -> None:
    made = controlled(
        NOW,
        storage_class("fast", "Immediate"),
        volume("pv", accessModes=ONCE),
        promised("kept", "named", size="9Gi"),
        unnumbered("found", accessModes=ONCE),
        unnumbered("named", volumeName="kept", accessModes=ONCE),
        unnumbered("new", storageClassName="fast"),
    )
    assert [volume_of(made, name) for name in ("found", "named", "new")] == ["pv", "kept", "pvc-ns-new"]
    assert [phase(made, name) for name in ("pv", "kept", "pvc-ns-new")] == ["Bound"] * 3


def test_what_was_bound_to_a_claim_without_a_uid_is_not_another_claims() -> None:
    made = controlled(NOW, volume("pv", accessModes=ONCE), unnumbered("data", accessModes=ONCE))
    made.objects.delete(made.objects.persistent_volume_claims["ns", "data"])
    made.objects.add([claim("data", accessModes=ONCE)])
    VolumeController(made).sync()
    assert (volume_of(made, "data"), phase(made, "pv")) == (None, "Released")
