"""Counts and lists in words, in one place for every page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

_NUMBER = re.compile(r"(\d+)")


def counted(number: int | str, noun: str, plural: str = "") -> str:
    """Return ``1 pod``, ``2 pods``, ``0–3 pods``.

    Args:
        number: a count, or bounds as text.
        noun: the singular.
        plural: the plural, if it is not the singular with an ``s``.
    """
    return f"{number} {noun}" if str(number) == "1" else f"{number} {plural or noun + 's'}"


def listed(names: Collection[str], most: int = 3) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``, or ``a, b, c and 7 more``."""
    shown = list(names)
    if len(shown) <= most + 1:
        return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))
    return f"{', '.join(shown[:most])} and {len(shown) - most} more"


def verb(number: int | str, singular: str, plural: str) -> str:
    """Return the verb form that fits a count."""
    return singular if str(number) == "1" else plural


def in_order(names: Iterable[str]) -> list[str]:
    """Return names sorted as people count: node-2 before node-10."""
    return sorted(names, key=natural)


@lru_cache(maxsize=1 << 17)
def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key that compares the numbers within names by value."""
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in _NUMBER.split(name))
