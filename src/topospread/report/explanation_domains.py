"""The constraints of an explained pod, each with its domains as a table with bars; many domains are summed up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from topospread.answers.reasons import its_nodes

from .constraint_terms import constraint_terms
from .domains import bar_of, no_domain, whose
from .layout import Layout
from .paragraphs import counted, hanging, in_order, listed, natural, together
from .selectors import requirements

if TYPE_CHECKING:
    from topospread.explanation import ConstraintTable, DomainRow, Explanation
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic

_ROW = " " * 4
_BAR = 12
_SHOWN_SUMS = 12
_HEADS = ("domain", "nodes", "pods", "after", "skew")


def constraint_lines(explanation: Explanation, layout: Layout) -> Iterator[Iterator[str]]:
    """A block for each constraint. A built-in default that finds no domain is left out: nobody asked for it."""
    for table in explanation.constraints:
        if table.domains or table.arithmetic.origin != "system":
            yield _constraint(table, explanation, layout)


def _constraint(table: ConstraintTable, explanation: Explanation, layout: Layout) -> Iterator[str]:
    arithmetic = table.arithmetic
    yield from _heading(arithmetic, layout)
    if not table.domains:
        yield from hanging(_ROW, no_domain(arithmetic), layout.width, len(_ROW) + 2)
        return
    rows = sorted(table.domains, key=lambda row: natural(row.name))
    pending = explanation.state == "pending"
    if layout.few(len(rows)):
        yield from _rows(rows, arithmetic, layout, pending=pending)
    else:
        yield from _summed_up(rows, arithmetic, layout, pending=pending)
    for remark in _remarks(table, layout, pending=pending):
        yield from hanging(_ROW, remark, layout.width, len(_ROW) + 2)


def _heading(arithmetic: ConstraintArithmetic, layout: Layout) -> Iterator[str]:
    counts = f"counts {requirements(arithmetic.selector)}" if arithmetic.selector else "counts nothing"
    if len(counts) <= layout.width - len(_ROW):
        counts = together(counts)
    key = layout.style(arithmetic.topology_key, "bold")
    yield from hanging(f"{key}  ", "  ".join((*constraint_terms(arithmetic), counts)), layout.width, 4)


def _rows(
    rows: Sequence[DomainRow], arithmetic: ConstraintArithmetic, layout: Layout, *, pending: bool
) -> Iterator[str]:
    """A row a domain: nodes that take part, pods, pods with this one, the skew that makes, and a bar of the pods."""
    columns = [[row.name, *map(str, (row.nodes, row.matching, row.after, row.skew))] for row in rows]
    widths = [max([len(head), *(len(row[i]) for row in columns)]) for i, head in enumerate(_HEADS)]
    widths[0] = min(widths[0], max(layout.width - len(_cells(["", *_HEADS[1:]], [0, *widths[1:]])), len(_HEADS[0])))
    yield _cells(_HEADS, widths).rstrip()
    most = max(row.after for row in rows)
    for row, cells in zip(rows, columns, strict=True):
        if len(row.name) > widths[0]:  # the numbers stand below it
            yield _ROW + row.name
            cells[0] = ""
        begin = _cells(cells, widths)
        bar = max(min(most, _BAR, layout.width - len(begin) - 2), 0)
        line = f"{begin}  {bar_of(row.matching, most, bar) if bar else '':<{bar}}  "
        text = _said(row, arithmetic, pending=pending)
        column = len(line) if layout.width - len(line) >= 20 else len(_ROW) + 2
        yield from hanging(line, text, layout.width, column) if text else [line.rstrip()]


def _cells(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    return f"{_ROW}{first:<{widths[0]}}" + "".join(
        f"  {cell:>{width}}" for cell, width in zip(rest, widths[1:], strict=True)
    )


def _said(row: DomainRow, arithmetic: ConstraintArithmetic, *, pending: bool) -> str:
    """Whether the constraint lets the pod in, and why its nodes do not take it all the same."""
    parts = []
    if arithmetic.hard:
        relation = "≤" if row.allowed else ">"
        parts.append(together(f"{relation} {arithmetic.max_skew} {'allowed' if row.allowed else 'refused'}"))
    trouble = its_nodes(row.rejected, row.nodes)
    if trouble and (row.allowed or not row.open):
        parts.append(trouble)
    if pending and row.allowed and row.open:
        parts.append("another constraint refuses it")
    return "; ".join(parts)


def _summed_up(
    rows: Sequence[DomainRow], arithmetic: ConstraintArithmetic, layout: Layout, *, pending: bool
) -> Iterator[str]:
    """How many of many domains are alike, the commonest first, with some of their names."""
    names: dict[tuple[int, int, str], list[str]] = {}
    for row in rows:
        key = (row.matching, row.skew, _said(row, arithmetic, pending=pending))
        names.setdefault(key, []).append(row.name)
    order = Counter({key: len(found) for key, found in names.items()}).most_common()
    total = sum(row.matching for row in rows)
    yield f"{_ROW}{counted(len(rows), 'domain')} with {counted(total, 'pod')}; -o wide lists them"
    number = max(len(counted(count, "domain")) for _, count in order)
    for (matching, skew, said), count in order[:_SHOWN_SUMS]:
        line = f"{_ROW}{counted(count, 'domain'):>{number}}  {bar_of(count, order[0][1], _BAR):<{_BAR}}  "
        text = f"{matching} {'pod' if matching == 1 else 'pods'} each, skew {skew}"
        text += (f" {said}" if said else "") + f" ({listed(names[matching, skew, said], 2)})"
        yield from hanging(line, text, layout.width, len(_ROW) + 2)
    left = sum(count for _, count in order[_SHOWN_SUMS:])
    if left:
        yield f"{_ROW}{counted(left, 'domain')} with other sums; -o wide lists them"


def _remarks(table: ConstraintTable, layout: Layout, *, pending: bool) -> Iterator[str]:
    arithmetic = table.arithmetic
    yield from whose(table.counted, layout)
    if arithmetic.hard:
        yield f"{_formula(arithmetic)}; {_minimum(table, layout, pending=pending)}"
    if not arithmetic.counts_itself:
        yield "the pod does not match the constraint's own labelSelector: it adds 0"
    for left in arithmetic.left_out:
        yield f"not counted: {layout.names(in_order(left.nodes))} ({left.reason})"


def _formula(arithmetic: ConstraintArithmetic) -> str:
    return f"skew = pods + {arithmetic.counts_itself} (self) − {arithmetic.minimum} (minimum)"


def _minimum(table: ConstraintTable, layout: Layout, *, pending: bool) -> str:
    """Who holds the minimum, and that it takes no pod; why is in its row, where every domain has one."""
    arithmetic = table.arithmetic
    if arithmetic.lacks_domains:
        few = f"{counted(len(arithmetic.domains), 'domain')} < minDomains {arithmetic.min_domains}"
        return f"{few}, so the minimum counts as 0"
    holders = [row for row in table.domains if row.holds_minimum]
    if len(holders) == len(table.domains) > 1:
        who = f"{'both' if len(holders) == 2 else f'all {len(holders)}'} domains hold the minimum"
    else:
        names = layout.names(in_order(row.name for row in holders), 2)
        who = f"{names} {'holds' if len(holders) == 1 else 'hold'} the minimum"
    if not pending or any(row.open for row in holders):
        return who
    whose = "its" if len(holders) == 1 else "their"
    if layout.few(len(table.domains)):
        return f"{who}, but none of {whose} nodes takes the pod"
    rejected = _summed(row.rejected for row in holders)
    trouble = its_nodes(rejected, sum(row.nodes for row in holders), whose=whose)
    return f"{who}, but {trouble}" if trouble else who


def _summed(reasons: Iterable[object]) -> Counter[str]:
    result: Counter[str] = Counter()
    for each in reasons:
        result.update(each)  # type: ignore[call-overload]
    return result
