"""What a verdict says in sum."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from topospread.scheduling.verdict import Rejection, Verdict

FULL, TAINTED, UNSAID = (
    Rejection("Unschedulable", "NodeResourcesFit", ("Insufficient cpu",)),
    Rejection("UnschedulableAndUnresolvable", "TaintToleration", ("tainted",)),
    Rejection("UnschedulableAndUnresolvable", "PreFilterResult", ()),
)


@pytest.mark.parametrize(
    ("blame", "counts"),
    [
        ([1, 0, 1, -1, 2, 0, 1], [(TAINTED, 3), (FULL, 2)]),
        ([-1, 2], []),
        ([], []),
        ([0, 1], [(FULL, 1), (TAINTED, 1)]),
        ([1, 0], [(TAINTED, 1), (FULL, 1)]),
    ],
)
def test_counts_are_of_the_nodes_that_are_mentioned(blame: list[int], counts: list[tuple[Rejection, int]]) -> None:
    nodes = tuple(f"n{place}" for place in range(len(blame)))
    verdict = Verdict("ns/pod", nodes, np.array(blame, dtype=np.int64), (FULL, TAINTED, UNSAID))

    assert verdict.counts.most_common() == counts
    assert verdict.counts == Counter(verdict.rejected.values())


def test_a_pod_that_cannot_be_judged_has_no_counts() -> None:
    verdict = Verdict("ns/pod", ("n",), np.zeros(1, dtype=np.int64), (), error="a selector does not compile")

    assert not verdict.counts
