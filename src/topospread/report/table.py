"""A simulation as a table for people: every workload's domains before and after, then what stays pending and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation import DomainOutcome, PendingGroup, Simulation, WorkloadResult, WorkloadSpread

from .reasons import nodes_and
from .style import PLAIN, Style

_SHOWN_DOMAINS = 12
_SHOWN_NODES = 8
_BAR = 20
_HOSTNAME = "kubernetes.io/hostname"
_ORIGINS = {"profile": "default constraint of the profile", "system": "built-in default"}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is drawn.

    Attributes:
        width: columns of the terminal.
        wide: show every domain and every pod, however many there are.
    """

    width: int = 80
    wide: bool = False
    style: Style = PLAIN


def table(simulation: Simulation, layout: Layout, namespace: str | None = None) -> str:
    """The whole report; ``namespace`` restricts what is shown, not what was simulated."""
    workloads = [each for each in simulation.workloads if namespace in (None, each.namespace)]
    pending = [each for each in simulation.pending if namespace in (None, each.namespace)]
    landed = _landed(simulation)
    blocks = ["\n".join(_workload(each, landed, pending, layout)) for each in workloads if _worth_showing(each)]
    if pending:
        blocks.append("\n".join(_pending(pending, layout)))
    others = (_evictions(simulation, layout), _removed(simulation), _rest(simulation, layout))
    blocks += [text for lines in others if (text := "\n".join(lines))]
    blocks.append(_summary(simulation, layout.style))
    return "\n\n".join(blocks) + "\n"


def _worth_showing(workload: WorkloadResult) -> bool:
    return bool(workload.spread or workload.replicas != workload.existing or workload.pending or workload.notes)


def _summary(simulation: Simulation, style: Style) -> str:
    placed = sum(each.node is not None for each in simulation.placements)
    pending = len(simulation.placements) - placed
    nodes = f"{simulation.nodes} node" + ("" if simulation.nodes == 1 else "s")
    placed_words = f"{placed} pod{'' if placed == 1 else 's'} placed on {nodes}"
    return f"{placed_words}, " + (style(f"{pending} pending", "bold", "red") if pending else "nothing pending")


def _landed(simulation: Simulation) -> dict[tuple[str, str], Counter[str]]:
    """(namespace, ``Kind/name``) → node → how many of the workload's pods were placed there."""
    landed: dict[tuple[str, str], Counter[str]] = {}
    for each in simulation.placements:
        if each.node is not None:
            landed.setdefault((each.namespace, each.workload), Counter())[each.node] += 1
    return landed


def _nodes(nodes: Counter[str], layout: Layout) -> Iterator[str]:
    """The nodes that took the pods, as long as they are few."""
    if 0 < len(nodes) <= _SHOWN_NODES or (layout.wide and nodes):
        shown = (f"{node} ×{count}" if count > 1 else node for node, count in sorted(nodes.items()))
        yield from _wrapped(", ".join(shown), layout.width, "  → ", 4)


def _workload(
    workload: WorkloadResult,
    landed: dict[tuple[str, str], Counter[str]],
    pending: list[PendingGroup],
    layout: Layout,
) -> Iterator[str]:
    style = layout.style
    counts = f"{workload.placed} placed"
    if workload.pending:
        counts += ", " + style(f"{workload.pending} pending", "bold", "red")
    replicas = f"{workload.replicas} replica" + ("" if workload.replicas == 1 else "s")
    name = style(f"{workload.namespace}/{workload.name}", "bold")
    yield f"{name}  {workload.kind} · {replicas} · {counts}"
    yield from _nodes(landed.get((workload.namespace, f"{workload.kind}/{workload.name}"), Counter()), layout)
    for spread in workload.spread:
        yield from _spread(spread, _outcomes(workload, spread, pending), layout)
    for note in workload.notes:
        yield from _wrapped(note, layout.width, "  note: ")


