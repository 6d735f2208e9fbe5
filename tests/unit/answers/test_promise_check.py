"""The check of promises: the time limit for all workloads."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import inventory, nodes, workload
from topospread.answers.promise_check import promise_check
from topospread.promise.orders import SearchBudget
from topospread.simulation.options import SimulationOptions


def test_workloads_that_are_left_when_the_time_for_all_is_used_up_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    given = inventory(*nodes(*"aabb"), workload("Deployment", "api", 2), workload("Deployment", "web", 2))
    assert promise_check(given, (), SimulationOptions(), want="zone-loss>=0", seconds=0).verdict == "yes"
    monkeypatch.setattr(SearchBudget, "seconds_of_all", -1.0)
    found = promise_check(given, (), SimulationOptions(), want="zone-loss>=0", seconds=1)
    assert (found.verdict, found.promises) == ("unknown", ())
    assert found.says == "the time ended before workload 1 of 2 (--seconds 1)"
    assert [each.because for each in found.unjudged] == [found.says]
