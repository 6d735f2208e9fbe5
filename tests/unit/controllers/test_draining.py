"""The Eviction API's answer for a pod."""

from __future__ import annotations

from topospread.controllers.draining import why_not


def test_the_eviction_api_asks_the_budget() -> None:
    assert why_not([], healthy=True) == ""
    assert why_not([("web", 3, 2, False)], healthy=True) == ""
    assert why_not([("web", 2, 2, True)], healthy=True).startswith("The disruption budget web needs 2")
    assert why_not([("web", 2, 2, False)], healthy=False) == ""
    assert why_not([("web", 1, 2, False)], healthy=False) != ""
    assert why_not([("web", 1, 2, True)], healthy=False) == ""
    assert why_not([("web", 9, 2), ("all", 9, 2)], healthy=True).startswith("This pod has more than one")
