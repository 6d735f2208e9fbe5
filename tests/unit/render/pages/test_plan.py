"""The page of `plan`: the table of workloads whose pods move."""

from __future__ import annotations

from pathlib import Path

import topospread
from tests.unit.simulation.test_causes import MOST, NODES, POD


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
