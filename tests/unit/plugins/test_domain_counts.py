"""Counts of pods by domain follow pods and nodes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.plugins.storage_builders import WEB, ZONE, cluster, node, place, pod, zonal
from topospread.api.labels import Selector
from topospread.cluster import Cluster
from topospread.plugins.domain_counts import DomainCounts, matching_pods, pods_on
from topospread.plugins.domain_membership import Membership

SELECTOR = Selector.from_set(WEB)


def counts_of(made: Cluster) -> DomainCounts:
    pods = matching_pods(made, "ns", SELECTOR, empty_counts=False)
    membership = Membership(made, made.nodes.labels(ZONE), lambda rows: made.nodes.alive[rows])
    return pods.shared("zone", lambda: DomainCounts(pods, membership))


def by_zone(counts: DomainCounts) -> dict[str, int]:
    codes = np.flatnonzero(counts.nodes).astype(np.int32)
    found = counts.at(codes).tolist()
    assert counts.at_each(codes.tolist()) == found
    return {counts.membership.column.values[code]: each for code, each in zip(codes, found, strict=True)}


@pytest.mark.parametrize("late", [False, True], ids=["pods after the counts", "pods before the counts"])
def test_counts_and_minimum_follow_pods_and_nodes(late: bool) -> None:
    made = cluster({**zonal(n0="a", n1="a", n2="b", n3="c"), "keyless": {}})
    early = None if late else counts_of(made)
    for name, on in (("p0", "n0"), ("p1", "n1"), ("p2", "n2"), ("p3", "keyless")):
        place(made, pod(name=name, labels=WEB), on)
    place(made, pod(name="db", labels={"app": "db"}), "n3")
    counts = early or counts_of(made)
    assert (by_zone(counts), counts.minimum, counts.domains) == ({"a": 2, "b": 1, "c": 0}, 0, 3)
    place(made, pod(name="p4", labels=WEB), "n3")
    assert counts.minimum == 1
    made.unbind("ns/p4")
    assert counts.minimum == 0
    made.delete_node("n3")
    made.put_node(node("n1", {ZONE: "b"}))
    counts.catch_up()
    assert (by_zone(counts), counts.minimum, counts.domains) == ({"a": 1, "b": 2}, 1, 2)
    made.put_node(node("n1", {ZONE: "new"}))
    counts.catch_up()
    assert by_zone(counts) == {"a": 1, "b": 1, "new": 1}


def test_a_selector_without_requirements_counts_pods_only_if_told() -> None:
    made = cluster(zonal(n0="a"))
    place(made, pod(labels=WEB), "n0")
    found = [matching_pods(made, "ns", Selector.everything(), empty_counts=each) for each in (True, False)]
    assert [each.on_node for each in found] == [{0: 1}, {}]


@pytest.mark.parametrize("nodes", [3, 80])
def test_pods_on_nodes_are_the_same_for_few_rows_and_for_many(nodes: int) -> None:
    made = cluster(zonal(**{f"n{i}": "a" for i in range(nodes)}))
    pods = matching_pods(made, "ns", SELECTOR, empty_counts=False)
    for i in range(3):
        place(made, pod(name=f"p{i}", labels=WEB), f"n{2 * (i % 2)}")
    expected = [2, 0, 1] + [0] * (nodes - 3)
    assert pods_on(pods, slice(0, nodes)).tolist() == expected
    assert pods_on(pods, np.arange(nodes)[::-1]).tolist() == expected[::-1]
