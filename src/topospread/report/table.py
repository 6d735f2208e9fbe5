"""A simulation as a table for people: every workload's domains before and after, then what stays pending and why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from topospread.api.kinds import NOT_MODELLED
from topospread.base import Bounds

from .layout import Layout
from .namespace import in_namespace
from .paragraphs import counted, hanging
from .pending import pending_lines
from .pools import pool_lines
from .unjudged import unknown_lines
from .workloads import trouble_lines, workload_blocks

if TYPE_CHECKING:
    from topospread.simulation import Simulation

__all__ = ["Layout", "summary", "table"]


def table(simulation: Simulation, layout: Layout, namespace: str | None = None) -> str:
    """The whole report; ``namespace`` restricts what is shown, not what was simulated.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = simulation if namespace is None else in_namespace(simulation, namespace)
    opened = "\n".join(unknown_lines(shown, layout))
    blocks = [*([opened] if opened else []), *workload_blocks(shown, layout)]
    if shown.pending:
        blocks.append("\n".join(pending_lines(shown.pending, layout)))
    sections = (
        pool_lines(shown.pools, layout),
        _evictions(shown, layout),
        _removed(shown, layout),
        _remarks(shown, layout),
    )
    blocks += [text for lines in sections if (text := "\n".join(lines))]
    blocks.append(_summary(shown, simulation, layout))
    return "\n\n".join(blocks) + "\n"


def summary(simulation: Simulation, layout: Layout, namespace: str | None = None) -> str:
    """What a person has to know: who is pending, skewed or at risk, a line each, the warnings, and the numbers.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = simulation if namespace is None else in_namespace(simulation, namespace)
    lines = [*unknown_lines(shown, layout), *trouble_lines(shown.workloads, layout)]
    lines += layout.remarks(shown.warnings)
    return "\n".join([*lines, _summary(shown, simulation, layout)]) + "\n"


def _evictions(simulation: Simulation, layout: Layout) -> Iterator[str]:
    evictions = simulation.evictions
    if not evictions:
        return
    legend = "(each makes room for the pod that is nominated for its node)"
    yield from hanging(layout.style("Evicted", "bold") + "  ", legend, layout.width, 2)
    shown = evictions if layout.few(len(evictions)) else evictions[: layout.most]
    for each in shown:
        anew = f"created anew as {each.created_anew}" if each.created_anew else "nothing creates it anew"
        text = f"{each.namespace}/{each.name} from {each.node} for {each.preemptor}, {anew}"
        yield from hanging("  ", text, layout.width, 4)
    yield from _more(len(evictions) - len(shown))


def _removed(simulation: Simulation, layout: Layout) -> Iterator[str]:
    removed = list(simulation.removed.items())
    if not removed:
        return
    yield layout.style("Removed by scaling down", "bold")
    shown = removed if layout.few(len(removed)) else removed[: layout.most]
    for pod, node in shown:
        yield f"  {pod} from {node}" if node else f"  {pod}, which had no node"
    yield from _more(len(removed) - len(shown))


def _more(number: int) -> Iterator[str]:
    if number:
        yield f"  and {number} more; -o wide lists them"


def _remarks(simulation: Simulation, layout: Layout) -> Iterator[str]:
    """What a person should know besides, warnings first."""
    notes = list(simulation.notes)
    notes += [
        f"{counted(count, 'pod')} left alone for the scheduler {scheduler}"
        for scheduler, count in sorted(simulation.foreign.items())
    ]
    if simulation.skipped:
        kinds = sorted(simulation.skipped.items())
        playing = [f"{count} {kind}" for kind, count in kinds if kind.partition(".")[0] in NOT_MODELLED]
        others = [f"{count} {kind}" for kind, count in kinds if kind.partition(".")[0] not in NOT_MODELLED]
        if playing:
            notes.append(f"kinds that topospread does not model: {', '.join(playing)}")
        if others:
            notes.append(f"kinds that play no part were skipped: {', '.join(others)}")
    yield from layout.remarks(simulation.warnings, notes)


def _summary(shown: Simulation, simulation: Simulation, layout: Layout) -> str:
    """``8 pods placed on 9 nodes, 2 pending``."""
    nodes = counted(simulation.nodes, "node")
    placed, pending = _numbers(shown)
    if not shown.placements:
        text = f"no pod was to be placed on {nodes}"
    else:
        opened = {f"{each.namespace}/{each.name}" for each in shown.placements}.intersection(shown.open_pods)
        with_node = {f"{each.namespace}/{each.name}" for each in shown.placements if each.node is not None}
        total = placed + pending
        found = Bounds(least=len(with_node - opened), most=len(with_node | opened))
        left = Bounds(least=total - found.most, most=total - found.least)
        waiting = layout.style(f"{left} pending", "bold", "red") if left.most else "nothing pending"
        pods = counted(placed, "pod") if found.known else f"{found} pods"
        text = f"{pods} placed on {nodes}, {waiting}"
    elsewhere = _numbers(simulation)[1] - pending
    return text + (f" (in other namespaces {elsewhere} pending)" if elsewhere else "")


def _numbers(simulation: Simulation) -> tuple[int, int]:
    """How many pods were placed and how many stay pending."""
    placed = sum(each.node is not None for each in simulation.placements)
    return placed, len(simulation.placements) - placed
