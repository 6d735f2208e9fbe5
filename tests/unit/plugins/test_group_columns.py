"""Columns that group nodes: by domain, by having the key, by pods on the node, by pods in the domain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.unit.plugins.storage_builders import cluster
from topospread.cluster import Cluster
from topospread.cluster.nodes import LabelColumn
from topospread.cluster.selections import Selection
from topospread.plugins.group_columns import (
    MISSING,
    ByDomain,
    GroupColumn,
    HasKey,
    PodsInDomain,
    PodsOnNode,
    in_domains,
    is_grouped_by_domain,
)

ROWS = np.arange(4)


def zones(**more: Any) -> tuple[Cluster, LabelColumn]:
    made = cluster({"a": {"zone": "x"}, "b": {"zone": "y"}, "c": {}, "d": {"zone": "x"}} | more)
    return made, made.nodes.labels("zone")


def values(column: GroupColumn) -> list[int]:
    found = column.values(ROWS).tolist()
    assert found == column.values(slice(0, 4)).tolist() == [column.value(row) for row in range(4)]
    return found


def test_domains_and_the_key() -> None:
    _, labels = zones()
    assert (values(ByDomain(labels)), values(HasKey(labels))) == ([0, 1, -1, 0], [0, 0, MISSING, 0])
    assert (ByDomain(labels).is_fixed, HasKey(labels).is_fixed) == (True, True)
    assert len({ByDomain(labels).key, HasKey(labels).key, ByDomain(zones()[1]).key}) == 2


def test_pods_on_the_node() -> None:
    _, labels = zones()
    pods = Selection(set()).counting()
    pods.on_node.update({0: 2, 2: 5})
    column = PodsOnNode(labels, pods)
    assert (values(column), column.counted()) == ([2, 0, MISSING, 0], {0: 2})
    assert (column.is_fixed, column.whole_domains) == (False, False)
    all_have = cluster({"a": {"zone": "x"}}).nodes.labels("zone")
    assert PodsOnNode(all_have, pods).counted() is pods.on_node


def test_pods_in_the_domain() -> None:
    _, labels = zones()
    counts = np.array([3, 0])
    of: Any = SimpleNamespace(
        counts=counts, at=lambda codes: counts[codes], at_each=lambda codes: [int(counts[c]) for c in codes]
    )
    column = PodsInDomain(labels, of)
    assert (values(column), column.counted()) == ([3, 0, MISSING, 3], {0: 3, 3: 3})
    assert (column.is_fixed, column.whole_domains) == (False, True)
    assert in_domains(labels, [1, 0], [7, 8]) == {1: 7, 0: 8, 3: 8}


def test_few_domains_are_groups_of_their_own() -> None:
    few: Any = SimpleNamespace(values=[""] * 32)
    many: Any = SimpleNamespace(values=[""] * 33)
    assert is_grouped_by_domain(few, 1)
    assert [is_grouped_by_domain(many, nodes) for nodes in (1, 1088, 1089)] == [False, False, True]
