"""Workloads as blocks of text: how many pods where, and how each constraint came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec.structs import replace as with_fields

from topospread.answers.reasons import closed, full, others

from .domains import spread_lines
from .layout import Layout
from .paragraphs import counted, hanging, in_order, natural, together
from .rows import Row, notes_once, row_lines

if TYPE_CHECKING:
    from topospread.simulation import PodPlacement, Simulation, WorkloadResult, WorkloadSpread

_SHOWN_NODES = 8
_SHOWN_UNCHANGED = 6
_LAST = 4
"""Behind every rank."""
_PODS = ("DaemonSet", "Job", "Pod")
"""Kinds that have no replicas to speak of."""

Landed = Counter[str]
"""Node → how many of a workload's pods were placed there."""

AllLanded = Mapping[tuple[str, str], Landed]
"""(namespace, ``Kind/name``) → where its pods were placed."""


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
    """A block for each workload; of many, for those in trouble, and then a line for each of the others.

    Those that nothing happened to are only named.
    """
    landed = _landed(simulation.placements)
    workloads = [each for each in simulation.workloads if _says_something(each)]
    if layout.few(len(workloads)) and not layout.wide:
        yield from _texts(workloads, landed, layout)
        return
    ranked = sorted(workloads, key=lambda each: _rank(each) or _LAST)
    if layout.wide:
        yield from _texts(ranked, landed, layout)
        return
    changed = [each for each in workloads if not _is_unchanged(each)]
    few = layout.few(len(changed))
    shown = changed if few else [each for each in ranked if _rank(each)]
    brief = [with_fields(each, spread=()) if _waits_for_room(each) else each for each in shown]
    yield from _texts(brief, landed, layout)
    yield from _in_lines([] if few else [each for each in changed if not _rank(each)], landed, layout)
    yield from _unchanged([each for each in workloads if _is_unchanged(each)], layout)


def trouble_lines(workloads: Sequence[WorkloadResult], layout: Layout) -> Iterator[str]:
    """A line for each workload in trouble: the pending ones first, last those that nothing happened to."""
    troubled = sorted((each for each in workloads if _trouble_of(each)), key=lambda each: _rank(each) or _LAST)
    rows = [Row(f"{each.namespace}/{each.name}", (each.kind,), (_trouble_of(each),)) for each in troubled]
    yield from row_lines(rows, layout)


def _trouble_of(workload: WorkloadResult) -> str:
    """``2 of 8 pending``, ``topology.kubernetes.io/zone skew 3 > maxSkew 1``, "" when all is well."""
    parts = [f"{workload.pending} of {workload.placed + workload.pending} pending"] if workload.pending else []
    for each in workload.spread:
        if each.is_exceeded:
            parts.append(f"{each.topology_key} skew {each.skew} > maxSkew {each.max_skew}")
        elif each.only_domain:
            parts.append(f"all in {each.only_domain}")
    return "; ".join(parts)


def _texts(workloads: Sequence[WorkloadResult], landed: AllLanded, layout: Layout) -> Iterator[str]:
    """Blocks; those that are a line alone stand together."""
    texts = ["\n".join(_block(block, landed, layout)) for block in _blocks(workloads)]
    for in_a_line, found in groupby(texts, lambda text: "\n" not in text):
        alike = list(found)
        yield from ["\n".join(alike)] if in_a_line else alike


def _rank(workload: WorkloadResult) -> int:
    """1 while pods of it are pending, 2 when it is skewed, 3 when one domain holds it all; 0 when all is well.

    What is skewed and did not change is `topospread status`'s matter.
    """
    if workload.pending:
        return 1
    if _is_unchanged(workload):
        return 0
    return 2 if workload.is_skewed else 3 if workload.is_at_risk else 0


def _in_lines(workloads: Sequence[WorkloadResult], landed: AllLanded, layout: Layout) -> Iterator[str]:
    """A line each, and what is noted of several of them once."""
    if workloads:
        yield "\n".join(row_lines([_row(block, landed, layout) for block in _blocks(workloads)], layout))
    if lines := list(notes_once(workloads, layout)):
        yield "\n".join(lines)


def _row(block: _Block, landed: AllLanded, layout: Layout) -> Row:
    first = block.only
    names = layout.names(sorted((each.name for each in block.members), key=natural))
    kind = f"{len(block.members)} Pods" if len(block.members) > 1 else first.kind
    placed, existing, replicas = (block.sum_of(each) for each in ("placed", "existing", "replicas"))
    amount = f"{placed} placed" if placed >= replicas else f"{placed} of {replicas} placed"
    if existing:
        amount += " before" if existing == placed else f" ({existing} before)"
    found = [landed.get((each.namespace, f"{each.kind}/{each.name}")) or Counter() for each in block.members]
    where = {node for each in found for node in each}
    ways = (f"→ {', '.join(in_order(where))}", f"→ {counted(len(where), 'node')}") if where else ()
    return Row(f"{first.namespace}/{names}", (kind, amount), ways)


def _unchanged(workloads: Sequence[WorkloadResult], layout: Layout) -> Iterator[str]:
    if not workloads:
        return
    names = layout.names([f"{each.namespace}/{each.name}" for each in workloads], _SHOWN_UNCHANGED)
    text = f"{counted(len(workloads), 'workload')} had nothing to place: {names}; -o wide shows them"
    skewed = [f"{each.namespace}/{each.name}" for each in workloads if each.is_skewed]
    if skewed:
        text += f". Skewed as they are: {layout.names(skewed)}; topospread status says how"
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


def _block(block: _Block, landed: AllLanded, layout: Layout) -> Iterator[str]:
    first = block.only
    style = layout.style
    names = layout.names(sorted((each.name for each in block.members), key=natural))
    name = style(f"{first.namespace}/{names}", "bold")
    if first.is_nothing and not first.notes:
        yield from hanging(f"{name}  ", _amount(block), layout.width, 4)
        return
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
    return with_fields(spread, domains=domains.with_rejected(rejected))
