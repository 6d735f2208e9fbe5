"""What arrays of codes hold."""

from __future__ import annotations

import numpy as np
import pytest

from topospread.cluster.arrays import distinct


@pytest.mark.parametrize(
    ("codes", "found"),
    [
        ([], []),
        ([0, 0], []),
        ([3, 0, 1, 3], [1, 3]),
        ([1 << 40, 0, 2, 1 << 40], [2, 1 << 40]),
        ([5, -2, 0], [-2, 5]),
    ],
)
def test_distinct_codes_are_those_that_occur_but_for_zero_in_their_order(codes: list[int], found: list[int]) -> None:
    assert distinct(np.array(codes, dtype=np.int64)) == found
