"""What ends a capacity, in a sentence: a constraint's arithmetic and what the domain lacks that would have to grow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from topospread.answers.reasons import its_nodes, others

from .layout import Layout
from .paragraphs import in_order

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic
    from topospread.scheduling.verdict import Verdict
    from topospread.simulation import DomainOutcome
    from topospread.spare_capacity import Capacity


def what_ends(capacity: Capacity, layout: Layout) -> str:
    """``zone-c, which holds the minimum of …/zone (maxSkew 1): its 3 nodes lack cpu``."""
    pending = capacity.pending
    if pending is None:
        return "nothing: as many as were tried fit, or no more are wanted"
    verdict = pending.verdict
    if verdict is None or verdict.error:
        return pending.message
    for arithmetic, outcomes in pending.outcomes:
        held = [each for each in outcomes if not each.domain.allowed and not _is_hopeless(each)]
        if held:
            return _constraint(arithmetic, outcomes, layout)
    return its_nodes(_reasons(verdict), len(verdict.nodes), whose="the") or pending.message


def _is_hopeless(outcome: DomainOutcome) -> bool:
    """Whether no node of the domain would take the pod if the constraint let it in."""
    besides = others(outcome.rejected)
    return bool(besides) and max(besides.values()) >= outcome.domain.nodes


def _constraint(arithmetic: ConstraintArithmetic, outcomes: tuple[DomainOutcome, ...], layout: Layout) -> str:
    """The domains that the constraint lets the pod into do not take it, and the others would."""
    rule = f"maxSkew {arithmetic.max_skew} of {arithmetic.topology_key}"
    if arithmetic.lacks_domains:
        few = f"{len(arithmetic.domains)} of minDomains {arithmetic.min_domains} are there"
        return f"{rule}: {few}, so that a domain takes {arithmetic.max_skew} at most"
    open_ones = [each for each in outcomes if each.domain.allowed]
    if not open_ones:
        fewest = in_order(arithmetic.minimum_domains)
        return f"{rule}: every domain is at it; the fewest are in {layout.names(fewest)}"
    names = layout.names(in_order(each.domain.name for each in open_ones))
    nodes = sum(each.domain.nodes for each in open_ones)
    reasons: Counter[str] = Counter()
    for each in open_ones:
        reasons.update(each.rejected)
    return f"{rule} lets the next one into {names} alone, and {its_nodes(reasons, nodes)}"


def _reasons(verdict: Verdict) -> Counter[str]:
    return Counter(reason for rejection in verdict.rejected.values() for reason in rejection.reasons)
