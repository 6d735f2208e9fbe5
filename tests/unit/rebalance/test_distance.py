"""How many pods have to move, held to what every order of single moves comes to."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from topospread.rebalance.distance import best_level, distance


def by_moving(counts: tuple[int, ...], highest: int) -> int:
    """The fewest moves, found by moving pods one after the other from any domain to any other."""
    reached, moves = {counts}, 0
    while not any(max(each) - min(each) <= highest for each in reached):
        moves += 1
        reached = {
            _moved(each, *pair) for each in reached for pair in permutations(range(len(each)), 2) if each[pair[0]]
        }
    return moves


def _moved(counts: tuple[int, ...], source: int, target: int) -> tuple[int, ...]:
    return tuple(each - (i == source) + (i == target) for i, each in enumerate(counts))


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple), st.integers(1, 3))
def test_the_distance_is_the_fewest_moves(counts: tuple[int, ...], highest: int) -> None:
    assert distance(np.array(counts), highest) == by_moving(counts, highest)


def test_below_min_domains_the_minimum_is_zero() -> None:
    assert distance(np.array([3, 2]), 1, minimum_is_zero=True) == 3


def test_of_several_levels_the_one_that_takes_fewest_moves_is_aimed_at() -> None:
    assert best_level(np.array([5, 0, 0]), 1) == (3, 1)
    assert best_level(np.array([], dtype=np.int64), 1) == (0, 0)
