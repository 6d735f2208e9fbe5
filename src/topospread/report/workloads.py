"""Workloads as blocks of text: how many pods where, and how each constraint came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from .domains import spread_lines
from .layout import Layout
from .paragraphs import counted, hanging, in_order, natural, together
from .reasons import closed, full, others

if TYPE_CHECKING:
    from topospread.simulation import PodPlacement, Simulation, WorkloadResult, WorkloadSpread

_SHOWN_NODES = 8
_SHOWN_UNCHANGED = 6
_PODS = ("DaemonSet", "Job", "Pod")
"""Kinds that have no replicas to speak of."""

Landed = Counter[str]
"""Node → how many of a workload's pods were placed there."""


@dataclass(frozen=True)
class _Block:
    """Workloads that are shown as one: a single one, or bare pods that came out alike."""

    members: tuple[WorkloadResult, ...]

    @property
    def only(self) -> WorkloadResult:
        """The workload, or the first of them."""
        return self.members[0]

    def sum_of(self, attribute: str) -> int:
        """A count over all members."""
        return sum(getattr(each, attribute) for each in self.members)


def workload_blocks(simulation: Simulation, layout: Layout) -> Iterator[str]:
    """A block for each workload; of many, those that nothing happened to are only named."""
    landed = _landed(simulation.placements)
    workloads = [each for each in simulation.workloads if _says_something(each)]
    unchanged: list[WorkloadResult] = []
    if not layout.few(len(workloads)):
        unchanged = [each for each in workloads if _is_unchanged(each)]
        changed = [each for each in workloads if not _is_unchanged(each)]
        workloads = [replace(each, spread=()) if _waits_for_room(each) else each for each in changed]
    texts = ["\n".join(_block(block, landed, layout)) for block in _blocks(workloads)]
    for in_a_line, found in groupby(texts, lambda text: "\n" not in text):
        alike = list(found)
        yield from ["\n".join(alike)] if in_a_line else alike
    if unchanged:
        names = layout.names([f"{each.namespace}/{each.name}" for each in unchanged], _SHOWN_UNCHANGED)
        text = f"{counted(len(unchanged), 'workload')} had nothing to place: {names}; -o wide shows them"
        yield "\n".join(hanging("", text, layout.width, 2))


def _says_something(workload: WorkloadResult) -> bool:
    return bool(workload.spread or workload.replicas != workload.existing or workload.pending or workload.notes)


def _is_unchanged(workload: WorkloadResult) -> bool:
    return not (_has_moved(workload) or workload.pending or workload.notes or workload.placed != workload.existing)


def _waits_for_room(workload: WorkloadResult) -> bool:
    """Whether none of its pods was placed, and not because of its constraints: what they count says nothing then."""
    if not workload.pending or workload.placed != workload.existing or _has_moved(workload):
        return False
    hard = [spread.arithmetic.domains for spread in workload.spread if spread.hard]
    return all(domain.allowed for domains in hard for domain in domains)


def _has_moved(workload: WorkloadResult) -> bool:
    return any(bool((each.domains.before != each.domains.after).any()) for each in workload.spread)


def _landed(placements: Sequence[PodPlacement]) -> dict[tuple[str, str], Landed]:
    """(namespace, ``Kind/name``) → where its pods were placed."""
    landed: dict[tuple[str, str], Landed] = {}
    for each in placements:
        if each.node is not None:
            landed.setdefault((each.namespace, each.workload), Counter())[each.node] += 1
    return landed


def _blocks(workloads: Sequence[WorkloadResult]) -> Iterator[_Block]:
    """Bare pods next to each other that came out alike are one block."""

    def alike(workload: WorkloadResult) -> tuple[object, ...]:
        if workload.kind != "Pod":
            return (id(workload),)
        shape = [(each.topology_key, each.when_unsatisfiable, each.max_skew, each.domains) for each in workload.spread]
        return (workload.namespace, workload.pending, workload.existing, workload.notes, shape)

    for _, members in groupby(workloads, alike):
        yield _Block(tuple(members))


