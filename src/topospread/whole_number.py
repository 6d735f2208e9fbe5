"""Parse whole numbers in untrusted text like Go's ``strconv.Atoi``.

Python's ``int`` also accepts digits of other scripts, and raises an error for thousands of digits.
"""

from __future__ import annotations

from math import ceil
from typing import Final

_LARGEST: Final = 2**63 - 1
_DIGITS: Final = len(str(_LARGEST))


def whole_number(text: str | None) -> int | None:
    """Parse decimal digits without a sign. Return None for other texts and for more than 64 bits.

    >>> whole_number("42"), whole_number("4" * 42), whole_number("-42")
    (42, None, None)
    """
    if not text or not text.isascii() or not text.isdigit():
        return None
    number = int(text.lstrip("0")[: _DIGITS + 1] or "0")
    return number if number <= _LARGEST else None


def scaled(value: int | str, total: int) -> int | None:
    """Return an int unchanged, and a percentage of `total` rounded up; None for other texts.

    Source: ``GetScaledValueFromIntOrPercent`` in k8s.io/apimachinery/pkg/util/intstr/intstr.go.
    """
    if isinstance(value, int):
        return value
    share = whole_number(value.removesuffix("%")) if value.endswith("%") else None
    return None if share is None else ceil(share * total / 100)
