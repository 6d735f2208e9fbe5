"""The first lines of a report on pods that topospread cannot judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging

if TYPE_CHECKING:
    from topospread.answer import Unjudged
    from topospread.simulation import Simulation


def unknown_lines(shown: Simulation, layout: Layout) -> Iterator[str]:
    """Yield the verdict, what is not judged and which neighbours depend on it; nothing if every pod is judged."""
    if not shown.open_pods:
        return
    head = layout.style(f"{shown.verdict}: ", "bold")
    opened = set(shown.open_pods)
    if shown.verdict == "no":
        judged = sum(f"{each.namespace}/{name}" not in opened for each in shown.pending for name in each.pods)
        yield from hanging(head, f"{counted(judged, 'pod')} find{'s' if judged == 1 else ''} no node", layout.width, 2)
        head = layout.style("unknown: ", "bold")
    workloads = {
        (each.namespace, each.workload) for each in shown.placements if f"{each.namespace}/{each.name}" in opened
    }
    parts = []
    for each in shown.workloads:
        workload = f"{each.kind}/{each.name}"
        if (each.namespace, workload) in workloads:
            bounds = shown.bounds[f"{each.namespace}/{workload}"]
            name = f"{each.namespace}/{each.name}"
            parts.append(f"{bounds} of {counted(each.placed + each.pending, 'pod')} of {name} find nodes")
    yield from hanging(head, "; ".join(parts), layout.width, 2)
    unjudged = {pod for each in shown.unjudged for pod in each.pods}
    yield from part_lines(shown.unjudged, layout)
    neighbours = [pod for pod in shown.open_pods if pod not in unjudged]
    if neighbours:
        yield from hanging("depends on these pods: ", layout.names(neighbours), layout.width, 2)


def part_lines(parts: Iterable[Unjudged], layout: Layout) -> Iterator[str]:
    """Yield each part that is not judged, its field, and the command that shows the objects that decide it."""
    for part in parts:
        text = f"{part.because} ({part.field}); all other filters admit these pods to some node"
        yield from hanging("not judged: ", text, layout.width, 2)
        if part.to_know:
            yield from hanging("what decides: ", part.to_know, layout.width, 2)
