"""Pods of a scheduler without a configuration are not judged, whatever the question."""

from __future__ import annotations

from tests.unit.drill.builders import nodes, workload
from topospread import Session


def test_a_workload_whose_pods_another_scheduler_places_is_not_judged() -> None:
    session = Session([*nodes("a", "b"), workload("Deployment", "web", 2, {"schedulerName": "volcano"})])
    for answer in (session.why("deploy/web", namespace="shop"), session.simulate()):
        assert answer.verdict == "unknown"
        assert "volcano, of which no configuration is given" in answer.unjudged[0].because
