"""What `explain` proposes where a pod's claims cannot be had."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plain_inventory import inventory
from topospread.answers.causes import causes_of, causes_of_pod, why_words
from topospread.simulation.simulate import simulate
from topospread.why.result import Suggestion

from .builders import by_kind, constraint, explained, node, pod, spec, workload, zones

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


def device_objects(*held: str) -> list[dict[str, Any]]:
    """A class, and a slice with a device on each of the nodes ``held``."""
    version = "resource.k8s.io/v1"
    made: list[dict[str, Any]] = [{"apiVersion": version, "kind": "DeviceClass", "metadata": {"name": "gpu"}}]
    for each in held:
        pool = {"name": each, "generation": 1, "resourceSliceCount": 1}
        of = {"driver": "d", "nodeName": each, "pool": pool, "devices": [{"name": "gpu-0"}]}
        made.append({"apiVersion": version, "kind": "ResourceSlice", "metadata": {"name": each}, "spec": of})
    return made


def claim_template(name: str) -> dict[str, Any]:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]
    metadata = {"name": name, "namespace": "shop"}
    of = {"spec": {"devices": {"requests": requests}}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": of}


CLAIMING = spec(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpux"}])


@pytest.mark.parametrize(
    ("more", "says", "how"),
    [
        ([claim_template("gpu")], "; did you mean gpu?", "with the requests of gpu"),
        ([], "", "for one device of the class gpu"),
    ],
)
def test_a_missing_claim_template_is_named_and_proposed(more: list[dict[str, Any]], says: str, how: str) -> None:
    objects = [*zones("ab"), *device_objects("a", "b"), *more]
    found = explained("two", *objects, pod("one", of=CLAIMING), pod("two", of=CLAIMING))
    (cause,) = causes_of_pod(found)
    missing = f"the ResourceClaimTemplate shop/gpux does not exist{says}"
    assert cause.says == f'pod "shop/two": ResourceClaim not created yet ({missing})'
    assert 'pod "shop/two"' in found.message
    assert by_kind(found)["newClaim"].title == f"a ResourceClaimTemplate gpux in the namespace shop (here {how})"


def test_a_missing_claim_is_proposed() -> None:
    named = spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "own"}])
    found = explained("web", node("a", "zone-a"), *device_objects("a"), pod("web", of=named))
    assert by_kind(found)["newClaim"].patch[0]["value"]["kind"] == "ResourceClaim"


def test_held_devices_are_counted_and_their_claims_named() -> None:
    of = spec(constraint(), resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])
    made = [*zones(), *device_objects("a", "b"), claim_template("gpu"), workload("Deployment", 3, of)]
    (group,) = simulate(inventory(*made)).pending
    for causes in (causes_of(group), causes_of_pod(explained("deploy/web", *made))):
        told = why_words(causes)
        held = "request gpu: all 2 devices of class gpu are allocated to shop/web-"
        assert held in told
        assert not told[1:].startswith(" of them")
