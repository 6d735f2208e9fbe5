"""Ctrl-C: what was over is kept, and marked as partial."""

from __future__ import annotations

from pathlib import Path

import pytest

from topospread.drill.checking import check_drills
from topospread.drill.drill_file import find_drills
from topospread.drill.drill_run import DrillRun
from topospread.drill.each import EachDrill, drill_each
from topospread.drill.interruption import Interrupted
from topospread.drill.steps import Cordon, Fail, Scale, Step
from topospread.simulation.options import SimulationOptions

from .builders import at, inventory, nodes, told, workload

OBJECTS = [*nodes("a", "b"), workload("Deployment")]


def _presses(monkeypatch: pytest.MonkeyPatch, when: int) -> None:
    """Ctrl-C in the step of this number."""
    whole, steps = DrillRun._do, iter(range(1, 100))

    def pressed(self: DrillRun, step: Step) -> object:
        if next(steps) == when:
            raise KeyboardInterrupt
        return whole(self, step)

    monkeypatch.setattr(DrillRun, "_do", pressed)


def test_steps_that_were_over_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    _presses(monkeypatch, 3)
    with pytest.raises(Interrupted) as caught:
        told(OBJECTS, Cordon(at("node=a1")), Scale("deploy/web", 5), Fail(at("node=b1")), runs=1)
    found = caught.value.finished
    assert [each.step for each in found.steps] == ["", "cordon node=a1", "scale deploy/web=5"]
    assert found.partial == "ended in step 3 of 3"
    assert found.to_dict()["partial"] == found.partial


def test_runs_that_were_over_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    _presses(monkeypatch, 3)
    with pytest.raises(Interrupted) as caught:
        told(OBJECTS, Cordon(at("node=a1")), runs=4)
    assert caught.value.finished.partial == "ended in run 3 of 4"
    assert caught.value.finished.runs == 2


def test_drills_of_files_that_were_over_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (
        "apiVersion: topospread.dev/v1alpha1\nkind: Drill\nspec: {cluster: 'nodes=2', steps: [{cordon: node=node-1}], "
    )
    (tmp_path / "d.yaml").write_text("---\n".join([text + "expect: {pending: 0}}\n"] * 3))
    _presses(monkeypatch, 2)
    with pytest.raises(Interrupted) as caught:
        check_drills(find_drills([str(tmp_path)]), workers=1)
    assert len(caught.value.finished.drills) == 1
    assert caught.value.finished.partial == "ended after 1 of 3 drills"


def test_outcomes_that_were_there_are_kept_and_nobody_goes_on() -> None:
    def press(done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        drill_each(inventory(*nodes(*"aabbcc"), workload("Deployment")), "node", SimulationOptions(), 2, progress=press)
    found: EachDrill = caught.value.finished
    assert len(found.outcomes) == 2
    assert found.partial == "ended after 2 of 6"
