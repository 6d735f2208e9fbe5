"""The domains of an explained pod and their pods as an SVG picture; what all pictures are made of is `drawing`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from topospread.answers.reasons import its_nodes

from .drawing import BAR_HEIGHT, CHARACTER, DOWN, LINE, MARGIN, bar, cut, drawn, line, text
from .paragraphs import counted, listed, natural
from .sums import minimum_words

if TYPE_CHECKING:
    from topospread.explanation import ConstraintTable, DomainRow, Explanation
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic

_WIDTH = 760
_SHOWN = 40
_HERE, _CLOSED = "▸", "×"
"""Signs before the pod's own domain, and before one that no node of takes it, whatever the constraint says."""
_LONGEST_NAME = 28
_BESIDE = 190
"""Room right of the bars for what is said of a domain."""


def explanation_svg(explanation: Explanation) -> str:
    """A picture of every constraint's domains: the pods there, this pod on top, the minimum and what maxSkew allows."""
    body: list[str] = []
    name = f"{explanation.namespace}/{explanation.name}"
    state = f"on {explanation.node}" if explanation.node else explanation.state
    body.append(text(MARGIN, 32, f"{name}: {state}", "title"))
    y = 64.0
    left = _left_of(explanation.constraints)
    if any(table.domains for table in explanation.constraints):
        body += _legend(explanation, y - 8)
        y += 2.75 * LINE
    for table in explanation.constraints:
        lines, y = _constraint(table, y, left)
        body += lines
    if not explanation.constraints:
        body.append(text(MARGIN, y, "no topology spread constraint is in force", "soft"))
        y += LINE
    height = int(y) + 4
    return drawn(f"Topology spread of {name}", (_WIDTH, height), body)


def _legend(explanation: Explanation, y: float) -> Iterator[str]:
    """What bars, lines and signs mean; only of what is drawn."""
    hard = any(table.arithmetic.hard and table.domains for table in explanation.constraints)
    x = float(MARGIN)
    for kind, words in (("bar", "pods that count"), ("new", "this pod, if it were there")):
        yield bar(x, y, 22, kind)
        yield text(x + 30, y + DOWN, words, "soft")
        x += 30 + len(words) * CHARACTER + 24
    if hard:
        for kind, words in (("minimum", "minimum"), ("limit", "most that maxSkew allows")):
            yield line(x + 4, (y - 2, y + BAR_HEIGHT + 2), kind)
            yield text(x + 14, y + DOWN, words, "soft")
            x += 14 + len(words) * CHARACTER + 24
    signs = [f"{_HERE} where it is"] if any(table.own for table in explanation.constraints) else []
    signs += [f"{_CLOSED} no node of it takes the pod"] if any(map(_is_closed, _rows_of(explanation))) else []
    if signs:
        yield text(MARGIN, y + LINE + DOWN, "    ".join(signs), "soft")


def _rows_of(explanation: Explanation) -> Iterator[DomainRow]:
    for table in explanation.constraints:
        yield from table.domains


def _is_closed(row: DomainRow) -> bool:
    """Whether other plugins reject every node of the domain."""
    return bool(row.rejected) and not row.open


def _left_of(tables: Sequence[ConstraintTable]) -> float:
    """Where the bars of all panels begin."""
    longest = max((len(row.name) for table in tables for row in _shown(table)), default=0)
    return MARGIN + min(longest, _LONGEST_NAME) * CHARACTER + 12


def _shown(table: ConstraintTable) -> Sequence[DomainRow]:
    rows = sorted(table.domains, key=lambda row: natural(row.name))
    return rows if len(rows) <= _SHOWN else _worth_showing(rows)


