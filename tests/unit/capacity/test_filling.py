"""Replicas are placed until the first stays pending."""

from __future__ import annotations

from tests.unit.capacity.test_capacity import SPREAD, asked, ends, more
from tests.unit.drill.builders import node, nodes, workload
from topospread.answers.capacity import capacity_answer

PRIORITY = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}


def test_the_emptiest_zone_ends_it_where_the_skew_is_hard() -> None:
    small = [*nodes("a", "b"), node("c1", "c", cpu="3")]
    found = asked([*small, workload("Deployment", spec=SPREAD)])
    assert found.capacity.targets[0].more == 8
    assert more(found) == {"a": 3, "b": 3, "c": 2}
    assert ends(found) == "maxSkew 1 over zones admits only c, where c1 lacks cpu"


def test_without_a_constraint_room_ends_it() -> None:
    found = asked([*nodes("a", "b", "b"), workload("Deployment")])
    assert found.capacity.rounds == 27
    assert more(found) == {"a": 9, "b": 18}
    assert ends(found) == "a1, b1 and b2 lack cpu"


def test_the_limit_is_said() -> None:
    found = asked([*nodes("a"), workload("Deployment")], limit=2, shapes=["cpu=3"])
    assert found.capacity.pending is None
    assert not found.purchases
    answer = capacity_answer(found)
    assert (answer.verdict, answer.says) == ("yes", "at least 2 more replicas of shop/web fit besides its 3 (5 in all)")


def test_the_limit_is_at_least_what_is_asked_for() -> None:
    assert asked([*nodes("a"), workload("Deployment")], limit=2, more=5).capacity.rounds == 5


def test_more_than_are_planned_at_first_are_found() -> None:
    many = [node(f"n{i}", "a", cpu="1000") for i in range(20)]
    light = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
    found = asked([*many, workload("Deployment", spec=light)])
    assert found.capacity.rounds == 20 * 110 - 3


def test_nothing_is_evicted_and_it_is_said_what_would_be() -> None:
    own = {"priorityClassName": "high"}
    found = asked([*nodes("a"), PRIORITY, workload("Deployment", "low", 4), workload("Deployment", spec=own)])
    assert found.capacity.rounds == 3
    assert found.capacity.evicts.startswith("shop/low-")
