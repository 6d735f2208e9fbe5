"""A few histories beside kube-scheduler, always the same; `make side-by-side` plays many, other ones each time."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.drawn import LONG
from tests.live.histories import history
from tests.live.side_by_side import Run
from tests.live.wider_histories import wider_history

SEEDS = [2224871904, 2000, 2001, 2003][: 2 * LONG]
"""The first one has a preemptor that is gone when its event is read."""

WIDER_SEEDS = [3, 3002][:LONG]
"""Played calmly: their pods come in bursts in which a few milliseconds decide who is tried first."""


def test_histories_come_to_the_same_beside_kube_scheduler(kubectl: Path, tmp_path: Path) -> None:
    run = Run(kubectl, tmp_path)
    asyncio.run(run.play(SEEDS, 1))
    assert run.wrong() == [], run.summary()
    assert max(run.tries.values(), default=0) < 2, "equal only when played calmly"
    assert len(run.played) == len(SEEDS)


def test_wider_histories_come_to_the_same_beside_kube_scheduler(kubectl: Path, tmp_path: Path) -> None:
    run = Run(kubectl, tmp_path, lambda seed: wider_history(seed).calm())
    asyncio.run(run.play(WIDER_SEEDS, 1))
    assert run.wrong() == [], run.summary()
    assert max(run.tries.values(), default=0) < 2, run.again
    assert not any(each.tied for each in run.played), run.summary()


def test_a_history_is_the_same_for_the_same_seed() -> None:
    assert history(7) == history(7)
    assert history(7) != history(8)
    assert wider_history(7) == wider_history(7)
