"""What `explain` proposes where a pod's claims cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.why.result import Suggestion

from .builders import by_kind, explained, node, pod, spec, workload

MOUNTED = spec(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}])


def storage_class(name: str, *, default: bool = False, **more: Any) -> dict[str, Any]:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name, "annotations": annotations},
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        **more,
    }


def claim(**own: Any) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **own}
    metadata = {"name": "data", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": wanted}


def proposed(*objects: dict[str, Any]) -> dict[str, Suggestion]:
    return by_kind(explained("web", node("a", "zone-a"), pod("web", of=MOUNTED), *objects))


def test_a_class_that_is_not_there_is_made_or_another_one_taken() -> None:
    found = proposed(claim(storageClassName="gone"), storage_class("slow"), storage_class("fast", default=True))
    other, made = found["storageClassName"], found["newStorageClass"]
    assert other.title == "storageClassName fast instead of gone in the claim data, the default class"
    assert other.patch == ({"op": "add", "path": "/spec/storageClassName", "value": "fast"},)
    assert other.object["kind"] == "PersistentVolumeClaim"
    assert made.patch[0]["value"]["metadata"]["name"] == "gone"


def test_where_there_is_no_default_class_one_is_proposed_to_a_claim_that_names_none() -> None:
    found = proposed(claim())
    assert found["newStorageClass"].title.startswith("a default StorageClass")
    assert "storageClassName" not in found


def test_a_claim_that_wants_no_class_is_given_one() -> None:
    found = proposed(claim(storageClassName=""), storage_class("fast", default=True))
    assert found["storageClassName"].title == "storageClassName fast in the claim data, the default class"
    assert "newStorageClass" not in found


def test_a_class_whose_volumes_nobody_makes_is_not_proposed() -> None:
    manual = storage_class("manual", provisioner="kubernetes.io/no-provisioner")
    assert proposed(claim(storageClassName="gone"), manual).keys() == {"newStorageClass"}


def test_a_claim_that_is_missing_is_proposed_where_a_class_can_make_its_volume() -> None:
    found = proposed(storage_class("fast", default=True))
    assert found["newClaim"].patch[0]["value"]["metadata"] == {"name": "data", "namespace": "shop"}
    assert "newClaim" not in proposed()


def test_nothing_of_claims_is_left_behind_by_trying() -> None:
    objects = claim(storageClassName="gone"), storage_class("fast", default=True)
    first, second = proposed(*objects), proposed(*objects)
    assert first.keys() == second.keys() == {"storageClassName", "newStorageClass"}
    assert all(each.lets_in == 1 for each in first.values())


def templates(name: str) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": name}
    made = workload("StatefulSet", 3, spec(), "db", uid=False)
    made["spec"]["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": wanted}]
    return made


def ephemeral(name: str) -> dict[str, Any]:
    wanted = {"accessModes": ["ReadWriteOnce"], "storageClassName": name}
    volume = {"name": "cache", "ephemeral": {"volumeClaimTemplate": {"spec": wanted}}}
    return workload("Deployment", 2, spec(volumes=[volume]), "db", uid=False)


@pytest.mark.parametrize(
    ("made", "where", "path"),
    [
        (templates("gone"), "volumeClaimTemplates data", "/spec/volumeClaimTemplates/0"),
        (ephemeral("gone"), "the volume cache", "/spec/template/spec/volumes/0/ephemeral/volumeClaimTemplate"),
    ],
)
def test_the_class_of_claims_that_do_not_exist_yet_is_changed_in_their_template(
    made: dict[str, Any], where: str, path: str
) -> None:
    kind = made["kind"].lower()
    found = explained(f"{kind}/db", node("a", "zone-a"), made, storage_class("fast", default=True))
    assert found.message.startswith("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims")
    other = by_kind(found)["storageClassName"]
    assert other.title == f"storageClassName fast instead of gone in {where}, the default class"
    assert other.object["kind"] == made["kind"]
    assert other.patch == ({"op": "add", "path": f"{path}/spec/storageClassName", "value": "fast"},)
    assert other.complete


def test_the_class_of_one_claim_is_no_fix_where_the_next_claim_has_the_same_class() -> None:
    own = claim(storageClassName="gone")
    own["metadata"]["name"] = "data-db-0"
    found = explained("sts/db", node("a", "zone-a"), templates("gone"), own, storage_class("fast"))
    titles = [each.title for each in found.suggestions if each.kind == "storageClassName"]
    assert titles == [
        "storageClassName fast instead of gone in volumeClaimTemplates data, for new claims in place of these"
    ]
