"""Tolerations of taints."""

from __future__ import annotations

import pytest

from topospread.api.node_selection import Taint, Toleration
from topospread.api.taints import tolerates, untolerated

TAINT = Taint(key="k", value="5", effect="NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration(key="k", value="5"), True),
        (Toleration(key="k"), False),
        (Toleration(key="x", operator="Exists"), False),
        (Toleration(key="k", operator="Exists", effect="NoExecute"), False),
        (Toleration(key="k", operator="Exists", effect="NoSchedule"), True),
        (Toleration(key="k", operator="Lt", value="6"), True),
        (Toleration(key="k", operator="Lt", value="5"), False),
        (Toleration(key="k", operator="Gt", value="4"), True),
        (Toleration(key="k", operator="Gt", value="5"), False),
        (Toleration(key="k", operator="Gt", value="04"), False),
        (Toleration(key="k", operator="Near", value="5"), False),
    ],
)
def test_a_toleration_tolerates(toleration: Toleration, tolerated: bool) -> None:
    assert tolerates(toleration, TAINT, comparison_operators=True) == tolerated
    if toleration.operator in ("Lt", "Gt"):
        assert not tolerates(toleration, TAINT)


def test_taints_that_only_cost_score_are_not_looked_at_unless_named() -> None:
    soft, hard = Taint(key="a", effect="PreferNoSchedule"), Taint(key="b", effect="NoExecute")
    assert untolerated([soft, hard, TAINT], [Toleration(key="k", operator="Exists")]) == [hard]
    assert untolerated([soft, hard], [], {"PreferNoSchedule"}) == [soft]
