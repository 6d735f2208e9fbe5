"""The constraints that a rebalancing mends."""

from __future__ import annotations

import pytest

from topospread.api.selector_text import parse_selector
from topospread.errors import UsageError

from .builders import THREE, rebalance_of, soft, spread, standing


def test_a_soft_constraint_is_mended_where_it_is_asked_for() -> None:
    objects = [*THREE, *standing({"a1": 2, "a2": 1}, soft())]
    left = rebalance_of(objects)
    assert (left.moves, left.soft) == ((), 1)
    found = rebalance_of(objects, max_skew=1)
    assert len(found.moves) == 2
    assert found.constraints[0].skew_after <= 1


def test_only_what_is_chosen_is_mended() -> None:
    objects = [*THREE, *standing({"a1": 3}, spread()), *standing({"a2": 3}, spread(), name="api")]
    assert {each.workload for each in rebalance_of(objects, selector=parse_selector("app=api")).moves} == {
        "ReplicaSet/api"
    }
    with pytest.raises(UsageError, match=r"^-l app=apj selects no workload \(--allow-empty accepts that\)$"):
        rebalance_of(objects, selector=parse_selector("app=apj"))
    nobody = rebalance_of(objects, selector=parse_selector("app=apj"), allow_empty=True)
    assert nobody.notes[-1] == "no workload was checked: the selector matches no pods"
    assert not any("was checked" in each for each in rebalance_of(objects, selector=parse_selector("app=api")).notes)
    assert len(rebalance_of(objects, namespace="shop").moves) == 4
    with pytest.raises(UsageError, match="workloads: shop"):
        rebalance_of(objects, namespace="other")
