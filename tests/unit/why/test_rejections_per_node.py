"""What every plugin has against every node, and the nodes that lack least."""

from __future__ import annotations

from typing import Any

import pytest

from topospread.scheduling.verdict import LEFT_OUT_BY_PRE_FILTER
from topospread.why.rejections_per_node import amount_words, shown_taint

from .builders import CORDON, GPU, HOST, SPREAD, ZONE, constraint, node, obstacles_of, pod, spec, zones


def test_every_plugin_is_asked_about_every_node() -> None:
    found = obstacles_of(node("a", taints=[GPU], cpu="1"), pod("big", of=spec(cpu="2")))
    assert [(each.plugin, each.nodes, each.alone) for each in found.rejections()] == [
        ("TaintToleration", 1, 0),
        ("NodeResourcesFit", 1, 0),
    ]


def test_a_rejection_that_no_other_plugin_shares_is_counted_as_alone() -> None:
    found = obstacles_of(node("a", taints=[GPU]), node("b", cpu="1"), pod("big", of=spec(cpu="2")))
    assert [(each.plugin, each.alone) for each in found.rejections()] == [
        ("TaintToleration", 1),
        ("NodeResourcesFit", 1),
    ]


def test_the_taints_behind_a_rejection_are_named_commonest_first() -> None:
    location = {"key": "location", "effect": "NoSchedule"}
    nodes = [node("a", taints=[location]), node("b", taints=[GPU]), node("c", taints=[GPU])]
    (taints,) = obstacles_of(*nodes, pod("web")).rejections()
    assert taints.details == ("dedicated=gpu:NoSchedule", "location:NoSchedule")


def test_a_node_tells_its_numbers() -> None:
    found = obstacles_of(node("a", cpu="1"), pod("there", "a", spec(cpu="700m")), pod("web", of=spec(cpu="500m")))
    (room,) = found.of_node(0)
    assert room.details == ("200m cpu short",)
    (short,) = found.shortages(0)
    assert (short.requested, short.used, short.allocatable, short.missing) == (500, 700, 1000, 200)


def test_a_cordoned_node_says_so() -> None:
    found = obstacles_of(node("a", cordoned=True), pod("web"))
    assert [(each.plugin, each.details) for each in found.of_node(0)] == [
        ("NodeUnschedulable", ("cordoned",)),
        ("TaintToleration", (shown_taint(CORDON["key"], None, CORDON["effect"]),)),
    ]


def test_the_skew_that_refuses_a_node_is_told() -> None:
    of = spec(constraint())
    found = obstacles_of(
        *zones("ab"), node("c", "zone-c", cordoned=True), *(pod(n, n, of) for n in "ab"), pod("w", of=of)
    )
    (spread,) = found.of_node(found.verdict.nodes.index("a"))
    assert spread.plugin == SPREAD
    assert spread.details == ("zone-a: skew 2 > maxSkew 1",)


def test_a_node_without_the_key_says_so() -> None:
    found = obstacles_of(node("bare"), pod("web", of=spec(constraint())))
    assert found.of_node(0)[0].details == ("no label topology.kubernetes.io/zone",)


def test_a_node_says_what_of_the_node_selector_it_lacks() -> None:
    bare, slow = node("bare"), node("slow")
    slow["metadata"]["labels"]["disk"] = "hdd"
    found = obstacles_of(bare, slow, pod("web", of=spec(nodeSelector={"disk": "ssd"})))
    assert [found.of_node(i)[0].details for i in range(2)] == [("no label disk",), ("disk is hdd, not ssd",)]


@pytest.mark.parametrize(
    ("selected", "details"),
    [
        ({ZONE: "zone-a", "disk": "ssd"}, ("disk=ssd",)),
        ({ZONE: "zone-a", "disk": "hdd"}, (f"{ZONE}=zone-a", "disk=hdd")),
    ],
)
def test_the_labels_that_no_node_has_explain_it_else_all_that_no_node_has_together(
    selected: dict[str, str], details: tuple[str, ...]
) -> None:
    other = node("b", "zone-b")
    other["metadata"]["labels"]["disk"] = "hdd"
    found = obstacles_of(node("a", "zone-a"), other, pod("web", of=spec(nodeSelector=selected)))
    assert [each.details for each in found.rejections()] == [details]


