"""Formatting helpers for answers: counted nouns, joined lists and natural sort order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from topospread.text import agreeing, counted, listed, noun_of
from topospread.whole_number import whole_number

__all__ = [
    "PODS_ANYWHERE", "agreeing", "blocked_drains", "counted", "in_order", "joined", "listed", "natural", "noun_of",
]  # fmt: skip

PODS_ANYWHERE = "a pod that is not judged may be on any node that its other filters allow, or on none"
"""How promises treat pods that topospread cannot judge."""
_NUMBER = re.compile(r"(\d+)")


def blocked_drains(budgets: Iterable[str]) -> str:
    """Return a clause about budgets that let no pod be evicted; "" without any."""
    names = list(budgets)
    one = f", but budget {listed(names, 2)} blocks every drain of a node with its pods"
    return one if len(names) == 1 else f", but budgets {listed(names, 2)} block drains" if names else ""


def in_order(names: Iterable[str]) -> list[str]:
    """Return names in natural order: node-2 before node-10."""
    return sorted(names, key=natural)


@lru_cache(maxsize=1 << 17)
def natural(name: str) -> tuple[tuple[int, str], ...]:
    """Return a sort key for natural order. Cached because node names are sorted often."""
    numbers = ((part, whole_number(part)) for part in _NUMBER.split(name))
    return tuple((-1, part) if number is None else (number, "") for part, number in numbers)


def joined(parts: Iterable[str]) -> str:
    """Return ``a``, ``a and b`` or ``a, b and c``."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last
