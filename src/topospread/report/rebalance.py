"""A rebalancing as a text for people: what is mended, the evictions in their order, and what they cannot mend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging, natural, together

if TYPE_CHECKING:
    from topospread.rebalancing import ConstraintChange, PodMove, Rebalance, UnmetConstraint
    from topospread.rebalancing.result import Applied

_HOSTNAME = "kubernetes.io/hostname"
_BY = {
    "counts": "by the counts of each constraint",
    "solver": "by an integer program",
    "search": "all shorter plans were tried",
}


def rebalance_text(found: Rebalance, layout: Layout) -> str:
    """The whole report."""
    blocks = [lines for each in _shown(found, layout) if (lines := "\n".join(_constraint(each, layout)))]
    blocks += ["\n".join(_evictions(found, layout)), "\n".join(_unmet(found, layout))]
    blocks += ["\n".join(_remarks(found, layout)), _summary(found, layout)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def rebalance_summary(found: Rebalance, layout: Layout) -> str:
    """What is not mended, and the numbers."""
    return "\n".join([*_unmet(found, layout), *layout.remarks(found.warnings), _summary(found, layout)]) + "\n"


def applied_text(applied: Applied, found: Rebalance, layout: Layout) -> str:
    """What was evicted in a cluster: ``1 of 3 evictions carried out; partial: ended in eviction 2 of 3``."""
    text = f"{len(applied.done)} of {counted(len(found.moves), 'eviction')} carried out"
    text += "; stopped at a surprise" if applied.surprise else ""
    text += f"; partial: {applied.partial}" if applied.partial else ""
    lines = hanging("", layout.style(text, "bold"), layout.width, 2)
    if applied.begun:
        text = f"the eviction of {applied.begun} was asked for, and its end was not awaited"
        lines += hanging("note: ", text, layout.width, 2)
    return "\n".join(lines) + "\n"


def _shown(found: Rebalance, layout: Layout) -> list[ConstraintChange]:
    every = sorted(found.constraints, key=lambda each: (each.is_met, -each.skew_before, each.namespace, each.name))
    return every if layout.few(len(every)) else every[: layout.most]


def _constraint(each: ConstraintChange, layout: Layout) -> Iterator[str]:
    """Its workload, the terms, and the pods of each domain before → after."""
    hardness = "hard" if each.when_unsatisfiable == "DoNotSchedule" else "soft"
    aim = f"maxSkew {each.max_skew}" + (f", to {each.highest}" if each.highest != each.max_skew else "")
    skew = f"skew {each.skew_before} → {each.skew_after}"
    name = layout.style(f"{each.namespace}/{each.name}", "bold")
    yield from hanging(f"{name}  ", each.kind, layout.width, 2)
    parts = [hardness, aim, skew if each.is_met else layout.style(skew, "bold", "red")]
    yield from hanging(f"  {each.topology_key}  ", "  ".join(map(together, parts)), layout.width, 4)
    rows = [(domain, before, each.after.get(domain, 0)) for domain, before in each.before.items()]
    rows.sort(key=lambda row: natural(row[0]))
    shown = rows if layout.few(len(rows)) else [row for row in rows if row[1] != row[2]][: layout.most]
    if shown:
        width, digits = max(len(row[0]) for row in shown), len(str(max(max(row[1:]) for row in shown)))
        for domain, before, after in shown:
            yield f"    {domain:<{width}}  {before:>{digits}} → {after:>{digits}}".rstrip()
    if len(shown) < len(rows):
        yield f"    and {len(rows) - len(shown)} more domains; -o wide lists them"


def _evictions(found: Rebalance, layout: Layout) -> Iterator[str]:
    if not found.moves:
        return
    legend = "(in this order, each when the one before it has its new pod on a node)"
    yield from hanging(layout.style("Evictions", "bold") + "  ", legend, layout.width, 2)
    shown = found.moves if layout.few(len(found.moves)) else found.moves[: layout.most]
    digits = len(str(len(found.moves)))
    for number, each in enumerate(shown, 1):
        yield from hanging(f"  {number:>{digits}}  ", move_in_words(each), layout.width, digits + 4)
    if len(shown) < len(found.moves):
        yield f"  and {len(found.moves) - len(shown)} more; -o wide lists them"
    if not found.partial:
        yield from hanging("  ", "-o commands writes them for kubectl, --apply carries them out", layout.width, 4)


def move_in_words(move: PodMove) -> str:
    """``shop/web-0 on node-a1; a new pod goes to node-c1 (eu-1a → eu-1c)``."""
    pairs = [pair for key, pair in move.domains.items() if key != _HOSTNAME]  # the nodes are named already
    where = ", ".join(f"{old} → {new}" for old, new in dict.fromkeys(pairs) if old != new)
    text = f"{move.namespace}/{move.name} on {move.node}; a new pod goes to {move.target}"
    return f"{text} ({where})" if where else text


def _unmet(found: Rebalance, layout: Layout) -> Iterator[str]:
    if not found.unmet:
        return
    yield layout.style("Not mended", "bold", "red")
    shown = found.unmet if layout.few(len(found.unmet)) else found.unmet[: layout.most]
    for each in shown:
        yield from _why(each, layout)
    if len(shown) < len(found.unmet):
        yield f"  and {len(found.unmet) - len(shown)} more; -o wide lists them"


def _why(each: UnmetConstraint, layout: Layout) -> Iterator[str]:
    text = f"{each.topology_key}, skew {each.skew}: {each.why}"
    yield from hanging(f"  {each.workload}  ", text, layout.width, 4)
    if each.returns:
        text = "whoever evicts all the same, as a descheduler does, evicts for ever"
        yield from hanging("    ", text, layout.width, 6)
    for help_ in each.helps:
        yield from hanging("    tried: " if help_.tried else "    ", help_.says, layout.width, 6)


def _remarks(found: Rebalance, layout: Layout) -> Iterator[str]:
    notes = list(found.notes)
    if found.soft:
        text = "1 soft constraint is" if found.soft == 1 else f"{found.soft} soft constraints are"
        notes.append(f"{text} beyond maxSkew and left so: --max-skew N brings soft ones to N")
    if found.pending:
        notes.append(f"{counted(found.pending, 'pod')} had no node before, which evictions do not mend")
    yield from layout.remarks(found.warnings, notes)


def _summary(found: Rebalance, layout: Layout) -> str:
    """``3 evictions mend 2 constraints; fewer do not (by an integer program)``."""
    mended = sum(each.is_met for each in found.constraints)
    if not found.constraints:
        text = f"nothing to do on {counted(found.nodes, 'node')}: every constraint that was looked at holds"
        return "\n".join(hanging("", text, layout.width, 2))
    number = counted(len(found.moves), "eviction")
    text = f"{number} {'mends' if len(found.moves) == 1 else 'mend'} {counted(mended, 'constraint')}"
    if not found.moves:
        text = "no evictions were found yet" if found.partial else "no evictions help"
    left = len(found.constraints) - mended
    text += f", {left} not {'yet ' if found.partial else ''}mended" if left else ""
    if found.moves and not mended:
        bring = "brings" if len(found.moves) == 1 else "bring"
        text = f"{number} {bring} {counted(left, 'constraint')} nearer, none is mended"
    if found.impossible:
        text += "; that all hold is impossible with the pods that may be evicted (by an integer program)"
    elif found.is_proved:
        text += f"; fewer do not ({_BY[found.bound_by]})"
    elif found.bound is not None:
        all_of_them = "" if found.is_met else " to mend all"
        is_needed = "is needed" if found.bound == 1 else "are needed"
        text += f"; at least {found.bound} {is_needed}{all_of_them} ({_BY[found.bound_by]})"
    text += f"; partial: {found.partial}" if found.partial else ""
    return "\n".join(hanging("", layout.style(text, "bold"), layout.width, 2))