def _block(block: _Block, landed: dict[tuple[str, str], Landed], layout: Layout) -> Iterator[str]:
    first = block.only
    style = layout.style
    names = layout.names(sorted((each.name for each in block.members), key=natural))
    name = style(f"{first.namespace}/{names}", "bold")
    where = [(each, landed.get((each.namespace, f"{each.kind}/{each.name}"), Counter())) for each in block.members]
    single = first.kind == "Pod" and len(block.members) == 1
    state = _state_of_one(first, where[0][1], layout) if single else _state(block, layout)
    yield from hanging(f"{name}  ", f"{_amount(block)} · {state}", layout.width, 4)
    if not single:
        yield from _nodes(where, layout)
    yield from spread_lines([_trouble(first, spread) for spread in first.spread], layout)
    for note in first.notes:
        yield from hanging("  note: ", note, layout.width, 4)


def _amount(block: _Block) -> str:
    first = block.only
    if first.kind == "Pod":
        return "Pod" if len(block.members) == 1 else f"{len(block.members)} Pods"
    noun = "pod" if first.kind in _PODS else "replica"
    return f"{first.kind} · {counted(first.replicas, noun)}"


def _state(block: _Block, layout: Layout) -> str:
    """``8 placed (3 before), 2 pending``."""
    placed, existing, pending = (block.sum_of(each) for each in ("placed", "existing", "pending"))
    text = f"{placed} placed"
    if existing:
        text += " before" if existing == placed else f" ({existing} before)"
    return text + (", " + layout.style(together(f"{pending} pending"), "bold", "red") if pending else "")


def _state_of_one(pod: WorkloadResult, where: Landed, layout: Layout) -> str:
    """The same of a single bare pod: ``placed on node4``."""
    if pod.pending:
        return layout.style("pending", "bold", "red")
    if where:
        return f"placed on {next(iter(where))}"
    return "placed before" if pod.existing else "not placed"


def _nodes(found: Sequence[tuple[WorkloadResult, Landed]], layout: Layout) -> Iterator[str]:
    """The nodes that took the new pods, by name as long as they are few."""
    nodes = sum((where for _, where in found), Counter[str]())
    if not nodes:
        return
    if not layout.wide and len(nodes) > _SHOWN_NODES:
        by_number = Counter(nodes.values())
        parts = [f"{counted(pods, 'pod')} on {number}" for pods, number in sorted(by_number.items(), reverse=True)]
        each = f", {counted(next(iter(by_number)), 'pod')} each"
        text = f"{len(nodes)} nodes" + (each if len(by_number) == 1 else f": {', '.join(parts)}")
    elif len(found) > 1 and layout.few(len(found)):
        text = ", ".join(f"{where.most_common(1)[0][0]} ({each.name})" for each, where in found if where)
    else:
        text = ", ".join(f"{each} ×{nodes[each]}" if nodes[each] > 1 else each for each in in_order(nodes))
    yield from hanging("  → ", text, layout.width, 4)


def _trouble(workload: WorkloadResult, spread: WorkloadSpread) -> WorkloadSpread:
    """The constraint with those reasons alone that are worth a word in its rows.

    A domain's own sum says what spread constraints reject. Where nothing is pending, only what explains a domain that
    holds less than others does: nodes that are closed, and full ones unless the pods are spread as well as can be.
    """
    domains = spread.domains
    if not domains.rejected:
        return spread
    most = domains.after.max(initial=0)
    uneven = spread.skew > 1

    def told(name: str, after: int) -> dict[str, int]:
        reasons = domains.rejected.get(name, {})
        if workload.pending:
            return others(reasons)
        return closed(reasons) | (full(reasons) if uneven and after < most else {})

    rejected = {name: told(name, after) for name, after in zip(domains.names, domains.after.tolist(), strict=True)}
    return replace(spread, domains=domains.with_rejected(rejected))
