"""A constraint in a few words, as it heads the lines that tell what came of it; the numbers are the engine's."""

from __future__ import annotations

from typing import Protocol

from .paragraphs import together

_ORIGINS = {"profile": "profile default", "system": "built-in default"}


class Stated(Protocol):
    """A constraint as it is in force."""

    @property
    def hard(self) -> bool:
        """DoNotSchedule."""

    @property
    def max_skew(self) -> int:
        """As it is given."""

    @property
    def min_domains(self) -> int:
        """1 when it says nothing."""

    @property
    def origin(self) -> str:
        """``pod``, ``profile`` or ``system``."""


def constraint_terms(constraint: Stated, *came_of_it: str) -> list[str]:
    """``hard``, ``maxSkew 1``, ``minDomains 3``, ``skew 2``, ``(profile default)``: each of them unbroken."""
    terms = ["hard" if constraint.hard else "soft", f"maxSkew {constraint.max_skew}"]
    if constraint.min_domains > 1:
        terms.append(f"minDomains {constraint.min_domains}")
    terms += came_of_it
    if constraint.origin in _ORIGINS:
        terms.append(f"({_ORIGINS[constraint.origin]})")
    return [together(each) for each in terms]
