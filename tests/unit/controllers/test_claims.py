"""Claims that name no StorageClass get the default one, as the API server's admission gives it."""

import gzip
import json
from pathlib import Path

import msgspec
import pytest

from topospread.api.storage import PersistentVolumeClaim, StorageClass
from topospread.config.versions import KubeVersion
from topospread.controllers.claims import DefaultClass
from topospread.controllers.planner import plan
from topospread.errors import InvalidError

from .manifests import inventory, node, pod, workload


def storage_class(name: str, *, default: bool = True, created: str | None = None, beta: bool = False) -> dict:
    key = "storageclass.beta.kubernetes.io/is-default-class" if beta else "storageclass.kubernetes.io/is-default-class"
    metadata = {"name": name, "annotations": {key: "true"} if default else {}}
    if created:
        metadata["creationTimestamp"] = created
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": metadata,
        "provisioner": "disk.example.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def claim(name: str = "data", *, annotations: dict | None = None, uid: str = "", **spec) -> dict:
    metadata = {"name": name, "annotations": annotations or {}, **({"uid": uid} if uid else {})}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def classes(*objects, **options) -> dict[str, str | None]:
    """Claim → the class it has in the plan."""
    planned = plan(inventory(node("n"), *objects), **options)
    return {each.name: each.spec.storage_class_name for each in planned.inventory.persistent_volume_claims}


def test_claims_get_what_the_api_servers_admission_gives_them():
    with gzip.open(Path(__file__).parent / "default_class.jsonl.gz", "rt") as file:
        lines = [json.loads(line) for line in file]
    given = 0
    for case, answer in zip(lines[::2], lines[1::2], strict=True):
        storage_classes = msgspec.convert(case["claim"]["storageClasses"], list[StorageClass])
        wanted = msgspec.convert(case["claim"]["claim"], PersistentVolumeClaim)
        admitted = DefaultClass(storage_classes, KubeVersion(1, 37)).admit(wanted)
        assert admitted.spec.storage_class_name == answer["storageClassName"], case
        given += admitted is not wanted
    assert given > 50


def test_a_claim_without_a_class_gets_the_default_one():
    assert classes(storage_class("slow", default=False), storage_class("fast"), claim()) == {"data": "fast"}


def test_the_annotation_of_old_counts_as_well():
    assert classes(storage_class("fast", beta=True), claim()) == {"data": "fast"}


def test_of_several_the_youngest_is_taken_and_of_one_age_the_first_by_name():
    young, old = "2026-02-01T00:00:00Z", "2026-01-01T00:00:00Z"
    three = storage_class("a", created=old), storage_class("c", created=young), storage_class("b", created=young)
    assert classes(*three, claim()) == {"data": "b"}


def test_before_1_26_several_defaults_refuse_the_claim():
    with pytest.raises(InvalidError, match="Internal error occurred: 2 default StorageClasses were found"):
        classes(storage_class("a"), storage_class("b"), claim(), kube_version="1.25")


def test_a_claim_that_says_it_wants_none_gets_none():
    none = claim("none", storageClassName="")
    old = claim("old", annotations={"volume.beta.kubernetes.io/storage-class": "slow"})
    assert classes(storage_class("fast"), none, old) == {"none": "", "old": None}


def test_a_claim_that_is_stored_and_unbound_gets_it_since_1_26():
    objects = storage_class("fast"), claim("waits", uid="1"), claim("bound", uid="2", volumeName="pv-1")
    assert classes(*objects) == {"waits": "fast", "bound": None}
    assert classes(*objects, kube_version="1.25") == {"waits": None, "bound": None}


def test_claims_of_stateful_sets_keep_the_class_that_their_annotation_names():
    template = claim(annotations={"volume.beta.kubernetes.io/storage-class": "slow"})
    planned = plan(
        inventory(node("n"), storage_class("fast"), workload("StatefulSet", "db", volumeClaimTemplates=[template]))
    )
    (made,) = planned.inventory.persistent_volume_claims
    assert made.spec.storage_class_name is None
    assert made.metadata.annotations
    assert made.metadata.annotations.storage_class == "slow"


def test_the_plan_says_so():
    mounted = {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]}
    planned = plan(inventory(node("n"), storage_class("fast"), claim(), claim("more"), pod("p", **mounted)))
    assert "2 claims that name no StorageClass get the default one, fast" in planned.notes
    assert not any("StorageClass" in each for each in plan(inventory(node("n"), storage_class("fast"))).notes)
