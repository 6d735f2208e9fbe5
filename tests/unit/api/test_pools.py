"""Node pools: the nodes that belong to a pool, and the nodes that it adds."""

from __future__ import annotations

from tests.unit.drill.builders import ZONE, node, nodes, workload
from tests.unit.simulation.test_scaling import LINUX, Json, added, pool, simulated
from topospread.api.meta import ObjectMeta
from topospread.api.node import Node, NodeStatus
from topospread.api.pools import Limits, NodePool


def test_only_nodes_of_its_shape_count_for_a_pool() -> None:
    heavy = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "5"}}}]}
    amounts = {"memory": "64Gi", "pods": "110"}
    small, large = (NodePool(f"p{cpu}", {ZONE: "a"}, amounts | {"cpu": cpu}, most=2) for cpu in ("2", "8"))
    found = simulated([node("a1", "a", cpu="2"), workload("Deployment", replicas=2, spec=heavy)], small, large)
    assert [(each.name, each.there, len(each.added)) for each in found.pools] == [("p2", 1, 0), ("p8", 0, 2)]
    reserved, more, other = ({"cpu": cpu, "memory": "60Gi"} for cpu in ("7910m", "8200m", "3"))
    assert [large.has(each) for each in map(_real, (reserved, more, other))] == [True, True, False]
    assert large.has(_real(other, {"cpu": "8", "memory": "64Gi"}))


def _real(allocatable: Json, capacity: Json | None = None) -> Node:
    status = NodeStatus(allocatable=allocatable, capacity=capacity)
    return Node(metadata=ObjectMeta(name="n", labels={ZONE: "a"}), status=status)


def test_a_new_node_counts_for_the_pool_that_made_it() -> None:
    first, second = (NodePool(name, {ZONE: "a"}, {"cpu": "4", "memory": "64Gi"}, most=1) for name in ("p", "q"))
    made = first.node("p-new-1")
    assert (first.has(made), second.has(made), second.may_grow([made])) == (True, False, True)


def test_what_several_may_have_together_limits_them() -> None:
    limits = Limits(("team", "shop"), {"cpu": 9000})
    pools = [pool(f"p{i}", "a", labels={"team": "shop"}, limits=limits) for i in (1, 2)]
    assert sum(added(simulated([*nodes("a"), workload("Deployment", replicas=40)], *pools)).values()) == 2


def test_a_pool_always_has_its_least() -> None:
    found = simulated([*nodes("a"), workload("Deployment")], pool("p", "b", least=2))
    assert (found.nodes, added(found), found.pools[0].there) == (3, {"p": 0}, 2)


def test_new_nodes_have_the_labels_of_kubelets_unless_the_pool_declares_them() -> None:
    own = pool("p", "a")
    assert (
        own.node("n").labels.items()
        >= {LINUX: "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": "n"}.items()
    )
    assert pool("w", "a", labels={LINUX: "windows"}).node("n").labels[LINUX] == "windows"
    there = own.node("old")
    there.metadata.labels["kubernetes.io/arch"] = "arm64"
    assert own.node("n", [there]).labels["kubernetes.io/arch"] == "arm64"
