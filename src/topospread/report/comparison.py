"""Two simulations side by side as text: only what differs. As plain data they are ``comparison_json.py``'s."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .constraint_terms import constraint_terms
from .layout import Layout
from .namespace import in_namespace
from .paragraphs import counted, hanging, in_order, natural, together
from .pending import pending_lines

if TYPE_CHECKING:
    from topospread.simulation import Eviction, PendingGroup, PodPlacement, WorkloadSpread
    from topospread.simulation.comparison import Cause, Comparison, PlacementChange, SpreadChange, WorkloadChange

_ROW = " " * 4
_WITH_IDENTITY = ("StatefulSet", "Pod")
_HOSTNAME = "kubernetes.io/hostname"


def comparison_text(comparison: Comparison, layout: Layout, namespace: str | None = None) -> str:
    """What differs, for people; ``namespace`` restricts what is shown.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = comparison if namespace is None else restricted(comparison, namespace)
    blocks = [_title(shown.names, layout)]
    sections = (
        _settings(shown, layout),
        *(_workload(each, shown.why, layout) for each in shown.workloads if each.moved or each.spreads or layout.wide),
        _pending(shown, layout),
        _evictions(shown, layout),
        _warnings(shown, layout),
    )
    blocks += [text for lines in sections if (text := "\n".join(lines))]
    blocks.append("\n".join(hanging("", _summary(shown, layout), layout.width, 2)))
    return "\n\n".join(blocks) + "\n"


def comparison_summary(comparison: Comparison, layout: Layout, namespace: str | None = None) -> str:
    """What is compared, and the numbers.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = comparison if namespace is None else restricted(comparison, namespace)
    lines = [_title(shown.names, layout), *_warnings(shown, layout)]
    return "\n".join([*lines, *hanging("", _summary(shown, layout), layout.width, 2)]) + "\n"


def restricted(comparison: Comparison, namespace: str) -> Comparison:
    """What differs in one namespace; its two simulations are restricted, too.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    return replace(
        comparison,
        before=in_namespace(comparison.before, namespace),
        after=in_namespace(comparison.after, namespace),
        workloads=tuple(each for each in comparison.workloads if each.workload.namespace == namespace),
        evictions=(_inside(comparison.evictions[0], namespace), _inside(comparison.evictions[1], namespace)),
    )


def _inside(evictions: Sequence[Eviction], namespace: str) -> tuple[Eviction, ...]:
    return tuple(each for each in evictions if each.namespace == namespace)


def _title(names: tuple[str, str], layout: Layout) -> str:
    before, after = (layout.style(together(each), "bold") for each in names)
    return "\n".join(hanging("", f"{before} → {after}", layout.width, 2))


