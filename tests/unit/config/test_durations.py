"""Durations as Go reads and writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topospread.config.durations import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("15s", 15 * 10**9),
        ("1m30s", 90 * 10**9),
        ("1h2m3.5s", 3723_500_000_000),
        ("-1.5h", -5400 * 10**9),
        ("+2ms", 2_000_000),
        (".5s", 500_000_000),
        ("1.s", 10**9),
        ("3us", 3000),
        ("3µs", 3000),
        ("7ns", 7),
        ("0.0000000001s", 0),
    ],
)
def test_parses(text: str, nanoseconds: int) -> None:
    assert parse_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "5", "s", ".s", "1d", "1 s", "1s ", "--1s", "1s-2s", "९s", "9999999999h"])
def test_refuses(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1500, "1.5µs"),
        (100_000_000, "100ms"),
        (1_500_000_000, "1.5s"),
        (60 * 10**9, "1m0s"),
        (600 * 10**9, "10m0s"),
        (3723_500_000_000, "1h2m3.5s"),
        (-(10**9), "-1s"),
    ],
)
def test_formats(nanoseconds: int, text: str) -> None:
    assert format_duration(nanoseconds) == text


@given(st.integers(min_value=-(2**63), max_value=2**63 - 1))
def test_what_is_written_is_read(nanoseconds: int) -> None:
    assert parse_duration(format_duration(nanoseconds)) == nanoseconds
