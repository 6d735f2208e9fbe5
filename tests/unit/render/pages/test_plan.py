"""The page of `plan`: the table of workloads whose pods move."""

from __future__ import annotations

from pathlib import Path

import topospread
from tests.unit.promise.test_simulated_losses import NO_DEFAULTS
from tests.unit.simulation.test_causes import MOST, NODES, POD
from tests.unit.why.builders import spec, workload, zones


def test_the_cause_of_a_move_fits_its_cell(tmp_path: Path) -> None:
    nodes = NODES
    for name in ("a", "b"):
        nodes = nodes.replace(f"name: {name},", f"name: {name}.eu-west-1.compute.internal,")
    path = tmp_path / "all.yaml"
    path.write_text(nodes + POD % "priority: 0")
    session = topospread.Session(path)
    scored = session.plan(session.but(config=MOST)).text()
    assert "NodeResourcesFit: new node -34 → +35 points" in " ".join(scored.split())
    (tmp_path / "new.yaml").write_text(nodes + POD % "nodeSelector: {zone: east}")
    rejected = " ".join(session.plan(topospread.Session(tmp_path / "new.yaml")).text().split())
    assert "NodeAffinity rejects b:" in rejected


def test_of_another_version_only_moves_are_shown_and_many_settings_are_details() -> None:
    session = topospread.Session([*zones(), workload("Deployment", 3, spec(), uid=False)])
    plan = session.plan(session.but(kube_version="1.30"))
    assert len(plan.settings) > 2
    assert "\nchanged: " not in plan.text()
    assert plan.text(wide=True).count("\nchanged: ") == len(plan.settings)


def test_an_unmoved_workload_that_only_loses_default_constraints_has_no_row() -> None:
    """With one pod in each zone and on each node, no pod moves."""
    session = topospread.Session([*zones(), workload("Deployment", 3, spec(), uid=False)])
    plan = session.plan(session.but(config=NO_DEFAULTS))
    assert plan.workloads[0].skews
    assert not plan.workloads[0].moved
    assert "WORKLOAD" not in plan.text()
    assert plan.text().index("changed: default-scheduler") < plan.text().index("unchanged: the node of every pod")
