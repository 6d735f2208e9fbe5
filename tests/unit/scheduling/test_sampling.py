"""Which nodes are looked at when not all are."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace as with_fields

from topospread.api.meta import ObjectMeta, ResourceList
from topospread.api.node import Node, NodeSpec, NodeStatus
from topospread.api.node_selection import Taint
from topospread.api.pod import Container, Pod, PodSpec, PodStatus
from topospread.cluster import Cluster
from topospread.config.gates import gates_for
from topospread.config.load import default_profile
from topospread.config.profile import Profile
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import Framework
from topospread.scheduling.sampling import NodeOrder, nodes_to_find

ZONE = "topology.kubernetes.io/zone"
BETA_ZONE = "failure-domain.beta.kubernetes.io/zone"


def node(name: str, labels: Mapping[str, str] | None = None, *, tainted: bool = False) -> Node:
    amounts: ResourceList = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    taints = [Taint(key="full", effect="NoSchedule")] if tainted else None
    return Node(
        metadata=ObjectMeta(name=name, labels=dict(labels or {})),
        spec=NodeSpec(taints=taints),
        status=NodeStatus(allocatable=amounts, capacity=amounts),
    )


def pod(name: str, nominated: str = "") -> Pod:
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodSpec(containers=[Container(name="c")]),
        status=PodStatus(nominated_node_name=nominated) if nominated else None,
    )


def cluster_of(*nodes: Node) -> Cluster:
    cluster = Cluster()
    for each in nodes:
        cluster.add_node(each)
    return cluster


def names(cluster: Cluster, order: NodeOrder) -> str:
    return " ".join(cluster.nodes.names[row] for row in order.rows())


class Walks:
    """A scheduler that samples, and what its walks find."""

    def __init__(self, nodes: list[Node], percentage: int | None = None, version: str = "1.37") -> None:
        self.profile = with_fields(
            default_profile(gates_for(version).kube_version), percentage_of_nodes_to_score=percentage
        )
        self.scheduler = self.scheduler_of(cluster_of(*nodes), self.profile, version)

    @staticmethod
    def scheduler_of(cluster: Cluster, profile: Profile, version: str) -> Scheduler:
        return Scheduler(cluster, {"default-scheduler": Framework(profile, gates_for(version))}, sampled=True)

    def walk(self, wanted: Pod) -> tuple[list[str], int]:
        view = self.scheduler.view(self.scheduler.cluster.shared_class(wanted))
        sample = self.scheduler.sample(view, wanted.name, wanted.nominated_node_name)
        return [self.scheduler.cluster.nodes.names[row] for row in sample.rows], sample.evaluated


@pytest.mark.parametrize(
    ("nodes", "percentage", "found"),
    [
        (99, 1, 99),
        (100, 1, 100),
        (300, None, 144),
        (300, 0, 144),
        (1000, 30, 300),
        (1000, 5, 100),
        (5000, None, 500),
        (6000, None, 300),
        (20000, None, 1000),
        (1000, 100, 1000),
    ],
)
def test_how_many_feasible_nodes_are_enough(nodes: int, percentage: int | None, found: int) -> None:
    assert nodes_to_find(nodes, percentage) == found


def test_zones_take_turns_until_they_are_used_up() -> None:
    zones = {"a1": "a", "a2": "a", "a3": "a", "b1": "b", "c1": "c", "c2": "c"}
    cluster = cluster_of(*(node(name, {ZONE: zone}) for name, zone in zones.items()))
    assert names(cluster, NodeOrder(cluster)) == "a1 b1 c1 a2 c2 a3"


def test_the_old_zone_label_goes_first_and_nodes_without_any_are_a_zone() -> None:
    both = {ZONE: "a", BETA_ZONE: "b"}
    cluster = cluster_of(node("a", {ZONE: "a"}), node("none"), node("both", both), node("b", {BETA_ZONE: "b"}))
    assert names(cluster, NodeOrder(cluster)) == "a none both b"


def test_the_order_follows_nodes_that_come_and_go() -> None:
    cluster = cluster_of(node("a1", {ZONE: "a"}), node("b1", {ZONE: "b"}))
    order = NodeOrder(cluster)
    cluster.remove_node("a1")
    cluster.add_node(node("b2", {ZONE: "b"}))
    cluster.add_node(node("a2", {ZONE: "a"}))
    assert names(cluster, order) == "b1 a2 b2"


def test_a_node_that_changes_zone_moves_when_next_a_node_comes() -> None:
    cluster = cluster_of(node("a1", {ZONE: "a"}), node("a2", {ZONE: "a"}), node("b1", {ZONE: "b"}))
    order = NodeOrder(cluster)
    cluster.add_node(node("a1", {ZONE: "c"}))
    assert names(cluster, order) == "a1 b1 a2"
    cluster.add_node(node("b2", {ZONE: "b"}))
    assert names(cluster, order) == "a2 b1 a1 b2"


def test_the_next_walk_starts_where_the_last_one_stopped() -> None:
    walks = Walks([node(f"n{i:03}") for i in range(250)], percentage=40)
    first, evaluated = walks.walk(pod("one"))
    assert (first[0], first[-1], evaluated) == ("n000", "n099", 100)
    second, _ = walks.walk(pod("two"))
    assert (second[0], second[-1]) == ("n100", "n199")
    third, _ = walks.walk(pod("three"))
    assert (third[0], third[-1]) == ("n200", "n049")


def test_rejected_nodes_up_to_the_one_too_many_are_counted() -> None:
    walks = Walks([node(f"n{i:03}", tainted=i % 2 == 1) for i in range(250)], percentage=40)
    found, evaluated = walks.walk(pod("one"))
    assert (len(found), found[-1], evaluated) == (100, "n198", 200)
    assert walks.walk(pod("two"))[0][0] == "n200"


def test_a_nominated_node_is_tried_first_and_moves_nothing() -> None:
    walks = Walks([node(f"n{i:03}", tainted=i == 7) for i in range(250)], percentage=40)
    assert walks.walk(pod("one", nominated="n200")) == (["n200"], 1)
    assert walks.walk(pod("two", nominated="n007"))[0][0] == "n000"


def test_a_refused_nominated_node_beyond_the_walk_counts_too() -> None:
    walks = Walks([node(f"n{i:03}", tainted=i == 200) for i in range(250)], percentage=40)
    assert walks.walk(pod("one", nominated="n200"))[1] == 101


@pytest.mark.parametrize(("version", "found"), [("1.29", 100), ("1.30", 1)])
def test_without_score_plugins_the_first_feasible_node_is_enough(version: str, found: int) -> None:
    walks = Walks([node(f"n{i:03}") for i in range(150)], version=version)
    plugins = {point: each for point, each in walks.profile.plugins.items() if point != "score"}
    profile = with_fields(walks.profile, plugins=plugins)
    walks.scheduler = walks.scheduler_of(walks.scheduler.cluster, profile, version)
    assert len(walks.walk(pod("one"))[0]) == found


@pytest.mark.parametrize(
    ("version", "nodes"), [("1.34", ["n000", "n100", "n001", "n050"]), ("1.37", ["n000", "n100", "n200", "n050"])]
)
def test_pods_are_placed_on_the_best_of_the_nodes_found(version: str, nodes: list[str]) -> None:
    walks = Walks([node(f"n{i:03}") for i in range(250)], percentage=40, version=version)
    assert [walks.scheduler.schedule(pod(f"p{i}")).node for i in range(4)] == nodes
