"""Whole numbers in texts: what Go reads, and nothing that makes Python fail."""

from __future__ import annotations

import pytest

from topospread.whole_number import scaled, whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("007", 7),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("0" * 5000 + "1", 1),
        ("9" * 5000, None),
        ("٣", None),
        ("²", None),
        ("-1", None),
        ("+1", None),
        ("1_0", None),
        ("", None),
        (None, None),
    ],
)
def test_digits_are_a_number_of_64_bits(text: str | None, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("value", "result"), [(3, 3), ("50%", 3), ("100%", 5), ("5", None), (f"{'9' * 400}%", None), ("%", None)]
)
def test_percentages_round_up(value: int | str, result: int | None) -> None:
    assert scaled(value, 5) == result
