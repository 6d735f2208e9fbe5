"""How a real binding compares with what would have been decided here."""

from __future__ import annotations

import numpy as np

from topospread.live.mirror import compared
from topospread.scheduling.verdict import Rejection, Verdict

NO_CPU = Rejection("Unschedulable", "NodeResourcesFit", ("Insufficient cpu",))


def verdict() -> Verdict:
    """Five nodes: two best, one other, two rejected."""
    points = {"Spread": np.array([200, 200, 100]), "Fit": np.array([50, 50, 50])}
    blame = np.array([-1, -1, -1, 0, 0])
    return Verdict("a/b", ("n0", "n1", "n2", "n3", "n4"), blame, (NO_CPU,), points)


def test_one_of_the_best_is_the_best() -> None:
    assert compared(verdict(), "n0") == ("best", "")
    assert compared(verdict(), "n1") == ("best", "")


def test_another_node_is_told_with_the_points_that_it_lacks() -> None:
    assert compared(verdict(), "n2") == ("other", "150 points; best: n0, n1 with 250 (Spread 100 < 200)")


def test_a_node_that_does_not_fit_is_told_with_the_reason() -> None:
    assert compared(verdict(), "n3") == ("nowhere", "NodeResourcesFit: Insufficient cpu")


def test_a_node_that_is_not_known() -> None:
    assert compared(verdict(), "n9") == ("nowhere", "this node is not known")
