"""`topospread capacity` beside the real cluster-capacity, on a real API server: as many more fit on random clusters.

``CAPACITY_CLUSTERS=200 make live ARGS=tests/live/test_capacity.py`` asks it of more of them, ``SEED`` of others.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from conformance.capacity import Compared, Judge
from tests.drawn import LONG
from tests.live.conftest import ControlPlane, built

HERE = Path(__file__).parent
COUNT = int(os.environ.get("CAPACITY_CLUSTERS", 20 * LONG))
SEED = int(os.environ.get("SEED", "13"))


@pytest.fixture(scope="module")
def cluster_capacity() -> Path:
    """Return the program."""
    return built("cluster-capacity", ["hypercc"], HERE / "cluster_capacity", "build.sh") / "hypercc"


def test_as_many_fit_as_cluster_capacity_counts(
    own_plane: ControlPlane, cluster_capacity: Path, tmp_path: Path
) -> None:
    kubectl = [str(own_plane.programs / "kubectl"), "--kubeconfig", str(own_plane.kubeconfig)]
    judge = Judge(str(cluster_capacity), own_plane.kubeconfig, kubectl, tmp_path)
    drawn = random.Random(SEED)
    found = [judge.compared(drawn) for _ in range(COUNT)]
    assert not [_said(number, each) for number, each in enumerate(found) if not each.agrees], f"SEED={SEED}"
    print(f"{len(found)} clusters agree, {sum(len(each.ours) == 1 for each in found)} of them whatever is drawn")
    assert len({each.theirs for each in found}) > len(found) // 6  # not the same answer everywhere


def _said(number: int, one: Compared) -> str:
    return f"cluster {number}: cluster-capacity {one.theirs}, ours {sorted(one.ours)}\n{one}"
