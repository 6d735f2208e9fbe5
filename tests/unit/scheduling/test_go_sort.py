"""Sorting as Go does it; the orders were printed by a Go program."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.scheduling.go_sort import _Run, go_sorted


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        (
            [i % 3 for i in range(20)],
            "9 18 15 3 12 0 6 10 7 4 13 16 1 19 8 5 11 14 2 17",
        ),
        (
            [i * 7 % 5 for i in range(60)],
            "40 25 55 30 20 5 0 10 15 45 35 50 58 13 38 8 48 33 18 43 53 3 28 23 31 36 26 1 56 51 21 6 46 11 41 "
            "16 49 24 14 39 59 34 54 4 44 9 29 19 47 7 37 32 52 17 42 2 22 57 27 12",
        ),
        (
            [i * 5 % 7 for i in range(40)],
            "14 35 28 7 21 0 38 3 31 24 10 17 20 34 27 13 6 23 16 2 9 30 37 26 12 5 19 33 1 15 22 29 8 36 25 32 4 "
            "18 11 39",
        ),
        (
            [-i // 2 for i in range(30)],
            "29 28 27 25 26 24 23 22 21 20 19 18 17 15 16 14 13 12 11 9 10 8 7 6 5 4 3 2 1 0",
        ),
    ],
)
def test_equal_elements_are_in_gos_order(keys: list[int], order: str) -> None:
    assert go_sorted(range(len(keys)), key=lambda each: keys[each]) == [int(each) for each in order.split()]


def test_a_dozen_equal_elements_stay_as_they_are() -> None:
    assert go_sorted(range(12), key=lambda each: 0) == list(range(12))


@given(st.lists(st.integers(0, 40), max_size=200))
def test_the_order_is_the_keys(keys: list[int]) -> None:
    assert [keys[each] for each in go_sorted(range(len(keys)), key=lambda each: keys[each])] == sorted(keys)


@given(st.lists(st.integers(0, 40), min_size=13, max_size=60), st.integers(0, 12))
def test_after_too_many_bad_pivots_the_order_is_the_keys_too(keys: list[int], start: int) -> None:
    run = _Run(list(range(len(keys))), keys.__getitem__)
    run.sort(start, len(keys), 0)
    assert run.elements[:start] == list(range(start))
    assert [keys[each] for each in run.elements[start:]] == sorted(keys[start:])
    assert sorted(run.elements) == list(range(len(keys)))


def test_a_rising_list_with_many_swapped_neighbours_is_sorted() -> None:
    keys = list(range(100))
    for i in range(3, 100, 10):
        keys[i], keys[i + 1] = keys[i + 1], keys[i]
    run = _Run(list(range(100)), keys.__getitem__)
    run.sort(0, 100, 7)
    assert [keys[each] for each in run.elements] == list(range(100))
