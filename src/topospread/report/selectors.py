"""A constraint's selector in words; what it selects is `api.labels`'s matter."""

from __future__ import annotations

import re

from .paragraphs import together

_BETWEEN = re.compile(r",(?![^()]*\))")
"""The commas between requirements, not those between the values of one."""


def requirements(selector: str) -> str:
    """The requirements, each unbroken: ``app=web, tier in (a,b)``."""
    return ", ".join(map(together, _BETWEEN.split(selector)))


def selects(selector: str) -> str:
    """``selects app=web``; a missing selector and an empty one count no pod."""
    return f"selects {requirements(selector)}" if selector else "selects nothing"


def does_not_match(selector: str) -> str:
    """That pods do not count themselves, and why."""
    if not selector:
        return "without a labelSelector the constraint counts no pod: each adds 0"
    return f"the pods do not match their own labelSelector ({requirements(selector)}): each adds 0"
