"""The domains of an explained pod and their pods as an SVG picture, legible on light and on dark; text and bars only.

Colours follow the viewer's preference (``prefers-color-scheme``); viewers that know no preference show the light ones,
so there are no variables in the style, which some of them do not know either. Nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from .paragraphs import counted, listed, natural
from .reasons import its_nodes
from .sums import minimum_words

if TYPE_CHECKING:
    from topospread.explanation import ConstraintTable, DomainRow, Explanation
    from topospread.plugins.spread_arithmetic import ConstraintArithmetic

_WIDTH = 760
_MARGIN = 20
_LINE = 24
_BAR_HEIGHT = 16
_DOWN = _BAR_HEIGHT - 3
"""From the top of a bar to the base of the text beside it."""
_CHARACTER = 7.8
_SHOWN = 40
_HERE, _CLOSED = "▸", "×"
"""Signs before the pod's own domain, and before one that no node of takes it, whatever the constraint says."""
_LONGEST_NAME = 28
_BESIDE = 190
"""Room right of the bars for what is said of a domain."""

_STYLE = """\
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
    .title { font-weight: bold; }
    .new { stroke-dasharray: 3 2; }
    .limit { stroke-width: 2; }
    .minimum { stroke-width: 2; stroke-dasharray: 4 3; }
    .back { fill: #ffffff; }
    text { fill: #1f2328; }
    text.soft { fill: #59636e; }
    .bar { fill: #0969da; }
    .new { fill: #54aeff; stroke: #0969da; }
    .limit { stroke: #cf222e; }
    .minimum { stroke: #59636e; }
    @media (prefers-color-scheme: dark) {
      .back { fill: #0d1117; }
      text { fill: #f0f6fc; }
      text.soft { fill: #9198a1; }
      .bar { fill: #4493f8; }
      .new { fill: #1f4a80; stroke: #4493f8; }
      .limit { stroke: #ff7b72; }
      .minimum { stroke: #9198a1; }
    }
  </style>"""


def explanation_svg(explanation: Explanation) -> str:
    """A picture of every constraint's domains: the pods there, this pod on top, the minimum and what maxSkew allows."""
    body: list[str] = []
    name = f"{explanation.namespace}/{explanation.name}"
    state = f"on {explanation.node}" if explanation.node else explanation.state
    body.append(_text(_MARGIN, 32, f"{name}: {state}", "title"))
    y = 64.0
    left = _left_of(explanation.constraints)
    if any(table.domains for table in explanation.constraints):
        body += _legend(explanation, y - 8)
        y += 2.75 * _LINE
    for table in explanation.constraints:
        lines, y = _constraint(table, y, left)
        body += lines
    if not explanation.constraints:
        body.append(_text(_MARGIN, y, "no topology spread constraint is in force", "soft"))
        y += _LINE
    height = int(y) + 4
    title = f"Topology spread of {name}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        f'viewBox="0 0 {_WIDTH} {height}" role="img" aria-label={quoteattr(title)}>'
    )
    back = f'  <rect class="back" width="{_WIDTH}" height="{height}"/>'
    return "\n".join([head, f"  <title>{escape(title)}</title>", _STYLE, back, *body, "</svg>"]) + "\n"


def _legend(explanation: Explanation, y: float) -> Iterator[str]:
    """What bars, lines and signs mean; only of what is drawn."""
    hard = any(table.arithmetic.hard and table.domains for table in explanation.constraints)
    x = float(_MARGIN)
    for kind, words in (("bar", "pods that count"), ("new", "this pod, if it were there")):
        yield _rect(x, y, 22, kind)
        yield _text(x + 30, y + _DOWN, words, "soft")
        x += 30 + len(words) * _CHARACTER + 24
    if hard:
        for kind, words in (("minimum", "minimum"), ("limit", "most that maxSkew allows")):
            yield _line(x + 4, (y - 2, y + _BAR_HEIGHT + 2), kind)
            yield _text(x + 14, y + _DOWN, words, "soft")
            x += 14 + len(words) * _CHARACTER + 24
    signs = [f"{_HERE} where it is"] if any(table.own for table in explanation.constraints) else []
    signs += [f"{_CLOSED} no node of it takes the pod"] if any(map(_is_closed, _rows_of(explanation))) else []
    if signs:
        yield _text(_MARGIN, y + _LINE + _DOWN, "    ".join(signs), "soft")


