"""Which nodes the extender's rules refuse, and which they wish for."""

from __future__ import annotations

from collections import Counter
from math import ceil
from random import Random

import pytest

from topospread.api.meta import ObjectMeta
from topospread.api.node import Node, NodeSpec
from topospread.api.node_selection import Taint
from topospread.api.pod import Pod, PodStatus
from topospread.extender.declared import HIERARCHY, MAX_PER_DOMAIN, SHARES, declared
from topospread.extender.domain_rules import refused, scores
from topospread.extender.surroundings import PodSurroundings, surroundings


def node(name: str, *, unschedulable: bool = False, taints: list[Taint] | None = None, **labels: str) -> Node:
    spec = NodeSpec(unschedulable=unschedulable, taints=taints)
    return Node(metadata=ObjectMeta(name=name, labels=labels), spec=spec)


def pod(name: str = "new", namespace: str = "default", phase: str = "", leaving: bool = False, **labels: str) -> Pod:
    metadata = ObjectMeta(
        name=name, namespace=namespace, labels=labels or {"app": "web"}, deletion_timestamp="now" if leaving else None
    )
    return Pod(metadata=metadata, status=PodStatus(phase=phase))


NODES = {
    each.name: each
    for each in (
        node("a1", zone="a", rack="1"),
        node("a2", zone="a", rack="2"),
        node("b1", zone="b", rack="3"),
        node("bare"),
    )
}


def around(*where: str, nodes: dict[str, Node] | None = None) -> PodSurroundings:
    return surroundings(pod(), None, nodes or NODES, [(pod(f"p{at}"), name) for at, name in enumerate(where)])


def against(annotation: str, text: str, *where: str, nodes: dict[str, Node] | None = None) -> dict[str, str]:
    asked, problems = declared({annotation: text})
    assert not problems
    return refused(asked, around(*where, nodes=nodes), nodes or NODES)


def test_a_domain_takes_as_many_as_its_cap() -> None:
    assert set(against(MAX_PER_DOMAIN, "zone: 2", "a1")) == {"bare"}
    found = against(MAX_PER_DOMAIN, "zone: 2", "a1", "a2")
    assert set(found) == {"a1", "a2", "bare"}
    assert found["a1"] == f"zone=a holds 2 pod(s), of at most 2 ({MAX_PER_DOMAIN})"
    assert found["bare"] == f"node(s) lack zone ({MAX_PER_DOMAIN})"


def test_a_cap_of_named_domains_leaves_the_others_alone() -> None:
    assert set(against(MAX_PER_DOMAIN, "zone: a=0")) == {"a1", "a2", "bare"}
    assert set(against(MAX_PER_DOMAIN, "zone: a=0, *=1", "b1")) == {"a1", "a2", "b1", "bare"}


def test_what_is_preferred_refuses_nothing_and_is_wished_for() -> None:
    asked, _ = declared({MAX_PER_DOMAIN: "prefer zone: 1"})
    here = around("a1")
    assert refused(asked, here, NODES) == {}
    points = scores(asked, here, NODES)
    assert points["b1"] > points["a1"] == points["a2"] > points["bare"] == 0


def test_pods_that_are_others_finished_or_leaving_are_not_counted() -> None:
    others = [
        (pod("p1", namespace="other"), "a1"),
        (pod("p2", phase="Succeeded"), "a1"),
        (pod("p3", leaving=True), "a1"),
        (pod("p4", app="api"), "a1"),
    ]
    assert surroundings(pod(), None, NODES, others).matching == {}


def test_labels_of_a_revision_do_not_part_a_group() -> None:
    old = pod("old", app="web", **{"pod-template-hash": "1"})
    new = pod("new", app="web", **{"pod-template-hash": "2"})
    assert surroundings(new, None, NODES, [(old, "a1")]).matching == {"a1": 1}


@pytest.mark.parametrize("seed", range(20))
def test_shares_are_reached_from_any_beginning_whichever_allowed_domain_is_taken(seed: int) -> None:
    draw = Random(seed)
    first = draw.randint(1, 98)
    second = draw.randint(1, 99 - first)
    percent = {"a": first, "b": second, "c": 100 - first - second}
    nodes = {domain: node(domain, zone=domain) for domain in (*percent, "none")}
    text = "zone: " + ", ".join(f"{domain}={share}" for domain, share in percent.items())
    placed: list[str] = []
    for number in range(1, 60):
        left = sorted(set(nodes) - set(against(SHARES, text, *placed, nodes=nodes)))
        assert left, "some domain is always open"
        assert "none" not in left
        placed.append(draw.choice(left))
        held = Counter(placed)
        assert all(held[domain] <= ceil(number * share / 100) for domain, share in percent.items())
    wanted = {domain: ceil(len(placed) * share / 100) for domain, share in percent.items()}
    assert all(0 <= wanted[domain] - held[domain] <= 2 for domain in percent)


def test_60_30_10_of_ten_pods_is_6_3_1() -> None:
    nodes = {domain: node(domain, zone=domain) for domain in "abc"}
    placed: list[str] = []
    for number in range(10):
        left = sorted(set(nodes) - set(against(SHARES, "zone: a=60, b=30, c=10", *placed, nodes=nodes)))
        placed.append(left[number % len(left)])
    assert Counter(placed) == {"a": 6, "b": 3, "c": 1}


def test_a_rack_is_set_against_the_racks_of_its_own_zone() -> None:
    # Zone b has one rack: a second spread constraint over racks would hold it to what a's two racks hold each.
    text = "zone > rack"
    assert set(against(HIERARCHY, text, "a1")) == {"a1", "a2", "bare"}
    assert set(against(HIERARCHY, text, "a1", "b1")) == {"a1", "bare"}
    assert set(against(HIERARCHY, text, "a1", "a2", "b1")) == {"a1", "a2", "bare"}
    assert "rack=1 of zone=a holds 1 pod(s), another 0" in against(HIERARCHY, text, "a1", "b1")["a1"]


def test_a_closed_domain_does_not_hold_a_hierarchy_down() -> None:
    taint = [Taint(key="dedicated", effect="NoSchedule")]
    for closed in (node("c1", zone="c", rack="9", unschedulable=True), node("c1", zone="c", rack="9", taints=taint)):
        found = against(HIERARCHY, "zone > rack", "a1", "b1", nodes={**NODES, "c1": closed})
        assert "a2" not in found


def test_a_wider_skew_is_allowed_where_it_is_written() -> None:
    assert set(against(HIERARCHY, "zone=2 > rack", "a1")) == {"a1", "bare"}


def test_what_lies_furthest_behind_its_share_is_wished_for_most() -> None:
    nodes = {domain: node(domain, zone=domain) for domain in "abc"}
    asked, _ = declared({SHARES: "zone: a=60, b=30, c=10"})
    points = scores(asked, around("a", "b", nodes=nodes), nodes)
    assert points == {"a": 10, "c": 6, "b": 3}
