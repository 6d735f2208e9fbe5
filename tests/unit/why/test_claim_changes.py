"""What `explain` proposes where a pod's claims cannot be had."""

from __future__ import annotations

from typing import Any

from topospread.why.result import Suggestion

from .builders import by_kind, explained, node, pod, spec

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
