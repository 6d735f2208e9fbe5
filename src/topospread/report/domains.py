"""The domains of a workload's constraint as rows, pods before → after; many domains are summed up by their count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from topospread.answers.reasons import Reasons, nodes_and, of_them, on_it

from .constraint_terms import constraint_terms
from .layout import FEW, Layout
from .paragraphs import counted, hanging, in_order, natural, together
from .selectors import does_not_match, selects

if TYPE_CHECKING:
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic, LeftOut
    from topospread.simulation import DomainSpread, DomainSpreads, WorkloadSpread

_BAR = 20
_NARROW_BAR = 4
_ROW = " " * 4
_HOSTNAME = "kubernetes.io/hostname"


def spread_lines(spreads: Sequence[WorkloadSpread], layout: Layout) -> Iterator[str]:
    """The constraints of a workload, each with its domains.

    A built-in default that finds no domain is left out: nobody asked for it, and it does nothing.
    """
    told: set[LeftOut] = set()
    for spread in spreads:
        if spread.domains or spread.origin != "system":
            yield from _constraint(spread, told, layout)
            told |= set(spread.arithmetic.left_out)


def _constraint(spread: WorkloadSpread, told: set[LeftOut], layout: Layout) -> Iterator[str]:
    yield from _heading(spread, layout)
    if not spread.domains:
        yield from hanging(_ROW, no_domain(spread.arithmetic), layout.width, len(_ROW) + 2)
        return
    if layout.few(len(spread.domains)):
        yield from _rows(spread.domains, layout, nodes=spread.topology_key != _HOSTNAME)
    else:
        yield from _summed_up(spread, layout)
    for text in (*whose(spread.counted, layout), *_why(spread), *_remarks(spread.arithmetic, told, layout)):
        yield from hanging(_ROW, text, layout.width, len(_ROW) + 2)


def no_domain(arithmetic: ConstraintArithmetic) -> str:
    """Why a constraint counts nothing at all: ``no node takes part (no label rack)``."""
    why = ", ".join(left.reason for left in arithmetic.left_out)
    return "no node takes part" + (f" ({why})" if why else "")


def whose(pods_of: Mapping[str, int], layout: Layout) -> Iterator[str]:
    """``counted: 3 frontend, 3 history``, where pods of other workloads are counted as well; the own ones come first.

    A kind is said where two are of one name.
    """
    if not pods_of:
        return
    names = Counter(each.partition("/")[2] for each in pods_of)
    parts = []
    for workload, pods in pods_of.items():
        name = workload.partition("/")[2]
        parts.append(f"{pods} {workload if names[name] > 1 else name}" if name else counted(pods, "bare pod"))
    yield f"counted: {layout.names(list(map(together, parts)))}"


_WHY = {
    "before": "by pods that were there before, and nothing moves them",
    "others": "others' pods are counted, which their own constraints place",
    "full": "soft, and the domains that hold the fewest take no more",
    "scores": "soft, and other scores weighed more",
    "sampled": "soft: other scores weighed more, or the nodes were not sampled",
}


def _why(spread: WorkloadSpread) -> Iterator[str]:
    if spread.exceeded:
        yield f"more than maxSkew: {_WHY[spread.exceeded]}"


def _remarks(arithmetic: ConstraintArithmetic, told: set[LeftOut], layout: Layout) -> Iterator[str]:
    """What else a person should know of a constraint's counts; ``told``: what was said of the workload already."""
    if arithmetic.lacks_domains:
        few = f"fewer domains than minDomains ({len(arithmetic.domains)} < {arithmetic.min_domains})"
        yield f"{few}: the minimum counts as 0"
    if not arithmetic.counts_itself:
        yield does_not_match(arithmetic.selector)
    for left in arithmetic.left_out:
        if left in told:
            continue
        yield f"not counted: {layout.names(in_order(left.nodes))} ({left.reason})"


def _heading(spread: WorkloadSpread, layout: Layout) -> Iterator[str]:
    skew = f"skew {spread.skew}"
    parts = constraint_terms(spread.arithmetic, f"{skew} (more than maxSkew)" if spread.is_exceeded else skew)
    if layout.wide:
        parts.append(selects(spread.arithmetic.selector))
    key = layout.style(spread.topology_key, "bold")
    yield from hanging(f"  {key}  ", "  ".join(together(part) for part in parts), layout.width, 6)


