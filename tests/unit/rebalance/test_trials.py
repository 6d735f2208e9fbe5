"""Single evictions, tried on the state."""

from __future__ import annotations

import pytest

from topospread.answers.rebalance import rebalance_answer

from .builders import CLAIMS, HOST, OTHER_SCHEDULER, Json, node, rebalance_of, spread, standing


def test_nothing_is_evicted_that_would_be_left_pending() -> None:
    full = [node("a1", "a"), node("b1", "b", cpu="1")]
    blocked = standing({"b1": 1}, name="log", priority=0, cpu="1")
    blocked[1]["metadata"]["ownerReferences"] = []
    found = rebalance_of([*full, *standing({"a1": 2}, spread()), *blocked])
    assert found.moves == ()
    assert "finds no node: 0/2 nodes are available" in found.unmet[0].why
    assert not found.unmet[0].returns


@pytest.mark.parametrize(
    ("unjudged", "what"), [(CLAIMS, "resourceClaims"), (OTHER_SCHEDULER, 'schedulerName "volcano"')]
)
def test_waiting_pods_that_cannot_be_judged_are_bracketed(unjudged: Json, what: str) -> None:
    """The room that mends the skew may be taken by a pod that waits."""
    there = [node("a1", "a"), node("b1", "b", cpu="1")]
    web = standing({"a1": 2}, spread())
    waits = standing({"b1": 1}, name="gpu", nodeSelector={HOST: "b1"}, **unjudged)
    del waits[-1]["spec"]["nodeName"]
    assert rebalance_answer(rebalance_of([*there, *web])).verdict == "yes"
    found = rebalance_answer(rebalance_of([*there, *web, *waits]))
    assert [each.what for each in found.unjudged] == [what]
    assert (found.verdict, len(found.evictions)) == ("unknown", 1)
    roomy = rebalance_answer(rebalance_of([node("a1", "a"), node("b1", "b"), *web, *waits]))
    assert (roomy.verdict, roomy.assumed) == ("yes", (f"the same whether pods with {what} find no node or any node",))
