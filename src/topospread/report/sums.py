"""The sum of a hard constraint in words, as people check it; the numbers are `plugins.spread_arithmetic`'s."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .paragraphs import together

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain


def sum_of(arithmetic: ConstraintArithmetic, domain: Domain) -> str:
    """``3 + 1 (self) − 2 (minimum: zone-c) = 2 > maxSkew 1``.

    In this order: matching pods of the domain, the pod itself, the global minimum in force, the skew it would make.
    """
    relation = "≤" if domain.skew <= arithmetic.max_skew else ">"
    minimum = together(f"{arithmetic.minimum} ({minimum_words(arithmetic)})")
    return (
        f"{domain.matching} + {together(f'{arithmetic.counts_itself} (self)')} − {minimum} "
        f"{together(f'= {domain.skew} {relation} maxSkew {arithmetic.max_skew}')}"
    )


def plain_sum(arithmetic: ConstraintArithmetic, domain: Domain) -> str:
    """The same where lines are not broken."""
    return sum_of(arithmetic, domain).replace("\xa0", " ")


def minimum_words(arithmetic: ConstraintArithmetic) -> str:
    """Who holds the minimum, ``minimum: zone-c``, or why it is 0."""
    if arithmetic.lacks_domains:
        return f"{len(arithmetic.domains)} domains < minDomains {arithmetic.min_domains}"
    names = arithmetic.minimum_domains
    if not names:
        return "no domain"
    others = len(names) - 1
    if others == len(arithmetic.domains) - 1 and others > 1:
        return f"minimum: all {len(names)} domains"
    return f"minimum: {names[0]}" + (f" and {others} more" if others else "")