def test_the_nearest_node_is_the_one_that_the_fewest_plugins_reject() -> None:
    nodes = [node("a", taints=[GPU], cpu="1"), node("b", cpu="1"), node("c", taints=[GPU], cpu="1")]
    nearest = obstacles_of(*nodes, pod("big", of=spec(cpu="2"))).nearest(3)
    assert [(each.node, each.alike) for each in nearest] == [("b", 0), ("a", 1)]


def test_of_full_nodes_the_one_that_lacks_least_is_nearest() -> None:
    nearest = obstacles_of(node("a", cpu="1"), node("b", cpu="1500m"), pod("big", of=spec(cpu="2"))).nearest(3)
    assert [(each.node, each.alike) for each in nearest] == [("b", 1)]


def test_nodes_that_lack_different_labels_are_not_of_one_kind() -> None:
    nodes = [node("a", "zone-a"), node("b", "zone-c"), node("c")]
    found = obstacles_of(*nodes, pod("web", of=spec(nodeSelector={ZONE: "zone-b"})))
    kinds = [(each.node, each.alike) for each in found.nearest(9, by_details=("NodeAffinity",))]
    assert kinds == [("a", 1), ("c", 0)]
    assert [each.alike for each in found.nearest(9)] == [2]


def test_a_node_that_pre_filter_left_out_is_rejected_once_and_comes_last() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["b"]}]
    term = {"nodeSelectorTerms": [{"matchFields": fields}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}
    found = obstacles_of(node("a"), node("b", cpu="1"), pod("agent", of=spec(cpu="2", affinity=affinity)))
    assert [(each.plugin, each.nodes, each.alone) for each in found.rejections()] == [
        (LEFT_OUT_BY_PRE_FILTER, 1, 1),
        ("NodeResourcesFit", 1, 1),
    ]
    assert [each.node for each in found.nearest(2)] == ["b", "a"]


@pytest.mark.parametrize(
    ("resource", "amount", "words"),
    [
        ("cpu", 300, "300m cpu"),
        ("cpu", 2000, "2 cpu"),
        ("memory", 1 << 20, "1Mi memory"),
        ("memory", (1 << 20) + 1, "2Mi memory"),
        ("memory", 17, "17 memory"),
        ("pods", 1, "1 pod"),
        ("pods", 2, "2 pods"),
        ("nvidia.com/gpu", 1, "1 nvidia.com/gpu"),
    ],
)
def test_amounts_as_kubernetes_writes_them(resource: str, amount: int, words: str) -> None:
    assert amount_words(resource, amount) == words


def core(*objects: dict[str, Any]) -> list[tuple[str, str, int]]:
    return [(each.plugin, each.topology_key, each.nodes) for each in obstacles_of(*objects).core()]


def test_the_fewest_obstacles_that_suffice_to_block() -> None:
    small = [node("a", cpu="100m", taints=[GPU]), node("b", cpu="100m", cordoned=True)]
    assert core(*small, pod("web")) == [("NodeResourcesFit", "", 2)], "no taint is needed for it"
    nodes = [node("a", "zone-a"), node("b", "zone-b", taints=[GPU]), node("c", "zone-a", cpu="100m")]
    of = spec(constraint())
    assert core(*nodes, pod("there", "a", of), pod("web", of=of)) == [
        ("TaintToleration", "", 1),
        ("PodTopologySpread", ZONE, 2),
    ]


def test_a_constraint_is_an_obstacle_of_its_own() -> None:
    of = spec(constraint(ZONE), constraint(HOST))
    nodes = [node("a", "zone-a"), node("b", "zone-a"), node("c", "zone-b", cordoned=True)]
    there = [pod("p", "a", of), pod("q", "b", of), pod("web", of=of)]
    assert core(*nodes, *there) == [("NodeUnschedulable", "", 1), ("PodTopologySpread", ZONE, 2)]


def test_a_resource_that_no_node_has_explains_why_none_is_large_enough() -> None:
    found = obstacles_of(node("a"), pod("web", of=spec() | {"containers": [GREEDY]}))
    (resources,) = (each for each in found.rejections() if each.plugin == "NodeResourcesFit")
    assert resources.details == ("1 example.com/gpu (no node has any)",)


GREEDY = {"name": "c", "resources": {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}}
