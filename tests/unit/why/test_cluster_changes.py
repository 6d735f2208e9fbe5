"""Changes of the cluster that are worth a try."""

from __future__ import annotations

from typing import Any

import msgspec

from topospread.api.node import Node
from topospread.why.changes import Change
from topospread.why.cluster_changes import cluster_changes, surplus_pods
from topospread.why.domains import constraint_tables

from .builders import (
    GPU,
    HOST,
    ZONE,
    constraint,
    node,
    obstacles_of,
    pod,
    prepared,
    replica_set,
    replicas,
    spec,
    workload,
    zones,
)

OF = spec(constraint())


def proposed(*objects: dict[str, Any]) -> dict[str, list[Change]]:
    """What is proposed for the first pod that waits, by kind."""
    obstacles = obstacles_of(*objects)
    found: dict[str, list[Change]] = {}
    for each in cluster_changes(obstacles, constraint_tables(obstacles), []):
        found.setdefault(each.kind, []).append(each)
    return found


def test_a_cordon_is_lifted_with_its_taint_and_others_stay() -> None:
    closed = node("b", "zone-b", cordoned=True, taints=[{"key": "soft", "effect": "PreferNoSchedule"}])
    (change,) = proposed(*zones("a"), closed, pod("there", "a", OF), pod("web", of=OF))["uncordon"]
    assert change.title == "uncordon b in zone-b"
    assert change.patch == (
        {"op": "remove", "path": "/spec/unschedulable"},
        {"op": "remove", "path": "/spec/taints/1"},
    )
    assert change.of_node is not None
    opened = change.of_node(msgspec.convert(closed, Node))
    assert (opened.spec.unschedulable, [each.key for each in opened.spec.taints or ()]) == (None, ["soft"])


def test_a_node_that_something_else_closes_too_is_not_uncordoned_alone() -> None:
    (change,) = proposed(node("a", cordoned=True, taints=[GPU]), pod("web"))["uncordon"]
    assert not change.alone, "only beside a toleration"


def test_a_node_that_a_cordon_and_a_taint_close_is_reopened_by_one_change() -> None:
    closed = node("b", cordoned=True, taints=[GPU, {"key": "soft", "effect": "PreferNoSchedule"}])
    (change,) = proposed(node("a", taints=[GPU]), closed, pod("web"))["uncordon+untaint"]
    assert change.alone
    assert change.title == "uncordon b, and remove the taint dedicated=gpu:NoSchedule from b"
    assert [part.patch[-1]["path"] for part in change.parts] == ["/spec/taints/2", "/spec/taints/0"]
    opened = msgspec.convert(closed, Node)
    for part in change.parts:
        assert part.of_node is not None
        opened = part.of_node(opened)
    assert (opened.spec.unschedulable, [each.key for each in opened.spec.taints or ()]) == (None, ["soft"])


def test_three_obstacles_of_a_node_are_undone_together_and_a_taint_of_its_health_never() -> None:
    web = pod("web", of=spec(cpu="2"))
    there = pod("there", "a", spec(cpu="3"))
    (change,) = proposed(node("a", cordoned=True, taints=[GPU]), there, web)["uncordon+untaint+free"]
    assert change.title == "uncordon a, remove the taint dedicated=gpu:NoSchedule from a, and free 1 cpu on a"
    silent = {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}
    assert not [kind for kind in proposed(node("a", cordoned=True, taints=[silent]), web) if "+" in kind]


def test_room_is_what_is_missing_and_no_more() -> None:
    (change,) = proposed(node("a", cpu="1"), pod("there", "a", spec(cpu="700m")), pod("web"))["free"]
    assert change.title == "free 200m cpu on a"
    assert change.patch == ({"op": "add", "path": "/status/allocatable/cpu", "value": "1200m"},)


def test_a_node_that_is_too_small_cannot_be_freed() -> None:
    assert "free" not in proposed(node("a", cpu="1"), pod("big", of=spec(cpu="2")))


def test_names_of_resources_are_escaped_in_paths() -> None:
    gpu = {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    there = node("a")
    there["status"]["allocatable"]["nvidia.com/gpu"] = "1"
    (change,) = proposed(there, pod("there", "a", gpu), pod("web", of=gpu))["free"]
    assert change.patch[0]["path"] == "/status/allocatable/nvidia.com~1gpu"


def test_a_new_node_is_proposed_in_each_domain_that_takes_the_pod() -> None:
    nodes = [*zones("a"), node("b", "zone-b", cordoned=True)]
    (change,) = proposed(*nodes, pod("there", "a", OF), pod("web", of=OF))["newNode"]
    assert change.title == "a new node in zone-b, like a"
    (made,) = change.nodes
    assert (made.name, made.labels) == ("a-new", {HOST: "a-new", ZONE: "zone-b"})
    assert made.metadata.uid is None


def test_a_new_node_has_the_shape_of_one_of_the_domain_where_that_fits() -> None:
    nodes = [*zones("a"), node("b", "zone-b", cpu="1")]
    full = [pod("there", "a", OF), pod("full", "b", spec(cpu="1"), labels={"app": "other"})]
    (change,) = proposed(*nodes, *full, pod("web", of=OF))["newNode"]
    assert change.title.endswith(", like b")


def test_no_new_node_is_proposed_in_a_domain_of_which_all_nodes_are_silent() -> None:
    silent = [{"key": "node.kubernetes.io/unreachable", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    lost = node("b", "zone-b", taints=silent)
    (change,) = proposed(*zones("a"), lost, pod("there", "a", OF), pod("web", of=OF))["newNode"]
    assert change.title == "a new node in zone-a, like a"
    both = proposed(*zones("a"), lost, node("b2", "zone-b", cordoned=True), pod("there", "a", OF), pod("web", of=OF))
    assert [each.title for each in both["newNode"]] == ["a new node in zone-b, like a"]
    assert "newNode" not in proposed(lost, pod("web", of=OF))


def test_no_new_node_where_no_shape_fits() -> None:
    assert "newNode" not in proposed(node("a", cpu="1"), pod("big", of=spec(cpu="2")))


def test_surplus_pods_are_those_of_old_revisions_while_a_deployment_has_too_many() -> None:
    old, new = spec(constraint()), spec(constraint(), cpu="400m")
    objects = [
        *zones(),
        workload("Deployment", 2, new),
        replica_set("old", 2, old),
        replica_set("new", 1, new),
        *replicas("old", old, ["a", "b"]),
    ]
    (web,) = [each for each in prepared(*objects).plan.workloads if each.kind == "Deployment"]
    assert [each.name for each in surplus_pods(web, 1)] == ["web-old-0", "web-old-1"]
    assert surplus_pods(web, 0) == [], "as many as there are to be"


def test_of_a_cordon_in_a_file_no_taint_is_lifted_that_stands_in_no_file() -> None:
    closed = node("b", "zone-b") | {"metadata": {"name": "b", "labels": {ZONE: "zone-b", HOST: "b"}}}
    closed["spec"] = {"unschedulable": True}
    (change,) = proposed(*zones("a"), closed, pod("there", "a", OF), pod("web", of=OF))["uncordon"]
    assert change.patch == ({"op": "remove", "path": "/spec/unschedulable"},)
    assert change.of_node is not None
    opened = change.of_node(msgspec.convert(closed, Node))
    assert opened.spec.taints is None
