"""A few random histories beside kube-scheduler; `make side-by-side` plays many."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

from tests.live.histories import history
from tests.live.side_by_side import Run

SOME = 4


def test_histories_come_to_the_same_beside_kube_scheduler(kubectl: Path, tmp_path: Path) -> None:
    first = int(os.environ.get("SEED") or random.randrange(1 << 30))
    run = Run(kubectl, tmp_path)
    asyncio.run(run.play(list(range(first, first + SOME)), 1))
    assert run.wrong() == [], run.summary()
    assert len(run.played) == SOME


def test_a_history_is_the_same_for_the_same_seed() -> None:
    assert history(7) == history(7)
    assert history(7) != history(8)
