"""The search of all orders, within its budget."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.order_questions import guarantee
from tests.unit.drill.builders import inventory, node, nodes, spread
from tests.unit.promise.test_asking import SPLIT, asked, of, played_again
from topospread.promise.orders import OrderSearch


def test_beyond_the_budget_it_says_what_ran_out_and_how_far_it_came() -> None:
    soft = of("web", 6, "1", spread(whenUnsatisfiable="ScheduleAnyway"))
    objects = [*nodes("a", "b", "c"), soft, of("api", 4, "2")]
    answer = asked(objects, skew=4, states=5, seconds=900)
    assert answer.answer == "not decided"
    assert answer.why == (
        "not decided within 5 states (raise --states); 5 states were searched, 0 ends, of 10 pods at most 4 placed; "
        "200 orders drawn at random all end well"
    )
    assert "not decided within 0 s (raise --seconds)" in asked(objects, skew=4, seconds=0).why


def test_memory_that_runs_out_is_named_and_spoils_no_other_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    look, looked = OrderSearch._look, []

    def without_memory(search: OrderSearch) -> None:
        looked.append(search)
        if len(looked) == 3:
            raise MemoryError
        look(search)

    monkeypatch.setattr(OrderSearch, "_look", without_memory)
    first, second = guarantee(inventory(*SPLIT), never_pending=True, skew=0)
    assert (first.answer, first.why.partition(";")[0]) == ("not decided", "memory ran out")
    assert second.answer == "always"
    assert asked(SPLIT, never_pending=True).answer == "not always"


def test_orders_that_are_drawn_find_what_few_states_do_not() -> None:
    """Of very many orders most leave a pod over: not all have to be looked at to know that."""
    objects = [node(f"n{i}", cpu="4") for i in range(6)]
    answer = asked(
        [*objects, *(of(f"s{i}", 2) for i in range(4)), of("big", 5, "4")], never_pending=True, states=301, seconds=900
    )
    assert answer.answer == "not always"
    assert answer.order[-1].node == ""


def test_more_pods_than_all_orders_are_looked_at_of_are_drawn_from() -> None:
    answer = asked(
        [node("a1", cpu="200"), node("b1", cpu="200"), of("web", 301), of("big", 1, "60")], never_pending=True
    )
    assert answer.answer in ("not always", "not decided")
    assert "not for 302" in answer.why or answer.order


def test_ties_that_matter_are_forced(tmp_path: Path) -> None:
    """Only where the first pod goes to the second of two equal nodes the constrained one finds no room."""
    picky = of("picky", 1, "2")
    picky["spec"]["template"]["spec"]["nodeSelector"] = {"kubernetes.io/hostname": "a2"}
    objects = [node("a1", cpu="2"), node("a2", cpu="2"), of("small", 1), picky]
    answer = asked(objects, never_pending=True)
    assert answer.answer == "not always"
    assert answer.order[0].node == "a2"
    assert "shop/Deployment/small=a2" in answer.drill
    assert played_again(tmp_path, objects, answer)
