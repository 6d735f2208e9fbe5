"""Two scripts of ``make parity``: ours is never worse than kube-scheduler by more than a fifth."""

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


def test_a_fault_costs_ours_no_more_than_kube_scheduler(kubectl: Path, tmp_path: Path) -> None:
    chosen = [each for each in SCRIPTS if each.name in SHORT]
    rows = asyncio.run(compare(chosen, kubectl, tmp_path, 150, math.inf))
    assert len(rows) == len(SHORT)
    assert [(each, each.worse) for each in rows if each.worse] == []
