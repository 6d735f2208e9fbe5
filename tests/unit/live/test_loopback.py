"""Which addresses only this machine reaches."""

from __future__ import annotations

import pytest

from topospread.live.loopback import is_loopback


@pytest.mark.parametrize(
    ("address", "loopback"),
    [("localhost", True), ("127.8.0.1", True), ("[::1]", True), ("0.0.0.0", False), ("::", False), ("desk", False)],
)
def test_only_this_machine_reaches_loopback_addresses(address: str, loopback: bool) -> None:
    assert is_loopback(address) == loopback
