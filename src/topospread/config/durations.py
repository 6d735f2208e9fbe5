"""Go's time.Duration as text: reading and writing, in nanoseconds.

Source: Go's time.ParseDuration and Duration.String.
"""

from __future__ import annotations

import re

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST = 100
"""Maximum number of characters. Go never writes more, and thousands of digits are slow to parse."""
_FORM = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+", re.ASCII)
_PART = re.compile(r"(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)


def parse_duration(text: str) -> int | None:
    """Parse ``1h30m``, ``-1.5s`` or ``0`` to nanoseconds; ``None`` if it is not a duration or too large."""
    if text in ("0", "+0", "-0"):
        return 0
    if len(text) > _LONGEST or not _FORM.fullmatch(text):
        return None
    total = 0
    for whole, fraction, unit in _PART.findall(text):
        scale = _UNITS[unit]
        total += int(whole or 0) * scale + int(fraction or 0) * scale // 10 ** len(fraction)
    if text[0] == "-":
        total = -total
    return total if -(2**63) <= total < 2**63 else None


def format_duration(nanoseconds: int) -> str:
    """Return Go's text of a duration: ``1h30m0s``, ``1.5s``, ``100ms``, ``0s``."""
    if nanoseconds == 0:
        return "0s"
    sign = "-" if nanoseconds < 0 else ""
    rest = abs(nanoseconds)
    if rest < 10**9:
        unit, scale = next((unit, _UNITS[unit]) for unit in ("ms", "µs", "ns") if rest >= _UNITS[unit])
        return f"{sign}{_decimal(rest, scale)}{unit}"
    hours, rest = divmod(rest, _UNITS["h"])
    minutes, rest = divmod(rest, _UNITS["m"])
    text = f"{_decimal(rest, _UNITS['s'])}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return sign + (f"{hours}h{text}" if hours else text)


def _decimal(value: int, scale: int) -> str:
    whole, fraction = divmod(value, scale)
    if not fraction:
        return str(whole)
    digits = str(fraction).zfill(len(str(scale)) - 1).rstrip("0")
    return f"{whole}.{digits}"
