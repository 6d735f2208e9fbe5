"""Times are read as Go's time.Parse reads RFC 3339; the seconds are what it printed."""

import pytest

from topospread.api.timestamps import seconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0000-02-29T00:00:00Z", -62162121600),
        ("0001-01-01T00:00:00Z", -62135596800),
        ("0024-02-29T3:04:05Z", -61404728155),
        ("2026-02-28T3:04:05,5+12:30", 1772202845.5),
        ("2026-01-01T00:00:00+24:60", 1767135600),
        ("1999-12-31T23:59:59-00:60", 946688399),
        ("9999-12-31T23:59:59.999999999Z", 253402300799.999999),
    ],
)
def test_a_time_that_go_reads_is_read(text: str, expected: float) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "10000-01-01T00:00:00Z",
        "-001-01-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00",
        "2026-01-01T00:00:00+25:00",
        "2026-01-01t00:00:00z",
        "\u0662026-01-01T00:00:00Z",
        "",
    ],
)
def test_another_time_is_none(text: str) -> None:
    assert seconds(text) is None
