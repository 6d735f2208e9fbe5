"""Pods that stay pending: kube-scheduler's sentence, and the sum of each domain that a hard constraint forbids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from topospread.answers.reasons import SPREAD, its_nodes, others

from .domains import no_domain
from .layout import Layout
from .paragraphs import counted, hanging, listed, natural
from .sums import sum_of

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic
    from topospread.simulation import DomainOutcome, PendingGroup

_SHOWN_WORKLOADS = 8
_SHOWN_SUMS = 12
_SUMS = "matching pods + 1 (self) − global minimum = skew, at most maxSkew"


Reason = tuple[str, str, tuple[str, ...]]
"""kube-scheduler's sentence, preemption's, and the sums."""


def pending_lines(groups: Sequence[PendingGroup], layout: Layout) -> Iterator[str]:
    """All that stays pending, by reason."""
    reasons = _by_reason(groups, layout)
    legend = f"({_SUMS})" if any(sums for *_, sums in reasons) else ""
    yield from hanging(layout.style("Pending", "bold", "red") + "  ", legend, layout.width, 2)
    for (*_, sums), alike in reasons.items():
        yield from _heading(alike, layout)
        yield from sums


def _sums(group: PendingGroup, layout: Layout) -> tuple[str, ...]:
    """The sums of its constraints; nothing where they have no part in it."""
    return tuple(
        line
        for arithmetic, outcomes in (group.outcomes if SPREAD in group.message else ())
        for line in _constraint(arithmetic, outcomes, layout)
    )


def _by_reason(groups: Sequence[PendingGroup], layout: Layout) -> dict[Reason, list[PendingGroup]]:
    """Groups with one sentence and the same sums, together, in the order of the first."""
    together: dict[Reason, list[PendingGroup]] = {}
    for each in groups:
        together.setdefault((each.message, each.preemption, _sums(each, layout)), []).append(each)
    return together


def _heading(alike: Sequence[PendingGroup], layout: Layout) -> Iterator[str]:
    """Who waits, and for what."""
    first = alike[0]
    sentence = f"{first.message.rstrip()} {first.preemption}".rstrip()
    if len(alike) == 1:
        yield from hanging(f"  {layout.style(_name(first), 'bold')}  ", sentence, layout.width, 4)
    else:
        pods = sum(len(each.pods) for each in alike)
        yield from hanging("  ", sentence, layout.width, 4)
        names = layout.names([_name(each) for each in alike], _SHOWN_WORKLOADS)
        bold = layout.style(counted(pods, "pod"), "bold")
        yield from hanging(f"    {bold}: ", names, layout.width, 6)
    if layout.wide:
        pods_by_name = [pod for each in alike if not each.workload.startswith("Pod/") for pod in each.pods]
        if pods_by_name:
            yield from hanging("    pods: ", ", ".join(pods_by_name), layout.width, 6)


def _name(group: PendingGroup) -> str:
    """``shop/checkout (2)``."""
    kind, _, name = group.workload.partition("/")
    return f"{group.namespace}/{name}" + ("" if kind == "Pod" else f"\xa0({len(group.pods)})")


def _constraint(arithmetic: ConstraintArithmetic, outcomes: Sequence[DomainOutcome], layout: Layout) -> Iterator[str]:
    yield from hanging(f"    {arithmetic.topology_key}  ", f"maxSkew\xa0{arithmetic.max_skew}", layout.width, 6)
    if not outcomes:
        yield from hanging("      ", no_domain(arithmetic), layout.width, 8)
    if layout.few(len(outcomes)):
        rows = [(each.domain.name, why_of(arithmetic, each)) for each in sorted(outcomes, key=_by_name)]
    else:
        rows = _alike(arithmetic, outcomes)
    width = max((len(name) for name, _ in rows), default=0)
    for name, why in rows:
        first = f"      {name:<{width}}  "
        yield from hanging(first, why, layout.width, min(len(first), layout.width // 3))


def _by_name(outcome: DomainOutcome) -> tuple[tuple[int, str], ...]:
    return natural(outcome.domain.name)


def why_of(arithmetic: ConstraintArithmetic, outcome: DomainOutcome) -> str:
    """One domain: the sum that forbids it, or why its nodes do not take the pod all the same."""
    domain = outcome.domain
    total = sum_of(arithmetic, domain)
    if not domain.allowed:
        besides = others(outcome.rejected)
        hopeless = besides and max(besides.values()) >= domain.nodes
        return f"{total}; and {its_nodes(besides, domain.nodes)}" if hopeless else total
    its = its_nodes(outcome.rejected, domain.nodes)
    what = "holds the minimum" if domain.matching == arithmetic.fewest else total
    return f"{what}; {its}" if its else what


def _alike(arithmetic: ConstraintArithmetic, outcomes: Sequence[DomainOutcome]) -> list[tuple[str, str]]:
    """Many domains: how many of them there are of each sum, the commonest first, with some of their names."""
    names: dict[str, list[str]] = {}
    for each in sorted(outcomes, key=_by_name):
        names.setdefault(why_of(arithmetic, each), []).append(each.domain.name)
    order = Counter({why: len(found) for why, found in names.items()}).most_common()
    rows = [(counted(number, "domain"), f"{why} ({listed(names[why], 2)})") for why, number in order]
    if len(rows) <= _SHOWN_SUMS:
        return rows
    left = sum(number for _, number in order[_SHOWN_SUMS:])
    return [*rows[:_SHOWN_SUMS], (counted(left, "domain"), "other sums; -o wide lists them all")]
