"""Changes to a failed design: none loosens a constraint that the workload already has."""

from __future__ import annotations

import pytest

from topospread.api.promises import Want
from topospread.api.well_known_labels import ZONE
from topospread.promise.amendments import amendments
from topospread.promise.design_checks import DesignFailure
from topospread.promise.design_rules import DesignRules, SpreadRule
from topospread.promise.wants import read_intent


@pytest.mark.parametrize("check", ["lost", "skew"])
@pytest.mark.parametrize(("own", "expected"), [([], 7), ([1], 1), ([9], 7)])
def test_a_new_constraint_is_never_looser_than_the_workloads_own(check: str, own: list[int], expected: int) -> None:
    intent = read_intent(["zone"], [7], 14, unnoticed=False, others=[Want("skew", 7)])
    rules = [SpreadRule(ZONE, each) for each in own]
    found = amendments(DesignRules(), DesignFailure(check, ZONE, ""), intent, "Deployment", rules)
    assert next(iter(found)).spreads == (SpreadRule(ZONE, expected),)
