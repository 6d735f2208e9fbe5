"""Sums over the pods of each domain, for inter-pod affinity."""

from __future__ import annotations

import numpy as np

from tests.unit.plugins.storage_builders import ZONE, cluster, node, zonal
from topospread.cluster import Cluster
from topospread.plugins.affinity_tally import Tally


def tally(**zones: str) -> tuple[Cluster, Tally]:
    made = cluster({**zonal(**zones), "bare": {}})
    return made, Tally(made.nodes.labels(ZONE), made.nodes.capacity)


def test_amounts_add_up_in_the_domain_of_a_node() -> None:
    made, found = tally(n0="a", n1="a", n2="b")
    for name, amount in (("n0", 2), ("n1", 3), ("n2", -1)):
        found.add(made.nodes.row_of[name], amount)
    assert [found.of(row) for row in range(made.nodes.size)] == [5, 5, -1, 0]
    assert found.domains == 2


def test_a_sum_of_zero_is_not_kept() -> None:
    _, found = tally(n0="a")
    found.add(0, 2)
    found.add(0, -2)
    assert (found.sums, found.domains) == ({}, 0)


def test_a_node_without_the_key_adds_to_no_domain() -> None:
    made, found = tally(n0="a")
    found.add(made.nodes.row_of["bare"], 3)
    assert found.sums == {}


def test_a_changed_node_takes_its_amount_to_its_new_domain() -> None:
    made, found = tally(n0="a", n1="a", n2="b")
    found.add(0, 2)
    found.add(1, 1)
    made.put_node(node("n0", {ZONE: "b"}))
    found.move(0)
    assert [found.of(row) for row in range(3)] == [3 - 1, 1, 2]
    found.move(2)
    assert found.of(2) == 2


def test_an_amount_leaves_the_domain_that_it_was_added_to() -> None:
    made, found = tally(n0="a", n1="a")
    found.add(0, 2)
    made.put_node(node("n0", {ZONE: "b"}))
    found.add(0, -2)
    assert found.sums == {}


def test_many_rows_have_the_sums_of_few() -> None:
    zones = {f"n{i}": "abc"[i % 3] for i in range(50)}
    made, found = tally(**zones)
    for row in range(50):
        found.add(row, row)
    rows = np.arange(made.nodes.size)
    expected = [found.of(row) for row in range(made.nodes.size)]
    assert found.at(rows).tolist() == expected
    assert found.at(slice(0, made.nodes.size)).tolist() == expected
    assert found.at(rows[:5]).tolist() == expected[:5]
    assert expected[-1] == 0


def test_nodes_are_grouped_by_the_sum_of_their_domain() -> None:
    made, found = tally(n0="a", n1="a", n2="b", n3="c")
    found.add(0, 4)
    column = found.group_column()
    rows = np.arange(made.nodes.size)
    values = column.values(rows)
    assert values[0] == values[1] != values[2]
    assert [column.value(int(row)) for row in rows] == values.tolist()