def _settings(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """What the configurations decide differently."""
    settings = comparison.settings
    if not settings:
        return
    yield layout.style("Configuration", "bold")
    several = len({each.profile for each in settings}) > 1
    shown = settings if layout.few(len(settings)) else settings[: layout.most]
    for each in shown:
        profile = f"{each.profile}: " if several else ""
        text = f"{each.before or 'none'} → {each.after or 'none'}"
        yield from hanging(f"  {profile}{each.setting}  ", text, layout.width, 6)
    yield from _more(len(settings) - len(shown))


def _more(number: int) -> Iterator[str]:
    if number:
        yield f"  and {number} more; -o wide lists them"


def _workload(change: WorkloadChange, why: Mapping[str, Cause], layout: Layout) -> Iterator[str]:
    workload = change.workload
    name = layout.style(f"{workload.namespace}/{workload.name}", "bold")
    yield from hanging(f"{name}  ", f"{workload.kind} · {_fate(change, layout)}", layout.width, 4)
    yield from _moves(change, layout) if workload.kind in _WITH_IDENTITY else _nodes(change, layout)
    yield from _why(change, why, layout)
    for each in change.spreads:
        if layout.wide or not _is_told_by_nodes(each):
            yield from _spread(each, layout)
    if layout.wide:
        yield from _pods(change.placements, layout)


def _fate(change: WorkloadChange, layout: Layout) -> str:
    """``12 pods placed → 9, 2 go elsewhere``."""
    before, after = change.pods
    parts = []
    if before != after:
        text = together(f"{before} placed → {after}")
        parts.append(layout.style(text, "bold", "red") if after < before else text)
    elsewhere = sum(None not in each.nodes for each in change.moved)
    if elsewhere:
        parts.append(f"{elsewhere} of {counted(before, 'pod')} on other nodes")
    scored = len(change.placements) - len(change.moved)
    if scored and layout.wide:
        parts.append(f"{scored} with another score")
    return ", ".join(parts) or "pods on the same nodes"


def _why(change: WorkloadChange, why: Mapping[str, Cause], layout: Layout) -> Iterator[str]:
    """What sent pods elsewhere, each filter and score once; the first pod of all that moves is named."""
    first = next(iter(why), None)
    told: dict[tuple[str, str], str] = {}
    # In the order of the causes: the first of a plugin has least to do with what moved before it.
    own = {each.key for each in change.moved}
    for key, cause in why.items():
        if key in own:
            begins = f" (the first pod that moves, {key.partition('/')[2]})" if key == first else ""
            told.setdefault((cause.kind, cause.plugin), f"{cause.sentence}{begins}")
    for sentence in told.values():
        yield from hanging("  why: ", sentence, layout.width, 7)


def _moves(change: WorkloadChange, layout: Layout) -> Iterator[str]:
    """Pods that are who they are, each with its nodes."""
    moved = [] if layout.wide else change.moved
    for each in moved[: layout.most]:
        before, after = (_whereabouts(side) for side in (each.before, each.after))
        text = f"{each.pod.name}  {before} → {after}"
        yield f"  {layout.style(text, 'red') if each.nodes[1] is None else text}"
    yield from _more(max(0, len(moved) - layout.most))


def _whereabouts(pod: PodPlacement | None) -> str:
    return "not there" if pod is None else pod.node or "pending"


def _nodes(change: WorkloadChange, layout: Layout) -> Iterator[str]:
    """Nodes that hold more or fewer of the pods than before."""
    nodes = change.nodes
    fewer = [f"{node} −{was - now}" for node, (was, now) in _by_name(nodes) if now < was]
    more = [f"{node} +{now - was}" for node, (was, now) in _by_name(nodes) if now > was]
    if fewer or more:
        named = [layout.names([together(each) for each in what], layout.most // 2) for what in (fewer, more) if what]
        yield from hanging("  ", ", ".join(named), layout.width, 4)


def _by_name(nodes: dict[str, tuple[int, int]]) -> list[tuple[str, tuple[int, int]]]:
    return sorted(nodes.items(), key=lambda each: natural(each[0]))


def _spread(change: SpreadChange, layout: Layout) -> Iterator[str]:
    before, after = change.before, change.after
    key = layout.style(change.spread.topology_key, "bold")
    yield from hanging(f"  {key}  ", _rules(before, after, layout), layout.width, 6)
    if before is None or after is None:
        return
    was, now = ({each.name: each.after for each in side.domains} for side in (before, after))
    names = in_order(name for name in {**was, **now} if was.get(name) != now.get(name))
    shown = names if layout.few(len(names)) else names[: layout.most]
    width = max(map(len, shown), default=0)
    digits = max((len(str(was.get(name, "–"))) for name in shown), default=0)
    for name in shown:
        yield f"{_ROW}{name:<{width}}  {was.get(name, '–'):>{digits}} → {now.get(name, '–')}"
    if len(shown) < len(names):
        yield f"{_ROW}and {len(names) - len(shown)} more; -o wide lists them"


def _is_told_by_nodes(change: SpreadChange) -> bool:
    """Whether only nodes' own counts differ: the nodes that hold more or fewer pods are named above."""
    before, after = change.before, change.after
    return (
        change.spread.topology_key == _HOSTNAME
        and before is not None
        and after is not None
        and (*_terms(before), before.skew) == (*_terms(after), after.skew)
    )


def _rules(before: WorkloadSpread | None, after: WorkloadSpread | None, layout: Layout) -> str:
    """The constraint and its skew; where it is another one, both."""
    if before is not None and after is not None and _terms(before) == _terms(after):
        skew = f"skew {before.skew}" if before.skew == after.skew else f"skew {before.skew} → {after.skew}"
        return "  ".join([*_terms(after), together(_worse(skew, before, after, layout))])
    sides = ["  ".join([*_terms(each), together(f"skew {each.skew}")]) if each else "none" for each in (before, after)]
    return " → ".join(sides)


def _worse(skew: str, before: WorkloadSpread, after: WorkloadSpread, layout: Layout) -> str:
    return layout.style(skew, "bold") if after.skew > before.skew else skew


def _terms(spread: WorkloadSpread) -> list[str]:
    return constraint_terms(spread.arithmetic)


def _pods(placements: Sequence[PlacementChange], layout: Layout) -> Iterator[str]:
    """Every pod that differs, with its nodes and scores."""
    for each in placements:
        sides = [_placed(side.node, side.score) if side else "not there" for side in (each.before, each.after)]
        red = each.before is not None and each.after is not None and each.after.node is None
        name, text = (layout.style(part, "red") if red else part for part in (each.pod.name, " → ".join(sides)))
        yield from hanging(f"{_ROW}{name}  ", text, layout.width, len(_ROW) + 2)


def _placed(node: str | None, score: int | None) -> str:
    return f"{node} ({score})" if node is not None else "pending"


def _pending(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """Why pods are pending that were placed."""
    pods = {(each.pod.namespace, each.after.name) for each in comparison.newly_pending if each.after is not None}
    groups = [each for each in comparison.after.pending if _among(each, pods)]
    if groups:
        yield from pending_lines(groups, layout)


def _among(group: PendingGroup, pods: set[tuple[str, str]]) -> bool:
    return any((group.namespace, name) in pods for name in group.pods)


def _evictions(comparison: Comparison, layout: Layout) -> Iterator[str]:
    for title, evictions in zip(("No longer evicted", "Newly evicted"), comparison.evictions, strict=True):
        if evictions:
            yield layout.style(title, "bold")
            shown = evictions if layout.few(len(evictions)) else evictions[: layout.most]
            for each in shown:
                yield from hanging("  ", _eviction(each), layout.width, 4)
            yield from _more(len(evictions) - len(shown))


def _eviction(each: Eviction) -> str:
    return f"{each.namespace}/{each.name} from {each.node} for {each.preemptor}"


def _warnings(comparison: Comparison, layout: Layout) -> Iterator[str]:
    """What only one side warns of."""
    for name, warnings in zip(comparison.names, comparison.warnings, strict=True):
        for warning in warnings:
            yield from hanging(f"{layout.style('warning', 'bold')} ({name}): ", warning, layout.width, 2)


def _summary(comparison: Comparison, layout: Layout) -> str:
    """``36 pods: 2 on other nodes, 34 with another score; none is newly pending``."""
    if comparison.same:
        return "nothing differs: the same nodes, scores and skews"
    pods = len(comparison.before.placements)
    elsewhere = sum(None not in each.nodes for each in comparison.moved)
    parts = [f"{elsewhere or 'none'} on other nodes"]
    scored = len(comparison.placements) - len(comparison.moved)
    if scored:
        parts.append(f"{scored} with another score")
    numbers = (len(comparison.newly_placed), len(comparison.newly_gone), len(comparison.newly_pending))
    placed, gone, pending = numbers
    if placed:
        parts.append(f"{placed} newly placed")
    if gone:
        parts.append(layout.style(f"{gone} newly evicted and gone", "bold", "red"))
    last = layout.style(f"{pending} newly pending", "bold", "red") if pending else "none newly pending"
    return f"{counted(pods, 'pod')}: {', '.join([*parts, last])}"
