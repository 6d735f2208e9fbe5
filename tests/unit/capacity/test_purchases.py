"""One more node of each size in each zone."""

from __future__ import annotations

from tests.plain_inventory import inventory
from tests.unit.capacity.test_capacity import SPREAD, asked
from tests.unit.drill.builders import ZONE, node, nodes, spread, workload
from topospread.answers.capacity import capacity_answer
from topospread.capacity.purchases import shapes_of


def test_one_more_node_helps_where_the_room_is_short() -> None:
    own = {"topologySpreadConstraints": [spread()]}
    shop = [*nodes("a", "b"), node("c1", "c", cpu="3"), workload("Deployment", spec=own)]
    found = asked(shop, more=9)
    best = found.purchases[0]
    assert (best.shape, best.zone, best.gain) == ("like a1", "c", 20)
    assert all(each.gain == 0 for each in found.purchases if each.zone != "c")
    given = asked(shop, shapes=["cpu=1"])
    assert [(each.zone, each.gain) for each in given.purchases] == [("c", 3), ("a", 0), ("b", 0)]


def test_pods_of_daemon_sets_take_their_part_of_one_more_node() -> None:
    found = asked([*nodes("a"), workload("Deployment"), workload("DaemonSet", "log")], shapes=["cpu=3"])
    assert found.purchases[0].gain == 2


def test_nodes_of_one_sort_are_one_shape() -> None:
    plain = inventory(
        *nodes("a", "b", "b"),
        node("big", "b", cpu="64"),
        node("tainted", "b", taints=[{"key": "gpu", "effect": "NoSchedule"}]),
    ).nodes
    assert [each.name for each in shapes_of(plain)] == ["like a1", "like big", "like tainted"]


def test_a_node_in_a_new_zone_is_tried_where_zones_are_fewer_than_min_domains() -> None:
    own = {"topologySpreadConstraints": [spread(minDomains=3)]}
    found = asked([*nodes("a", "b"), workload("Deployment", replicas=2, spec=own)], more=99, seconds=300.0)
    assert [(each.zone, each.gain) for each in found.purchases] == [("a new zone", 28), ("a", 0), ("b", 0)]
    sized = capacity_answer(found).sizing
    assert sized is not None
    assert sized.words == "+3 like a1 (a), +3 like a1 (b), +4 like a1 (a new zone)"
    even = asked([*nodes("a", "b"), workload("Deployment", spec=SPREAD)], more=99)
    assert {each.zone for each in even.purchases} == {"a", "b"}


def test_a_label_that_goes_with_the_zone_makes_no_sort_of_nodes_and_is_the_zones() -> None:
    """A node group for each zone: its name says nothing of a node but where it stands."""
    there = nodes("a", "a", "b", "b")
    for each in there:
        each["metadata"]["labels"]["group"] = f"general-{each['metadata']['labels'][ZONE]}"
    own = {"nodeSelector": {"group": "general-b"}}
    found = asked([*there, workload("Deployment", spec=own)], more=99)
    assert [(each.shape, each.zone, each.gain) for each in found.purchases] == [
        ("like a1", "b", 10),
        ("like a1", "a", 0),
    ]
    gpu = [*there, node("a3", "a"), node("a4", "a")]
    for each in gpu[4:]:
        each["metadata"]["labels"]["group"] = "gpu"
    pools = shapes_of(inventory(*gpu).nodes)
    assert [each.name for each in pools] == ["like a1", "like b1", "like a3"], "the zone alone does not say the group"


def test_no_node_is_bought_in_a_zone_without_a_node_that_is_reachable() -> None:
    taints = [{"key": "node.kubernetes.io/unreachable", "effect": each} for each in ("NoSchedule", "NoExecute")]
    dead = node("c1", "c")
    dead["spec"] = {"taints": taints}
    found = asked([*nodes("a", "b"), dead, workload("Deployment", replicas=2, spec=SPREAD)])
    assert {each.zone for each in found.purchases} == {"a", "b"}
    answer = capacity_answer(found)
    assert [each.code for each in answer.remedies] == ["nodeTaintsPolicy"], "nodes do not help"
    assert answer.says == "0 more replicas of shop/web fit besides its 2 (2 in all); no set of such nodes is enough"
    all_dead = asked([dead, workload("Deployment", replicas=2, spec=SPREAD)])
    assert {each.zone for each in all_dead.purchases} == {"c"}
