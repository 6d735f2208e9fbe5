"""Verdict words combine as in Kleene's logic, bounds carry what is not known, and large JSON is not indented."""

from __future__ import annotations

import json

import pytest

from topospread.base import Bounds, Word, best, json_text, worst


@pytest.mark.parametrize(
    ("words", "conjunction", "disjunction"),
    [
        ((), "yes", "no"),
        (("yes", "yes"), "yes", "yes"),
        (("yes", "unknown"), "unknown", "yes"),
        (("no", "unknown"), "no", "unknown"),
        (("no", "unknown", "yes"), "no", "yes"),
    ],
)
def test_unknown_decides_nothing(words: tuple[Word, ...], conjunction: Word, disjunction: Word) -> None:
    assert (worst(words), best(words)) == (conjunction, disjunction)


def test_bounds_answer_yes_or_no_only_if_both_ends_agree() -> None:
    bounds = Bounds(least=1, most=3)
    assert [bounds.at_least(number) for number in (1, 2, 4)] == ["yes", "unknown", "no"]


def test_bounds_add_up_and_print_one_number_if_both_ends_are_equal() -> None:
    assert str(Bounds.exactly(2) + Bounds(least=0, most=3)) == "2–5"
    assert str(Bounds.exactly(2)) == "2"
    assert Bounds.exactly(2).known


def test_large_json_is_not_indented() -> None:
    small, large = ({"names": ["n" * 10] * count} for count in (2, 100_000))
    assert json_text(small) == '{\n  "names": [\n    "nnnnnnnnnn",\n    "nnnnnnnnnn"\n  ]\n}\n'
    assert json_text(large).count("\n") == 1
    assert json.loads(json_text(large)) == large
