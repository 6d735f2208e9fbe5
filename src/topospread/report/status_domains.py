"""The domains of a constraint as they are, as rows or summed up; what a simulation changes in them is `domains`'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .constraint_terms import constraint_terms
from .domains import bar_of, whose
from .layout import Layout
from .paragraphs import counted, hanging, natural, together
from .selectors import does_not_match, selects

if TYPE_CHECKING:
    from topospread.spread_status import ConstraintStatus, DomainPods

_BAR = 20
_ROW = " " * 4
_WHY = {
    "others": "others' pods are counted, which their own constraints place",
    "before": "it is asked when a pod is placed, and nothing moves pods",
}
HOSTNAME = "kubernetes.io/hostname"


def constraint_lines(constraint: ConstraintStatus, layout: Layout) -> Iterator[str]:
    """The constraint in a line, its domains below."""
    yield from _heading(constraint, layout)
    if not constraint.eligible:
        why = ", ".join(each.reason for each in constraint.left_out)
        yield from hanging(_ROW, "no node takes part" + (f" ({why})" if why else ""), layout.width, 6)
        return
    if layout.few(constraint.eligible) and constraint.empty == len(constraint.empty_names):
        yield from _rows(constraint, layout)
    else:
        yield from _summed_up(constraint, layout)
    yield from _remarks(constraint, layout)


def _heading(constraint: ConstraintStatus, layout: Layout) -> Iterator[str]:
    skew = f"skew {constraint.skew}"
    if constraint.excess:
        skew = layout.style(together(f"{skew} (more than maxSkew)"), "bold", *(["red"] if constraint.hard else []))
    parts = constraint_terms(constraint, skew)
    if constraint.revision:
        parts.append(f"(older pods, {constraint.revision})")
    if layout.wide:
        parts.append(selects(constraint.selector))
    key = layout.style(constraint.topology_key, "bold")
    yield from hanging(f"  {key}  ", "  ".join(together(part) for part in parts), layout.width, 6)


def _rows(constraint: ConstraintStatus, layout: Layout) -> Iterator[str]:
    """A row a domain, those that hold none among them."""
    rows = [(each.name, each.matching, counted(each.nodes, "node")) for each in constraint.domains]
    rows += [(name, 0, "eligible, holds none") for name in constraint.empty_names]
    name = max(len(each[0]) for each in rows)
    most = max(each[1] for each in rows)
    digits = len(str(most))
    bar = min(most, _BAR, max(layout.width - len(_ROW) - name - digits - 26, 4))
    for domain, matching, words in sorted(rows, key=lambda each: natural(each[0])):
        drawn = f"{bar_of(matching, most, bar):<{bar}}  " if most else ""
        said = words if constraint.topology_key != HOSTNAME or not matching else ""
        yield from hanging(f"{_ROW}{domain:<{name}}  {matching:>{digits}}  {drawn}", said, layout.width, len(_ROW) + 2)


def _summed_up(constraint: ConstraintStatus, layout: Layout) -> Iterator[str]:
    """How many of many domains hold how many pods, the fullest first."""
    noun = "node" if constraint.topology_key == HOSTNAME else "domain"
    domains = constraint.domains
    pods = sum(each.matching for each in domains)
    text = f"{counted(pods, 'pod')} on {len(domains)} of {counted(constraint.eligible, noun)}"
    if constraint.empty:
        text += f", {constraint.empty} hold none"
    by_count: dict[int, list[DomainPods]] = {}
    for each in domains:
        by_count.setdefault(each.matching, []).append(each)
    counts = sorted(by_count, reverse=True)
    if len(counts) == 1:
        yield from hanging(_ROW, f"{text}; {counts[0]} on each", layout.width, len(_ROW) + 2)
        return
    yield from hanging(_ROW, text, layout.width, len(_ROW) + 2)
    for count in counts[: layout.most]:
        names = layout.names(sorted((each.name for each in by_count[count]), key=natural), 2)
        row = f"{_ROW}  {counted(count, 'pod')} on {counted(len(by_count[count]), noun)}: "
        yield from hanging(row, names, layout.width, len(_ROW) + 4)
    left = sum(len(by_count[count]) for count in counts[layout.most :])
    if left:
        yield f"{_ROW}  fewer on {counted(left, noun)}"


def _remarks(constraint: ConstraintStatus, layout: Layout) -> Iterator[str]:
    """What else a person should know of the counts."""
    for text in whose(constraint.counted, layout):
        yield from hanging(_ROW, text, layout.width, len(_ROW) + 2)
    if constraint.excess and (constraint.hard or constraint.counted):
        why = "others" if constraint.counted else "before"
        yield from hanging(_ROW, f"more than maxSkew: {_WHY[why]}", layout.width, len(_ROW) + 2)
    if constraint.lacks_domains:
        few = f"fewer domains than minDomains ({constraint.eligible} < {constraint.min_domains})"
        yield from hanging(_ROW, f"{few}: the minimum counts as 0", layout.width, len(_ROW) + 2)
    if not constraint.counts_itself:
        text = does_not_match(constraint.selector)
        yield from hanging(_ROW, text, layout.width, len(_ROW) + 2)
    for left in constraint.left_out:
        names = layout.names(list(left.names), 2) if left.count == len(left.names) else counted(left.count, "node")
        yield from hanging(_ROW, f"not counted: {names} ({left.reason})", layout.width, len(_ROW) + 2)
