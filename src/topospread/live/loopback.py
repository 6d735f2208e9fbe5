"""Decide whether an address accepts connections from this machine only."""

from __future__ import annotations

import ipaddress


def is_loopback(address: str) -> bool:
    """Return whether only processes of this machine can reach a listener on `address`."""
    bare = address.strip("[]").lower()
    if bare == "localhost":
        return True
    try:
        return ipaddress.ip_address(bare).is_loopback
    except ValueError:
        return False
