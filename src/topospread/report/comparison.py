"""Two simulations side by side as text and as plain data: only what differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from topospread.simulation import WorkloadSpread
from topospread.simulation.comparison import Comparison, PlacementChange, SpreadChange

from .json import API_VERSION, simulation_json
from .table import Layout

_SHOWN = 6
_SHOWN_DOMAINS = 8


def comparison_text(comparison: Comparison, layout: Layout) -> str:
    """What differs, for people; one line when nothing does."""
    first, second = comparison.names
    lines = [f"{first} → {second}", ""]
    if comparison.same:
        return "\n".join([*lines, "nothing differs: the same nodes, scores and skews"]) + "\n"
    for change in comparison.spreads:
        lines += _spread(change)
    if comparison.spreads:
        lines.append("")
    lines += _placements(comparison, layout)
    lines += ["", _summary(comparison, layout)]
    return "\n".join(lines) + "\n"


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """What differs, and both simulations whole."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Comparison",
        "names": list(comparison.names),
        "placements": [
            {
                "namespace": each.before.namespace,
                "name": each.before.name,
                "workload": each.before.workload,
                "node": [each.before.node, each.after.node],
                "score": [each.before.score, each.after.score],
                "message": [each.before.message, each.after.message],
            }
            for each in comparison.placements
        ],
        "spread": [
            {
                "kind": each.workload.kind,
                "namespace": each.workload.namespace,
                "name": each.workload.name,
                "topologyKey": (each.before or each.after).topology_key,  # type: ignore[union-attr]
                "skew": [side.skew if side else None for side in (each.before, each.after)],
                "domains": [_counts(side) for side in (each.before, each.after)],
            }
            for each in comparison.spreads
        ],
        "newlyPending": [f"{each.before.namespace}/{each.before.name}" for each in comparison.newly_pending],
        "newlyPlaced": [f"{each.before.namespace}/{each.before.name}" for each in comparison.newly_placed],
        "simulations": [simulation_json(comparison.before), simulation_json(comparison.after)],
    }


def _counts(spread: WorkloadSpread | None) -> dict[str, int] | None:
    return {domain.name: domain.after for domain in spread.domains} if spread else None


def _spread(change: SpreadChange) -> Iterator[str]:
    workload = change.workload
    some = change.before or change.after
    assert some is not None
    yield f"{workload.namespace}/{workload.name}  {workload.kind}  {some.topology_key}  {_skews(change)}"
    before, after = _counts(change.before) or {}, _counts(change.after) or {}
    names = [name for name in sorted({**before, **after}) if before.get(name) != after.get(name)]
    width = max((len(name) for name in names[:_SHOWN_DOMAINS]), default=0)
    for name in names[:_SHOWN_DOMAINS]:
        yield f"    {name:<{width}}  {before.get(name, '-')} → {after.get(name, '-')}"
    if len(names) > _SHOWN_DOMAINS:
        yield f"    … {len(names) - _SHOWN_DOMAINS} more domains"


def _skews(change: SpreadChange) -> str:
    words = [
        f"skew {side.skew} (maxSkew {side.max_skew}, {'hard' if side.hard else 'soft'})" if side else "no constraint"
        for side in (change.before, change.after)
    ]
    return words[0] if words[0] == words[1] else " → ".join(words)


def _placements(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """Pods that go elsewhere, by workload."""
    by_workload: dict[tuple[str, str], list[PlacementChange]] = {}
    for change in comparison.moved:
        by_workload.setdefault((change.before.namespace, change.before.workload), []).append(change)
    totals = Counter((each.namespace, each.workload) for each in comparison.before.placements)
    for key, changes in by_workload.items():
        yield f"{key[0]}/{key[1].partition('/')[2]}  {len(changes)} of {totals[key]} pods go elsewhere"
        shown = changes if layout.wide else changes[:_SHOWN]
        for change in shown:
            before, after = change.before.node or "pending", change.after.node or "pending"
            line = f"    {change.before.name}  {before} → {after}"
            yield layout.style(line, "red") if change.after.node is None else line
        if len(shown) < len(changes):
            yield f"    … {len(changes) - len(shown)} more; -o wide lists them"


def _summary(comparison: Comparison, layout: Layout) -> str:
    pods = len(comparison.before.placements)
    scored = len(comparison.placements) - len(comparison.moved)
    parts = [f"{len(comparison.moved)} of {pods} pods go elsewhere"]
    if scored:
        parts.append(f"{scored} stay with another score")
    if comparison.newly_placed:
        parts.append(f"{len(comparison.newly_placed)} that were pending are placed")
    pending = len(comparison.newly_pending)
    parts.append(
        layout.style(f"{pending} that were placed are pending", "bold", "red") if pending else "none is newly pending"
    )
    return ", ".join(parts)
