"""The same drill for everything of a kind: a line each, worst first, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION
from topospread.drills.remarks import STATEFUL_SETS_WAIT

from .drill_events import clock
from .layout import Layout
from .paragraphs import counted, hanging, named_row

if TYPE_CHECKING:
    from topospread.drills.each import EachDrill, EachOutcome
    from topospread.drills.shards import ShardMark

_HEAD = ("pending", "lost", "settled")
_SHOWN = 20


def each_text(drill: EachDrill, layout: Layout) -> str:
    """The table; of many targets the worst."""
    shown = drill.outcomes if layout.wide else drill.outcomes[:_SHOWN]
    rows = [
        (each.target, str(each.pending), str(each.lost), clock(each.settled), _short(each, layout)) for each in shown
    ]
    name = min(max([len(drill.kind), *(len(row[0]) for row in rows)]), layout.width // 2)
    lines = [layout.style(f"{drill.kind:<{name}}{_figures(('', *_HEAD))}", "bold").rstrip()]
    for row in rows:
        *above, figures = named_row(row[0], name, _figures(row))
        lines += [*above, *hanging(f"{figures}  ", row[4], layout.width, name + 4)]
    lines += _rest(drill, len(shown))
    lines += layout.remarks(drill.warnings, [STATEFUL_SETS_WAIT] if any(each.not_replaced for each in shown) else [])
    failed = sum(not each.holds for each in drill.outcomes)
    total = f"{counted(len(drill.outcomes), 'drill')}, {failed} short"
    if drill.part is not None:
        total += f"; part {drill.part.shard} of {counted(drill.part.targets, 'drill')}"
    total += f"; partial: {drill.partial}" if drill.partial else ""
    return "\n".join([*(line.rstrip() for line in lines), "", layout.style(total, "bold")]) + "\n"


def _figures(row: tuple[str, ...]) -> str:
    """The numbers of a row, behind its target."""
    return f"  {row[1]:>7}  {row[2]:>4}  {row[3]:>7}"


def _short(each: EachOutcome, layout: Layout) -> str:
    """What falls short, in words."""
    parts = []
    if each.gone:
        parts.append(f"none left of {layout.names(list(each.gone))}")
    if each.broken:
        parts.append(f"broken {layout.names(list(each.broken))}")
    if each.stuck:
        parts.append("its rollout gets stuck")
    if each.not_replaced:
        parts.append(f"not replaced: {layout.names(list(each.not_replaced))}")
    return "; ".join(parts)


def _rest(drill: EachDrill, shown: int) -> Iterator[str]:
    left = drill.outcomes[shown:]
    if left:
        failed = sum(not each.holds for each in left)
        yield f"and {len(left)} more, {failed} of them short; -o wide shows all"


def each_json(drill: EachDrill) -> dict[str, Any]:
    """All of them, worst first, keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "DrillEach",
        "each": drill.kind,
        "holds": drill.holds,
        "outcomes": [_outcome(each) for each in drill.outcomes],
        "warnings": list(drill.warnings),
        "partial": drill.partial,
        "part": None if drill.part is None else part_json(drill.part),
    }


def part_json(part: ShardMark) -> dict[str, Any]:
    """Which part of a whole something is."""
    return {"index": part.shard.index, "of": part.shard.of, "targets": part.targets, "digest": part.digest}


def _outcome(each: EachOutcome) -> dict[str, Any]:
    return {
        "target": each.target,
        "step": each.step,
        "holds": each.holds,
        "pending": each.pending,
        "lost": each.lost,
        "gone": list(each.gone),
        "broken": list(each.broken),
        "stuck": each.stuck,
        "settled": each.settled,
        "notReplaced": list(each.not_replaced),
    }
