"""Every documented example runs as its README shows, prints what it keeps, and is judged as kube-scheduler judges."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.compare import verdict_differences
from conformance.examples import arguments, case_of, folders, run_of
from conformance.judging.cases import judge_case
from tests.command import forked
from topospread.simulation.placing import place_all

EVERY = folders()


def test_there_are_examples() -> None:
    assert len(EVERY) > 25


@pytest.mark.parametrize("folder", EVERY, ids=lambda folder: folder.name)
def test_prints_what_is_kept(folder: Path) -> None:
    done = forked(*arguments(folder), cwd=folder, env={"PATH": ""})
    assert done.stdout == (folder / "expected.txt").read_text()
    assert done.returncode == {"yes": 0, "no": 1}[done.stdout.partition(":")[0]]


@pytest.mark.parametrize("folder", EVERY, ids=lambda folder: folder.name)
def test_is_judged_as_kube_scheduler_judged(folder: Path) -> None:
    kept = json.loads((folder / "verdicts.json").read_text())
    assert verdict_differences(judge_case(case_of(folder)), kept) == []


@pytest.mark.parametrize("folder", EVERY, ids=lambda folder: folder.name)
def test_pods_land_where_kube_scheduler_would_put_them(folder: Path) -> None:
    kept = json.loads((folder / "verdicts.json").read_text())["verdicts"] or []
    run = run_of(folder)
    place_all(run)
    landed = [outcome.placement.node for queued in run.queue if (outcome := run.outcome(queued)) is not None]
    assert landed == [verdict.get("chosen") for verdict in kept]
