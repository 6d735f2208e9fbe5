"""What was probably meant, in place of what is not there: found, tried, and not where it is right."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from topospread.why.typo_suggestions import close_key

from .builders import (
    GPU,
    HOST,
    ZONE,
    by_kind,
    constraint,
    explained,
    node,
    pod,
    replica_set,
    replicas,
    spec,
    workload,
    zones,
)

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
Json = dict[str, Any]


def of_deployment(replicas: int, of: Json, *others: Json) -> Json:
    return by_kind(explained("deploy/web", *zones(), *others, workload("Deployment", replicas, of)))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("zone", ZONE),
        ("failure-domain.beta.kubernetes.io/zone", ZONE),
        ("topology.kubernetes.io/zome", ZONE),
        ("kubernetes.io/zone", ZONE),
        ("hostname", HOST),
        ("acme.example/rack", ""),
    ],
)
def test_a_label_that_nodes_have_is_meant(key: str, meant: str) -> None:
    assert close_key(key, [HOST, ZONE, "kubernetes.io/os"]) == meant


def test_the_topology_key_that_was_meant() -> None:
    found = of_deployment(3, spec(constraint("topology.kubernetes.io/zome")))["topologyKey"]
    assert found.title == f"topologyKey {ZONE} instead of topology.kubernetes.io/zome"
    assert [each["value"] for each in found.patch] == [ZONE]
    assert (found.placed, found.wanted) == (3, 3)


def test_no_key_that_another_constraint_has_already() -> None:
    of = spec(constraint(), constraint("zone"))
    assert "topologyKey" not in of_deployment(3, of)


@pytest.mark.parametrize(
    ("selected", "title"),
    [
        ({ZONE: "zone-aa"}, f"nodeSelector {ZONE}=zone-a instead of {ZONE}=zone-aa"),
        ({"zone": "zone-b"}, f"nodeSelector {ZONE}=zone-b instead of zone=zone-b"),
        ({"disk": "ssd", ZONE: "zone-a"}, "nodeSelector without disk=ssd"),
    ],
)
def test_the_node_label_that_was_meant(selected: Json, title: str) -> None:
    found = of_deployment(2, spec(nodeSelector=selected))["nodeSelector"]
    assert found.title == title
    assert found.complete


def test_no_other_operating_system_or_architecture_than_the_image_is_for() -> None:
    assert "nodeSelector" not in of_deployment(2, spec(nodeSelector={"kubernetes.io/os": "windows"}))
    assert "nodeSelector" not in of_deployment(2, spec(nodeSelector={"kubernetes.io/arch": "arm64"}))


def test_anti_affinity_preferred_instead_of_required() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    of = spec(affinity={"podAntiAffinity": {REQUIRED: [term]}})
    found = of_deployment(5, of)["antiAffinity"]
    assert found.complete
    assert [each["op"] for each in found.patch] == ["remove", "add"]
    assert found.patch[1]["value"] == [{"weight": 100, "podAffinityTerm": term}]
    assert "antiAffinity" not in of_deployment(2, of | {"nodeSelector": {"disk": "ssd"}}), "it is not to blame"


def test_the_namespace_of_the_pods_that_an_affinity_matches() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "cache"}}}
    cache = copy.deepcopy(pod("cache", "b"))
    cache["metadata"] |= {"namespace": "data", "labels": {"app": "cache"}}
    found = of_deployment(2, spec(affinity={"podAffinity": {REQUIRED: [term]}}), cache)["affinity"]
    assert found.title == "namespaces: [data] in the affinity to pods, where those are that it matches"
    assert found.complete
    near = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "cache"}}, "namespaces": ["data"]}
    found = of_deployment(2, spec(affinity={"podAffinity": {REQUIRED: [near]}}), cache)["affinity"]
    assert found.title == f"topologyKey {ZONE} instead of zone in the affinity to pods"


def test_pods_of_the_old_revision_refuse_the_new_ones_of_a_rolling_update() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    of = spec(affinity={"podAntiAffinity": {REQUIRED: [term]}})
    there = [replica_set("abc", 4, of), *replicas("abc", of, ["a", "b", "c", ""])]
    assert "antiAffinity" not in of_deployment(4, of, *there), "each zone has an old pod, and none may go at first"
    stateful = pod("web-0", "a", of, owner=("StatefulSet", "web"))
    others = explained("sts/web", *zones("a"), stateful, workload("StatefulSet", 2, of))
    assert "antiAffinity" not in by_kind(others)


def test_so_they_do_whatever_else_is_changed() -> None:
    term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
    of = spec(affinity={"podAntiAffinity": {REQUIRED: [term]}})
    nodes = [*zones("ab"), node("c", "zone-c", taints=[GPU])]
    there = [replica_set("abc", 3, of), *replicas("abc", of, ["a", "b", ""])]
    found = by_kind(explained("deploy/web", *nodes, workload("Deployment", 3, of), *there))["toleration"]
    assert found.complete
    assert found.title.endswith(", with maxSurge 0 and maxUnavailable 1"), "the surge has no zone of its own"
    assert [each["path"] for each in found.patch] == ["/spec/template/spec/tolerations", "/spec/strategy"]
