"""Tries that would be in vain look at no nodes."""

from __future__ import annotations

import pytest

from tests.unit.drill.builders import at, inventory, node, spread, workload
from topospread.drill.drill_run import DrillRun
from topospread.drill.steps import Fail
from topospread.scheduling.cycle import Scheduler
from topospread.simulation.options import SimulationOptions


def test_pods_that_a_node_s_taint_brings_back_are_not_judged_anew_where_it_says_nothing_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked_for: list[str] = []
    schedule = Scheduler.schedule

    def noted(scheduler: Scheduler, *given: object, **more: object) -> object:
        looked_for.append(str(given[1]))
        return schedule(scheduler, *given, **more)  # type: ignore[arg-type]

    there = [node(f"n{i}", "abc"[i % 3], cpu="9") for i in range(120)]
    wanted = [
        workload("Deployment", name, 120, {"topologySpreadConstraints": [spread(labelSelector=selects)]})
        for name in ("web", "api")
        for selects in [{"matchLabels": {"app": name}}]
    ]
    play = DrillRun(inventory(*there, *wanted), SimulationOptions(), {})
    play.begin()
    monkeypatch.setattr(Scheduler, "schedule", noted)
    outcome = play.go_on(Fail(at("zone=a")))
    evicted = sum(len(each.pods) for each in outcome.events if each.kind == "evicted")
    assert evicted == sum(len(each.pods) for each in outcome.pending) == 80
    assert len(looked_for) < 1.3 * evicted, "a try each, and few again"
