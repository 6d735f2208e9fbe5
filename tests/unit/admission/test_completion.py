"""What the API server adds to new objects: namespaces, names, uids and the selector of a ReplicationController."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.controllers.manifests import inventory
from topospread.admission.completion import completed
from topospread.admission.names import Names, generated_uid
from topospread.api.inventory import Inventory
from topospread.errors import InvalidError

Json = dict[str, Any]
TEMPLATE: Json = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}


def item(kind: str, spec: Json | None = None, api_version: str = "v1", **metadata: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec or {}}


def replica_set(**metadata: Any) -> Json:
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE}
    return item("ReplicaSet", spec, "apps/v1", **({"name": "web"} | metadata))


def pod(of: str = "", **metadata: Any) -> Json:
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": of, "controller": True}
    owners = {"ownerReferences": [owner]} if of else {}
    return item("Pod", {"containers": [{"name": "c"}]}, **({"name": "p"} | owners | metadata))


def made(*items: Json) -> Inventory:
    return completed(inventory(*items), Names())


def test_every_object_has_a_namespace_and_every_namespace_its_name_as_a_label() -> None:
    given = inventory(
        pod(namespace="other"), replica_set(), item("Service"), item("Namespace", name="mine", labels={"a": "b"})
    )
    found = completed(given, Names())
    assert [each.namespace for each in (*found.pods, *found.replica_sets, *found.services)] == [
        "other",
        "default",
        "default",
    ]
    assert {each.name: each.labels.get("kubernetes.io/metadata.name") for each in found.namespaces} == {
        name: name for name in ("mine", "default", "other")
    }
    assert {each.name: each.labels for each in found.namespaces}["mine"]["a"] == "b"
    assert given.replica_sets[0].metadata.namespace in (None, "")
    assert len(given.namespaces) == 1


def test_a_generated_name_has_its_place_and_no_name_at_all_is_refused() -> None:
    found = made(pod(name=None, generateName="web-"))
    assert found.pods[0].name.startswith("web-")
    assert ("Pod", "default", found.pods[0].name) in found.places
    with pytest.raises(InvalidError, match="name or generateName is required"):
        made(pod(name=None))
    with pytest.raises(InvalidError, match="name or generateName is required"):
        made(pod(name=None, namespace="ns"))


def test_a_controller_without_a_uid_has_that_of_its_own_objects_or_one_that_is_made_up() -> None:
    assert made(replica_set()).replica_sets[0].metadata.uid == generated_uid("ReplicaSet", "default", "web")
    assert made(replica_set(uid="1"), pod("7")).replica_sets[0].metadata.uid == "1"
    assert made(replica_set(), pod("7"), pod("8", name="q")).replica_sets[0].metadata.uid == "7"
    assert made(replica_set(), pod("7", namespace="other")).replica_sets[0].metadata.uid != "7"


@pytest.mark.parametrize(("selector", "expected"), [(None, {"app": "web"}), ({"a": "b"}, {"a": "b"})])
def test_a_replication_controller_selects_the_pods_of_its_template(selector: Json | None, expected: Json) -> None:
    (found,) = made(
        item("ReplicationController", {"selector": selector, "template": TEMPLATE}, name="rc")
    ).replication_controllers
    assert found.spec.selector == expected
    (bare,) = made(item("ReplicationController", {}, name="rc")).replication_controllers
    assert not bare.spec.selector