def _rows_of(explanation: Explanation) -> Iterator[DomainRow]:
    for table in explanation.constraints:
        yield from table.domains


def _is_closed(row: DomainRow) -> bool:
    """Whether other plugins reject every node of the domain."""
    return bool(row.rejected) and not row.open


def _left_of(tables: Sequence[ConstraintTable]) -> float:
    """Where the bars of all panels begin."""
    longest = max((len(row.name) for table in tables for row in _shown(table)), default=0)
    return _MARGIN + min(longest, _LONGEST_NAME) * _CHARACTER + 12


def _shown(table: ConstraintTable) -> Sequence[DomainRow]:
    rows = sorted(table.domains, key=lambda row: natural(row.name))
    return rows if len(rows) <= _SHOWN else _worth_showing(rows)


def _constraint(table: ConstraintTable, y: float, left: float) -> tuple[list[str], float]:
    """The lines of one constraint's chart, and where the next begins."""
    arithmetic = table.arithmetic
    lines = [_text(_MARGIN, y, _heading(arithmetic), "title")]
    shown = _shown(table)
    most = max((row.after for row in shown), default=0)
    limit = arithmetic.minimum + arithmetic.max_skew if arithmetic.hard else 0
    most = max(most, min(limit, most + 1), 1)
    unit = (_WIDTH - left - _BESIDE - _MARGIN) / most
    top = y = y + 12
    for row in shown:
        lines += _row(row, (left, y), unit, here=row.name == table.own)
        lines.append(_text(_WIDTH - _MARGIN - _BESIDE + 8, y + _DOWN, _said(row, arithmetic), "soft"))
        y += _LINE
    lines += _marks(arithmetic, (left, unit, most), (top, y))
    y += 18
    for remark in (*_remarks(arithmetic, len(table.domains) - len(shown)), *_rejections(shown)):
        lines.append(_text(_MARGIN, y, _cut(remark), "soft"))
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


def _cut(text: str) -> str:
    """What fits into the picture."""
    most = int((_WIDTH - 2 * _MARGIN) / _CHARACTER)
    return text if len(text) <= most else f"{text[: most - 1]}…"


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
        yield _text(_MARGIN - 13, top + _DOWN, sign)
    yield _text(_MARGIN, top + _DOWN, _shortened(row.name))
    if row.matching:
        yield _rect(left, top, row.matching * unit, "bar")
    new = (row.after - row.matching) * unit
    if new:
        yield _rect(left + row.matching * unit, top, new, "new")


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
            yield _line(left + value * unit, (span[0] - 4, span[1] - 4), kind)


def _remarks(arithmetic: ConstraintArithmetic, hidden: int) -> Iterator[str]:
    if hidden > 0:
        yield f"the {_SHOWN} domains that hold most and least; {counted(hidden, 'domain')} between them are not drawn"
    if not arithmetic.domains:
        yield "no node takes part"
    elif arithmetic.hard:
        most = arithmetic.minimum + arithmetic.max_skew
        least = counted(arithmetic.minimum, "pod")
        yield f"dashed line: {least} ({minimum_words(arithmetic)}); solid line: at most {counted(most, 'pod')}"


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _rect(x: float, y: float, width: float, kind: str) -> str:
    return f'  <rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_BAR_HEIGHT}"/>'


def _line(x: float, span: tuple[float, float], kind: str) -> str:
    return f'  <line class="{kind}" x1="{x:.1f}" y1="{span[0]:.1f}" x2="{x:.1f}" y2="{span[1]:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    attribute = f' class="{kind}"' if kind else ""
    return f'  <text x="{x:.1f}" y="{y:.1f}"{attribute}>{escape(text)}</text>'
