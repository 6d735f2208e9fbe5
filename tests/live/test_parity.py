"""Two scripts of ``make parity``: both schedulers bind every pod. Only ``make parity`` compares time and attempts."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from tests.faults.scripts import SCRIPTS
from tests.live.parity import compare

# Connections that are cut on purpose are closed when the loop that knew them is gone.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")

SHORT = ("no fault", "503 on all bindings")


def test_both_schedulers_bind_every_pod_behind_the_same_fault(kubectl: Path, tmp_path: Path) -> None:
    chosen = [each for each in SCRIPTS if each.name in SHORT]
    rows = asyncio.run(compare(chosen, kubectl, tmp_path, 150, math.inf))
    calm, unavailable = rows
    assert (calm.name, unavailable.name) == SHORT
    assert (calm.ours.requests, calm.ours.decided_over) == (150, 0)
    assert min(unavailable.ours.requests, unavailable.theirs.requests) > 150