def _outcomes(
    workload: WorkloadResult, spread: WorkloadSpread, pending: list[PendingGroup]
) -> dict[str, DomainOutcome]:
    """What the constraint's domains are for the workload's pending pods."""
    for group in pending:
        if (group.namespace, group.workload) == (workload.namespace, f"{workload.kind}/{workload.name}"):
            for arithmetic, outcomes in group.outcomes:
                same_key = arithmetic.topology_key == spread.topology_key
                if same_key and arithmetic.when_unsatisfiable == spread.when_unsatisfiable:
                    return {outcome.domain.name: outcome for outcome in outcomes}
    return {}


def _spread(spread: WorkloadSpread, outcomes: dict[str, DomainOutcome], layout: Layout) -> Iterator[str]:
    style = layout.style
    kind = "hard" if spread.hard else "soft"
    skew = f"skew {spread.skew}"
    if spread.skew > spread.max_skew:
        skew = style(f"{skew} (more than maxSkew)", "yellow")
    parts = [style(spread.topology_key, "bold"), kind, f"maxSkew {spread.max_skew}", skew]
    if spread.arithmetic.min_domains > 1:
        parts.insert(3, f"minDomains {spread.arithmetic.min_domains}")
    if spread.origin in _ORIGINS:
        parts.append(f"({_ORIGINS[spread.origin]})")
    yield "  " + "  ".join(parts)
    domains = spread.domains
    if not domains:
        yield "    no node has this label" if not spread.arithmetic.left_out else "    no eligible domain"
        return
    if len(domains) > _SHOWN_DOMAINS and not layout.wide:
        yield from _histogram(spread, layout)
        return
    width = max(len(each.name) for each in domains)
    digits = max(len(str(each.before)) for each in domains), max(len(str(each.after)) for each in domains)
    most = max(each.after for each in domains)
    for each in domains:
        bar = "█" * _bar(each.after, most)
        outcome = outcomes.get(each.name)
        nodes = nodes_and(outcome.rejected if outcome else {}, each.nodes)
        if spread.topology_key == _HOSTNAME and nodes == "1 node":
            nodes = ""
        line = f"    {each.name:<{width}}  {each.before:>{digits[0]}} → {each.after:>{digits[1]}}  "
        yield (line + f"{bar:<{min(most, _BAR)}}  {nodes}").rstrip()


def _bar(count: int, most: int) -> int:
    if most <= _BAR:
        return count
    return max(1, round(count * _BAR / most)) if count else 0


def _histogram(spread: WorkloadSpread, layout: Layout) -> Iterator[str]:
    """Many domains: how many of them hold how many pods."""
    held = Counter(each.after for each in spread.domains)
    most = max(held.values())
    total = len(spread.domains)
    yield f"    {total} domains; -o wide lists them"
    names = {count: [each.name for each in spread.domains if each.after == count] for count in held}
    for count in sorted(held):
        pods = f"{count} pod" + ("" if count == 1 else "s")
        shown = ", ".join(names[count][:2]) + (", …" if held[count] > 2 else "")
        bar = "█" * _bar(held[count], most)
        line = f"    {pods:>8} in {held[count]:>5}  {bar:<{min(most, _BAR)}}  {shown}"
        yield line[: layout.width].rstrip()


def _pending(pending: list[PendingGroup], layout: Layout) -> Iterator[str]:
    style = layout.style
    yield style("Pending", "bold", "red")
    for group in pending:
        kind, _, name = group.workload.partition("/")
        count = f" ({len(group.pods)})" if kind != "Pod" else ""
        yield from _wrapped(group.message, layout.width, f"  {style(f'{group.namespace}/{name}', 'bold')}{count}  ", 4)
        if group.preemption:
            yield from _wrapped(group.preemption, layout.width, "    ", 4)
        if layout.wide and kind != "Pod":
            yield from _wrapped(", ".join(group.pods), layout.width, "    pods: ", 10)
        for arithmetic, outcomes in group.outcomes:
            yield from _arithmetic(arithmetic, outcomes, layout)


