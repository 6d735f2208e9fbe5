"""Churn for a while: memory, connections and tasks stay, nothing is left over. SOAK_SECONDS=1800 for the whole of it.

What grows at first is bounded: events that may become a series, views of the classes used last, the newest changes
(docs/performance.md has half an hour of it).
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.drawn import LONG
from tests.live.processes import scheduler
from tests.live.running import Api, in_cluster
from tests.live.soak import Churn, Sample, soak
from topospread.live import events

SECONDS = float(os.environ.get("SOAK_SECONDS", 40 * LONG))
RATE = 60.0
"""Pods a second, where the API server can take them."""
WARM = SECONDS / 3
"""Seconds after which nothing may grow much any more, but for the events that are remembered."""
EVENT = 5
"""KiB that an event takes while it may still become a series: six minutes, and no more than so many of them."""


def test_churn_leaves_nothing_behind(empty_plane: Path, tmp_path: Path) -> None:
    samples: list[Sample] = []

    async def scenario(api: Api) -> None:
        async with scheduler(empty_plane, tmp_path, "-v", "1") as ours:
            await soak(Churn(api, RATE), ours, SECONDS, samples.append, every=5.0)
            assert ours.metric("topospread_dropped_events_total") == 0

    in_cluster(str(empty_plane), scenario)
    before, after = samples[0], samples[-1]
    warm = next(each for each in samples if each.seconds >= WARM)
    assert after.bound > warm.bound > 0
    assert after.tasks <= before.tasks + 2, samples
    assert after.files <= before.files + 8, samples
    remembered = EVENT * min(after.bound - warm.bound, events.SERIES_KEPT)
    assert after.resident < warm.resident * 1.2 + 8192 + remembered, samples
