"""Bounds from counts alone."""

from __future__ import annotations

from .builders import THREE, rebalance_of, spread, standing


def test_without_time_the_counts_alone_bound() -> None:
    found = rebalance_of([*THREE, *standing({"a1": 3}, spread())], seconds=0)
    assert (found.bound, found.bound_by) == (2, "counts")
