"""All outcomes of an attempt to place a group with a topology constraint, or a gang whose pods differ."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import ZONE, node, workload
from tests.unit.drill.test_groups import group, member
from tests.unit.promise.test_grouped_pods import ONE_RACK, THREE, checked, loss, racks, shown, spread, web
from topospread.base import Bounds


def test_a_group_with_a_topology_constraint_is_searched_in_every_domain() -> None:
    found = shown(*racks("3", "3", "3", "3"), group("g", 4, **ONE_RACK), web(spread()))
    assert (found.verdict, loss(found).leaves, loss(found).ground) == ("yes", Bounds.exactly(2), "proved")
    broken = checked("zone-loss>=2", *racks("3", "1", "3", "1"), group("g", 4, **ONE_RACK), web(spread(2)))
    assert (broken.verdict, broken.ground, broken.says) == ("no", "proved", "losing a leaves 1 of 4")
    assert len({each.node for each in broken.order}) == 2


@pytest.mark.parametrize(("cpu", "verdict"), [("4", "yes"), ("3", "no")])
def test_a_group_gets_any_domain_of_the_best_score(cpu: str, verdict: str) -> None:
    """The second rack is in one zone. If it is larger, its score is lower."""
    second = [node(f"x{i}", "a", cpu=cpu) for i in range(2)]
    for each in second:
        each["metadata"]["labels"]["rack"] = "r1"
    found = checked("zone-loss>=1", *racks("3", "3"), *second, group("g", 4, **ONE_RACK), web())
    assert (found.verdict, found.ground) == (verdict, "proved")


def test_a_group_with_a_topology_constraint_waits_if_another_pod_takes_the_room_of_one() -> None:
    alone = workload("ReplicaSet", "alone", 2)
    gang = [group("g", 4, **ONE_RACK), web()]
    assert checked("never-waits", *racks("2", "2"), *gang).verdict == "yes"
    found = checked("never-waits", *racks("2", "2", "2", "2"), *gang, alone)
    assert (found.verdict, found.ground, found.says) == ("no", "proved", "4 of shop/web stay pending")
    assert checked("never-waits", *racks("2", "2", "2", "2", "2", "2"), *gang, alone).verdict == "yes"


def test_pods_beside_a_complete_gang_find_nodes_in_its_domain_alone() -> None:
    """Three pods complete the gang; the fourth fits nowhere, because its group has a rack."""
    found = checked("never-waits", *racks("2", "1", "2", "1"), group("g", 3, **ONE_RACK), web())
    assert (found.verdict, found.says) == ("no", "1 of shop/web stays pending")


def test_pods_of_two_workloads_get_one_domain_together_in_any_order() -> None:
    """Two pods of `web` beside each other leave no node for `big`."""
    other = member("ReplicaSet", "big", 1, cpu="2")
    two = {**web(), "spec": {**web()["spec"], "replicas": 2}}
    gang = [group("g", 3, **ONE_RACK), two, other]
    assert checked("never-waits", *racks("2", "2"), *gang).verdict == "no"
    assert checked("never-waits", *racks("3", "2"), *gang).verdict == "yes"
    # A rack that fits in some orders, and a rack that fits in all.
    assert checked("never-waits", *racks("2", "2", "3", "3"), *gang).verdict == "yes"


def test_a_gang_of_two_workloads_gets_nodes_in_every_order_or_waits() -> None:
    two = [member("ReplicaSet", "web", 2), member("ReplicaSet", "big", 2)]
    assert checked("never-waits", *THREE, group("g", 4), *two, target="replicaset/web").verdict == "yes"
    two[1] = member("ReplicaSet", "big", 2, cpu="2")
    short, wide = ([node("a1", "a", cpu=each), node("b1", "b", cpu="3")] for each in ("3", "4"))
    found = checked("never-waits", *short, group("g", 4), *two, target="replicaset/web")
    assert (found.verdict, found.ground, found.says) == ("no", "proved", "2 of shop/web stay pending")
    assert checked("never-waits", *wide, group("g", 4), *two, target="replicaset/web").verdict == "yes"
    # The gang is complete without its fourth pod, which may wait.
    assert checked("never-waits", *short, group("g", 3), *two, target="replicaset/web").verdict == "yes"
    waits = checked("never-waits", *short, group("g", 3), *two, target="replicaset/big")
    assert (waits.verdict, waits.says) == ("no", "1 of shop/big stays pending")


def test_the_pods_of_a_stateful_set_may_differ_and_be_more_than_its_gang_needs() -> None:
    first = {"labelSelector": {"matchLabels": {"apps.kubernetes.io/pod-index": "0"}}, "topologyKey": ZONE}
    apart = web()
    apart["spec"]["template"]["spec"]["affinity"] = {
        "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [first]}
    }
    found = checked("never-waits", *THREE[:2], group("g", 3), apart)
    assert (found.verdict, found.ground) == ("yes", "proved")
    found = checked("never-waits", *THREE[:1], group("g", 1), apart)
    assert (found.verdict, found.says) == ("no", "3 of shop/web stay pending")