def _constraint(table: ConstraintTable, y: float, left: float) -> tuple[list[str], float]:
    """The lines of one constraint's chart, and where the next begins."""
    arithmetic = table.arithmetic
    lines = [text(MARGIN, y, _heading(arithmetic), "title")]
    shown = _shown(table)
    most = max((row.after for row in shown), default=0)
    limit = arithmetic.minimum + arithmetic.max_skew if arithmetic.hard else 0
    most = max(most, min(limit, most + 1), 1)
    unit = (_WIDTH - left - _BESIDE - MARGIN) / most
    top = y = y + 12
    for row in shown:
        lines += _row(row, (left, y), unit, here=row.name == table.own)
        lines.append(text(_WIDTH - MARGIN - _BESIDE + 8, y + DOWN, _said(row, arithmetic), "soft"))
        y += LINE
    lines += _marks(arithmetic, (left, unit, most), (top, y))
    y += 18
    for remark in (*_remarks(arithmetic, len(table.domains) - len(shown)), *_rejections(shown)):
        lines.append(text(MARGIN, y, cut(remark, int((_WIDTH - 2 * MARGIN) / CHARACTER)), "soft"))
        y += 18
    return lines, y + 22


def _rejections(rows: Sequence[DomainRow]) -> Iterator[str]:
    """Why other plugins reject nodes, domains together of which the same is to be said."""
    said: dict[str, list[str]] = {}
    for row in rows:
        if row.rejected:
            said.setdefault(its_nodes(row.rejected, row.nodes), []).append(row.name)
    for words, names in said.items():
        yield f"{_CLOSED if _all_closed(rows, names) else ' '} {listed(names, 3)}: {words}"


def _all_closed(rows: Sequence[DomainRow], names: Sequence[str]) -> bool:
    return all(_is_closed(row) for row in rows if row.name in names)


def _heading(arithmetic: ConstraintArithmetic) -> str:
    kind = "hard" if arithmetic.hard else "soft"
    minimum = f", minDomains {arithmetic.min_domains}" if arithmetic.min_domains > 1 else ""
    return f"{arithmetic.topology_key} ({kind}, maxSkew {arithmetic.max_skew}{minimum})"


def _worth_showing(rows: Sequence[DomainRow]) -> list[DomainRow]:
    """Of many domains those that hold most and least."""
    by_count = sorted(rows, key=lambda row: (-row.matching, natural(row.name)))
    half = _SHOWN // 2
    return by_count[:half] + by_count[-half:]


def _row(row: DomainRow, at: tuple[float, float], unit: float, *, here: bool) -> Iterator[str]:
    """A domain: its name, a bar of its pods, and this pod dashed on top of it; a sign before what is special."""
    left, top = at
    sign = _HERE if here else _CLOSED if _is_closed(row) else ""
    if sign:
        yield text(MARGIN - 13, top + DOWN, sign)
    yield text(MARGIN, top + DOWN, cut(row.name, _LONGEST_NAME))
    if row.matching:
        yield bar(left, top, row.matching * unit, "bar")
    new = (row.after - row.matching) * unit
    if new:
        yield bar(left + row.matching * unit, top, new, "new")


def _said(row: DomainRow, arithmetic: ConstraintArithmetic) -> str:
    """The numbers, in a column beside the bars where no line crosses them."""
    said = f"{row.matching} → {row.after}"
    if arithmetic.hard:
        said += f", skew {row.skew} {'allowed' if row.allowed else 'refused'}"
    return said


def _marks(
    arithmetic: ConstraintArithmetic, scale: tuple[float, float, int], span: tuple[float, float]
) -> Iterator[str]:
    """Lines at the minimum in force, and at the most that maxSkew allows."""
    if not arithmetic.hard or not arithmetic.domains:
        return
    left, unit, most = scale
    for value, kind in ((arithmetic.minimum, "minimum"), (arithmetic.minimum + arithmetic.max_skew, "limit")):
        if value <= most:
            yield line(left + value * unit, (span[0] - 4, span[1] - 4), kind)


def _remarks(arithmetic: ConstraintArithmetic, hidden: int) -> Iterator[str]:
    if hidden > 0:
        yield f"the {_SHOWN} domains that hold most and least; {counted(hidden, 'domain')} between them are not drawn"
    if not arithmetic.domains:
        yield "no node takes part"
    elif arithmetic.hard:
        most = arithmetic.minimum + arithmetic.max_skew
        least = counted(arithmetic.minimum, "pod")
        yield f"dashed line: {least} ({minimum_words(arithmetic)}); solid line: at most {counted(most, 'pod')}"
