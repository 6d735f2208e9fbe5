"""Promises that annotations declare."""

from __future__ import annotations

import pytest

from topospread.api.promises import read_wants
from topospread.errors import UsageError


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zone-los>=2", "did you mean zone-loss"),
        ("zone-loss>8", "did you mean zone-loss>=8[?]"),
        ("zone-loss=eu-west-1c>=66%", "did you mean zone-loss>=66%[?]"),
        ("zone-loss", "write zone-loss>=N"),
        ("skew>=1", "write skew<=N"),
        ("skew<=10%", "write skew<=N"),
        ("drain>=101%", "more than 100 %"),
        ("quorum>=2", "write quorum"),
        ("uptime", "write zone-loss>=4"),
    ],
)
def test_a_promise_that_is_not_one_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_wants(text)


def test_percentages_are_of_the_replicas_rounded_up() -> None:
    (want,) = read_wants("zone-loss>=66%")
    assert (str(want), want.least(6), want.least(3)) == ("zone-loss>=66%", 4, 2)
