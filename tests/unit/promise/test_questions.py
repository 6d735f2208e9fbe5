"""Questions about the end of every order."""

from __future__ import annotations

from tests.order_questions import guarantee
from tests.unit.drill.builders import ZONE, budget, inventory, node, nodes, spread
from tests.unit.promise.test_asking import BIG_LAST, asked, of


def test_skew_in_every_order() -> None:
    objects = [*nodes("a", "b"), of("web", 4, "1", spread(whenUnsatisfiable="ScheduleAnyway"))]
    assert asked(objects, skew=0).answer == "always"
    crowded = [node("a1", "a"), node("b1", "b", cpu="1"), *objects[2:]]
    answer = asked(crowded, skew=1)
    assert (answer.answer, answer.why) == ("never", f"shop/web has skew 2 on {ZONE}")


def test_what_the_loss_of_a_zone_leaves() -> None:
    objects = [*nodes("a", "b", "c"), of("web", 3, "1", spread())]
    assert asked(objects, survives="zone", left=["deploy/web=2"]).answer == "always"
    answer = asked(objects, survives="zone", left=["shop/deploy/web=3"])
    assert (answer.answer, answer.why) == ("not always", "losing a leaves 2 of 3")
    assert asked(objects, survives="node", left=["deploy/web=2"]).answer == "always"


def test_several_questions_are_answered_each() -> None:
    found = guarantee(inventory(*BIG_LAST, budget("web", minAvailable=1)), never_pending=True, skew=0)
    assert [each.question for each in found] == ["no pod stays pending", "no skew is more than 0"]
    assert [each.answer for each in found] == ["always", "always"]