def _arithmetic(arithmetic: ConstraintArithmetic, outcomes: tuple[DomainOutcome, ...], layout: Layout) -> Iterator[str]:
    yield f"    {arithmetic.topology_key}  maxSkew {arithmetic.max_skew}"
    shown = outcomes
    if len(outcomes) > _SHOWN_DOMAINS and not layout.wide:
        allowed = [each for each in outcomes if each.domain.allowed]
        rejected = [each for each in outcomes if not each.domain.allowed]
        shown = (*allowed[: _SHOWN_DOMAINS // 2], *rejected[: _SHOWN_DOMAINS // 2])
    width = max((len(each.domain.name) for each in shown), default=0)
    for each in shown:
        yield from _wrapped(_verdict(arithmetic, each), layout.width, f"      {each.domain.name:<{width}}  ", width + 8)
    if len(shown) < len(outcomes):
        yield f"      … {len(outcomes) - len(shown)} more domains; -o wide lists them"
    for left in arithmetic.left_out:
        names = ", ".join(left.nodes[:3]) + (f" and {len(left.nodes) - 3} more" if len(left.nodes) > 3 else "")
        yield from _wrapped(f"not counted ({left.reason}): {names}", layout.width, "      ", 8)


def _verdict(arithmetic: ConstraintArithmetic, outcome: DomainOutcome) -> str:
    """One domain in a line: the sum that forbids it, or what its nodes lack."""
    domain = outcome.domain
    if not domain.allowed:
        minimum = _minimum(arithmetic)
        total = f"{domain.matching} + {arithmetic.counts_itself} (self) − {arithmetic.minimum} ({minimum})"
        return f"{total} = {domain.skew} > maxSkew {arithmetic.max_skew}"
    holds = "holds the minimum; " if domain.name in arithmetic.minimum_domains else "would do by skew; "
    return f"{holds}its {nodes_and(outcome.rejected, domain.nodes, by_spread=True)}"


def _minimum(arithmetic: ConstraintArithmetic) -> str:
    if arithmetic.domains and len(arithmetic.domains) < arithmetic.min_domains:
        return f"{len(arithmetic.domains)} domains < minDomains {arithmetic.min_domains}"
    names = arithmetic.minimum_domains
    if not names:
        return "no domain"
    return f"minimum: {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def _evictions(simulation: Simulation, layout: Layout) -> Iterator[str]:
    if simulation.evictions:
        yield layout.style("Evicted", "bold")
    for each in simulation.evictions:
        anew = f", created anew as {each.created_anew}" if each.created_anew else ", nothing creates it anew"
        text = f"{each.namespace}/{each.name} from {each.node} for {each.preemptor}{anew}"
        yield from _wrapped(text, layout.width, "  ", 4)


def _removed(simulation: Simulation) -> Iterator[str]:
    if simulation.removed:
        yield "Removed by scaling down"
    for pod, node in simulation.removed.items():
        yield f"  {pod} from {node}" if node else f"  {pod}, which was pending"


def _rest(simulation: Simulation, layout: Layout) -> Iterator[str]:
    for warning in simulation.warnings:
        yield from _wrapped(warning, layout.width, layout.style("warning", "bold", "yellow") + ": ", 2)
    for note in simulation.notes:
        yield from _wrapped(note, layout.width, "note: ", 2)
    for scheduler, count in sorted(simulation.foreign.items()):
        yield f"note: {count} pod{'' if count == 1 else 's'} left to the scheduler {scheduler}"
    if simulation.skipped:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(simulation.skipped.items()))
        yield from _wrapped(f"kinds that play no part were skipped: {kinds}", layout.width, "note: ", 2)


def _wrapped(text: str, width: int, first: str, indent: int = 2) -> Iterator[str]:
    """Text over several lines; ``first`` begins the first one and may hold colour codes."""
    plain = len(first) - sum(len(each) for each in _codes(first))
    lines = wrap(text, max(width - indent, 20), initial_indent=" " * max(plain - indent, 0), break_on_hyphens=False)
    for i, line in enumerate(lines or [""]):
        yield first + line.strip() if i == 0 else " " * indent + line


def _codes(text: str) -> Iterator[str]:
    for part in text.split("\x1b")[1:]:
        yield "\x1b" + part[: part.index("m") + 1]
