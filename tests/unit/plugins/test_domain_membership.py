"""The domain of each node, updated with the nodes."""

from __future__ import annotations

import numpy as np

from tests.unit.plugins.storage_builders import ZONE, cluster, node, zonal
from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools, Rows
from topospread.plugins.domain_membership import OUT, WITHOUT_KEY, Membership
from topospread.plugins.interface import length


class Moves:
    """A follower that keeps what it is told."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int, int]] = []

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        self.seen.append((row, before, after))


def membership(made: Cluster, *out: str) -> Membership:
    def takes_part(rows: Rows) -> Bools:
        part = np.ones(length(rows), dtype=np.bool_)
        for name in out:
            part[np.arange(made.nodes.size)[rows] == made.nodes.row_of[name]] = False
        return part & made.nodes.alive[rows]

    return Membership(made, made.nodes.labels(ZONE), takes_part)


def zones(found: Membership) -> dict[str, int]:
    codes, nodes, indexes = found.by_name()
    assert indexes[codes].tolist() == list(range(len(codes)))
    return {found.column.values[code]: int(number) for code, number in zip(codes, nodes, strict=True)}


def test_domains_are_the_values_with_included_nodes() -> None:
    made = cluster(zonal(n0="b", n1="a", n2="a", n3="c"))
    found = membership(made, "n3")
    assert zones(found) == {"a": 2, "b": 1}
    assert list(zones(found)) == ["a", "b"]
    assert found.domains == 2
    assert found.member[made.nodes.row_of["n3"]] == OUT


def test_a_node_without_the_key_is_in_no_domain() -> None:
    made = cluster({**zonal(n0="a"), "n1": {}})
    found = membership(made)
    assert found.member[made.nodes.row_of["n1"]] == WITHOUT_KEY
    assert not found.is_of_all_nodes
    assert membership(cluster(zonal(n0="a"))).is_of_all_nodes


def test_a_changed_node_moves_and_followers_hear_of_it() -> None:
    made = cluster(zonal(n0="a", n1="b"))
    found, follower = membership(made), Moves()
    found.follow(follower)
    position = made.journal.position
    made.put_node(node("n1", {ZONE: "a"}))
    assert found.is_stale(made.nodes.row_of["n1"])
    assert found.catch_up()
    row, (a, b) = made.nodes.row_of["n1"], (found.column.values.index(each) for each in ("a", "b"))
    assert follower.seen == [(row, b, a)]
    assert zones(found) == {"a": 2}
    assert found.domains == 1
    assert found.moved_since(row, position)
    assert not found.moved_since(made.nodes.row_of["n0"], position)


def test_an_added_node_may_bring_a_domain() -> None:
    made = cluster(zonal(n0="a"))
    found = membership(made)
    made.add_node(node("n1", {ZONE: "new"}))
    assert found.catch_up()
    assert zones(found) == {"a": 1, "new": 1}
    assert found.domains == 2


def test_a_deleted_node_takes_its_domain_along() -> None:
    made = cluster(zonal(n0="a", n1="b"))
    found = membership(made)
    made.delete_node("n1")
    assert found.catch_up()
    assert zones(found) == {"a": 1}


def test_a_follower_that_nothing_uses_is_forgotten() -> None:
    made = cluster(zonal(n0="a", n1="b"))
    found = membership(made)
    for _ in range(40):
        found.follow(Moves())
    made.put_node(node("n1", {ZONE: "a"}))
    assert found.catch_up()
    assert zones(found) == {"a": 2}