def _rows(domains: Sequence[DomainSpread], layout: Layout, *, nodes: bool) -> Iterator[str]:
    """A row a domain; ``nodes``: whether it says how many nodes there are."""
    name = max(len(each.name) for each in domains)
    before = max(len(str(each.before)) for each in domains)
    after = max(len(str(each.after)) for each in domains)
    most = max(each.after for each in domains)
    texts = [nodes_and(each.rejected, each.nodes) if nodes else on_it(each.rejected) for each in domains]
    counts = f"{_ROW}{{:<{name}}}  {{:>{before}}} → {{:>{after}}}"
    used = len(counts.format("", 0, 0)) + 4
    bar = min(most, _BAR, max(layout.width - used - max(map(len, texts)), _NARROW_BAR))
    for each, text in sorted(zip(domains, texts, strict=True), key=lambda row: natural(row[0].name)):
        drawn = f"  {bar_of(each.after, most, bar):<{bar}}" if most else ""
        row = f"{counts.format(each.name, each.before, each.after)}{drawn}  "
        yield from _row(row, text, layout.width)


def _row(row: str, text: str, width: int) -> list[str]:
    """A row and what is said behind it; what does not fit goes on below, in its column where there is room."""
    longest = max(map(len, text.split()), default=0)
    column = len(row) if len(row) <= width * 2 // 3 and len(row) + longest <= width else len(_ROW) + 2
    return hanging(row, text, width, column) if text else [row.rstrip()]


def bar_of(count: int, most: int, width: int) -> str:
    """A bar of at most ``width`` cells, one a pod where they fit, for a count among counts up to ``most``."""
    cells = count if most <= width else round(count * width / most)
    return "█" * max(cells, 1 if count else 0)


def _summed_up(spread: WorkloadSpread, layout: Layout) -> Iterator[str]:
    """How many of many domains hold how many pods, the fullest first, with some of their names."""
    domains = spread.domains
    noun = "node" if spread.topology_key == _HOSTNAME else "domain"
    totals = f"{domains.before.sum()} → {domains.after.sum()}"
    groups = _grouped(domains)
    if len(groups) == 1:
        trouble = of_them(_summed(domains.rejected.values()))
        text = f"{counted(len(domains), noun)} with {totals} pods, {groups[0][0]} on each"
        yield from hanging(_ROW, f"{text}; {trouble}" if trouble else text, layout.width, len(_ROW) + 2)
        return
    yield f"{_ROW}{counted(len(domains), noun)} with {totals} pods; -o wide lists them"
    pods = max(len(label) for label, _ in groups)
    number = max(len(counted(len(group), noun)) for _, group in groups)
    for label, group in groups:
        row = f"{_ROW}{label:>{pods}} on {counted(len(group), noun):>{number}}  "
        names = layout.names(in_order(group), 2)
        trouble = of_them(_summed(domains.rejected.get(name, {}) for name in group)) if domains.rejected else ""
        yield from _row(row, f"{names}; {trouble}" if trouble else names, layout.width)


def _grouped(domains: DomainSpreads) -> list[tuple[str, list[str]]]:
    """Domains that hold as many pods, by name; of many different counts those in the middle are one group."""
    by_count: dict[int, list[str]] = {}
    for name, count in zip(domains.names, domains.after.tolist(), strict=True):
        by_count.setdefault(count, []).append(name)
    counts = sorted(by_count, reverse=True)
    if len(counts) <= FEW:
        return [(counted(count, "pod"), by_count[count]) for count in counts]
    ends = FEW // 2 - 1
    middle = counts[ends:-ends]
    return [
        *((counted(count, "pod"), by_count[count]) for count in counts[:ends]),
        (f"{middle[-1]} to {middle[0]} pods", [name for count in middle for name in by_count[count]]),
        *((counted(count, "pod"), by_count[count]) for count in counts[-ends:]),
    ]


def _summed(reasons: Iterable[Reasons]) -> Counter[str]:
    result: Counter[str] = Counter()
    for each in reasons:
        result.update(each)
    return result
