"""The nodes that a pod group may take together, by domain of its topology key."""

from __future__ import annotations

import pytest

from tests.unit.plugins.storage_builders import ZONE, cluster, zonal
from topospread.cluster import Cluster
from topospread.plugins.interface import NotJudgedError
from topospread.scheduling.placements import placements_by


def found(made: Cluster, *scheduled: str) -> dict[str, list[str]]:
    rows = [made.nodes.row_of[name] for name in scheduled]
    return {
        domain: [made.nodes.names[row] for row in nodes] for domain, nodes in placements_by(ZONE, made, rows).items()
    }


def test_every_domain_with_nodes_is_a_placement_by_name() -> None:
    made = cluster({**zonal(n0="b", n1="a", n2="b"), "bare": {}})
    assert found(made) == {"a": ["n1"], "b": ["n0", "n2"]}
    assert list(found(made)) == ["a", "b"]


def test_a_group_with_pods_on_nodes_stays_in_their_domain() -> None:
    assert found(cluster(zonal(n0="b", n1="a", n2="b")), "n0", "n2") == {"b": ["n0", "n2"]}


@pytest.mark.parametrize("scheduled", [("n0", "n1"), ("bare",)])
def test_a_group_without_one_common_domain_is_not_judged(scheduled: tuple[str, ...]) -> None:
    made = cluster({**zonal(n0="b", n1="a"), "bare": {}})
    with pytest.raises(NotJudgedError):
        found(made, *scheduled)


def test_a_deleted_node_is_in_no_placement() -> None:
    made = cluster(zonal(n0="a", n1="b"))
    made.delete_node("n1")
    assert found(made) == {"a": ["n0"]}
