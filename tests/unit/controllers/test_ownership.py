"""Owners of pods: by reference, as long as the selector matches, and orphans by the first selector that does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.unit.controllers.manifests import container, inventory, workload
from topospread.api.kinds import KINDS
from topospread.api.meta import OwnerReference
from topospread.api.pod import Pod
from topospread.controllers.controllers import Controller, controller
from topospread.controllers.ownership import Claims, Owners, claim
from topospread.errors import Place

Json = dict[str, Any]


def owner(kind: str, name: str = "web", selector: Json | None = None, **metadata: Any) -> Controller:
    given = {"matchLabels": {"app": "web"}} if selector is None else selector
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c"}]}}
    spec = {"selector": given["matchLabels"] if kind == "ReplicationController" else given, "template": template}
    data = {"metadata": {"name": name, "namespace": "ns", "uid": "1"} | metadata, "spec": spec}
    return controller(kind, msgspec.convert(data, KINDS[kind].struct), Place())


def reference(kind: str = "ReplicaSet", name: str = "web", uid: str = "1", api_version: str = "apps/v1") -> Json:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}


def pod(name: str, of: Json | None = None, labels: Json | None = None, phase: str = "Running", **metadata: Any) -> Pod:
    owners = {"ownerReferences": [of]} if of else {}
    given = (
        {"name": name, "namespace": "ns", "labels": {"app": "web"} if labels is None else labels} | owners | metadata
    )
    return msgspec.convert({"metadata": given, "spec": {"containers": []}, "status": {"phase": phase}}, Pod)


def claimed(pods: list[Pod], *owners: Controller) -> Claims:
    return claim(pods, {each.key: each for each in owners}, lambda reference, pod: None)


def names(pods: list[Pod]) -> list[str]:
    return [each.name for each in pods]


@pytest.mark.parametrize(
    ("of", "found"),
    [
        (reference(), True),
        (reference(uid=""), True),
        (reference(uid="2"), False),
        (reference(name="api"), False),
        (reference(api_version="extensions/v1beta1"), True),
        (reference(api_version="other/v1"), False),
        (reference(api_version=""), True),
        (reference(api_version="v1"), False),
        (reference("Job", api_version="batch/v1"), False),
        (reference("Odd", api_version="apps/v1"), False),
    ],
)
def test_a_reference_means_an_object_of_its_kind_group_name_and_uid(of: Json, found: bool) -> None:
    web = owner("ReplicaSet")
    key = Owners([("ReplicaSet", web.object)]).find(msgspec.convert(of, OwnerReference), "ns")
    assert key == (web.key if found else None)
    assert Owners([("ReplicaSet", web.object)]).find(msgspec.convert(of, OwnerReference), "other") is None


def test_pods_go_to_their_owner_while_its_selector_matches() -> None:
    web = owner("ReplicaSet")
    there = [pod("a", reference()), pod("b", reference(), {"app": "api"}), pod("c", reference(name="gone"))]
    there += [pod("d", reference("Node", "n", api_version="v1")), pod("e", reference(name="gone"))]
    found = claimed(there, web)
    assert names(web.pods) == ["a"]
    assert names(found.bare) == ["b", "d"]
    assert {key: names(pods) for key, pods in found.strangers.items()} == {("ReplicaSet", "ns", "gone"): ["c", "e"]}
    assert found.adopted == {}


def test_an_owner_that_was_not_read_may_be_known_all_the_same_and_is_asked_for_once() -> None:
    web, asked = owner("ReplicaSet"), []

    def missing(of: OwnerReference, pod: Pod) -> Controller:
        asked.append(of.name)
        return web

    found = claim([pod("a", reference(name="x")), pod("b", reference(name="x"))], {}, missing)
    assert (names(web.pods), asked, found.strangers) == (["a", "b"], ["x"], {})


@pytest.mark.parametrize(
    ("kind", "orphan", "adopted"),
    [
        ("ReplicaSet", pod("a"), True),
        ("ReplicaSet", pod("a", phase="Failed"), False),
        ("ReplicationController", pod("a", phase="Succeeded"), False),
        ("DaemonSet", pod("a", phase="Failed"), True),
        ("DaemonSet", pod("a"), True),
        ("StatefulSet", pod("web-0"), True),
        ("StatefulSet", pod("api-0"), False),
        ("StatefulSet", pod("a"), False),
        ("ReplicaSet", pod("a", labels={"app": "api"}), False),
        ("ReplicaSet", pod("a", labels={}), False),
        ("ReplicaSet", pod("a", deletionTimestamp="2026-01-01T00:00:00Z"), False),
        ("ReplicaSet", pod("a", namespace="other"), False),
    ],
)
def test_an_orphan_is_adopted_where_its_controller_would(kind: str, orphan: Pod, adopted: bool) -> None:
    web = owner(kind)
    found = claimed([orphan], web)
    assert (names(web.pods), names(found.bare)) == (([orphan.name], []) if adopted else ([], [orphan.name]))
    assert found.adopted == ({web.key: 1} if adopted else {})


def test_the_first_controller_whose_selector_matches_adopts() -> None:
    leaving = owner("ReplicaSet", "leaving", deletionTimestamp="2026-01-01T00:00:00Z")
    wide = owner("ReplicaSet", "wide", {"matchExpressions": [{"key": "app", "operator": "Exists"}]})
    web, again = owner("ReplicaSet"), owner("ReplicaSet", "again")
    found = claimed([pod("a"), pod("b")], leaving, web, again)
    assert (names(web.pods), found.adopted) == (["a", "b"], {web.key: 2})
    claimed([pod("c", labels={"app": "db"})], web, wide)
    assert names(wide.pods) == ["c"]


@pytest.mark.parametrize(("image", "is_created"), [("i", True), ("other", False)])
def test_a_replica_set_of_a_manifest_is_its_deployments_with_the_same_template_alone(
    image: str, is_created: bool
) -> None:
    web = workload("Deployment", "web")
    made = workload("ReplicaSet", "web-1")
    made["spec"]["template"] = {
        "metadata": {"labels": {"app": "web", "pod-template-hash": "1"}},
        "spec": {"containers": [container() | {"image": image}]},
    }
    web["spec"]["template"]["spec"] = {"containers": [container() | {"image": "i"}]}
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    given = inventory(web, made)
    owners = Owners([("Deployment", given.deployments[0])])
    assert owners.created(given.replica_sets[0]) is is_created
