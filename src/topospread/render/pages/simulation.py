"""The page of ``topospread simulate``: the verdict, its cause and fix, and workloads by domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from topospread.answers.simulation import PlacedWorkload, Simulation
from topospread.answers.words import counted, in_order, listed
from topospread.api.kinds import NOT_MODELLED
from topospread.base import Bounds
from topospread.render.blocks import Cell, Fact, Page, Part, Role, Section, Span, Table, Verdict

from .pending import fix_facts, fix_sections, pending_sections, unjudged_facts, why_facts
from .pools import pool_table
from .spread_table import Row, constraint_sections, legend, matrix, matrix_key, said_of
from .traffic import traffic_section

_FEW = 10
"""Above this number of workloads, those with problems come first."""
_SHOWN = 3
_OF_EVERY_RUN = ("ReplicaSets that do not exist yet", "not a Kubernetes object")
"""Phrases in notes that are the same for every input. Such notes are shown only with ``-o wide``."""


def page(answer: Simulation) -> Page:
    """Return the page of a simulation."""
    unjudged = {pod for each in answer.unjudged for pod in each.pods}
    parts: list[Part] = [
        Verdict(answer.verdict, answer.says),
        *why_facts(answer.pending),
        *fix_facts(answer.remedies, answer.untried, searched=answer.searched),
        *unjudged_facts(answer.unjudged, [pod for pod in answer.open_pods if pod not in unjudged]),
        *_facts(answer),
    ]
    still = [each for each in answer.workloads if _is_unchanged(each)]
    moved = [each for each in answer.workloads if not _is_unchanged(each)]
    if moved:
        table = _matrix(moved)
        parts.append(Section("", (table, *legend(table))))
    if still:
        parts.append(Section("Workloads without a pod to place", (_matrix(still),), wide=True))
    if answer.pools:
        parts.append(Section("", (pool_table(answer.pools),)))
    if answer.traffic is not None:
        parts.append(traffic_section(answer.traffic))
    parts += _details(answer, [*moved, *still])
    return Page("Simulation", tuple(parts))


def _is_unchanged(each: PlacedWorkload) -> bool:
    moved = any(one.domains != one.before for one in each.constraints)
    return not (moved or each.pending or each.notes or each.placed != each.existing)


def _rank(each: PlacedWorkload) -> int:
    """Return 0 if pods are pending, 1 if a skew is exceeded, 2 if one domain has all pods, else 3."""
    if each.pending:
        return 0
    exceeded = [one for one in each.constraints if one.skew > one.max_skew]
    if any(one.hard for one in exceeded):
        return 1
    return 2 if exceeded or any(one.only_domain for one in each.constraints) else 3


def _matrix(workloads: list[PlacedWorkload]) -> Table:
    key = matrix_key(each.constraints for each in workloads)
    order = sorted(workloads, key=_rank) if len(workloads) > _FEW else workloads
    return matrix([_row(list(alike), key) for _, alike in groupby(order, _shape)], ("PLACED",), key)


def _row(alike: list[PlacedWorkload], key: str) -> Row:
    """Return the row of a workload, or of several bare pods with the same result."""
    first = alike[0]
    name = f"{first.namespace}/{first.name}" + (f" +{len(alike) - 1}" if len(alike) > 1 else "")
    bounds = sum((each.placed_bounds for each in alike), Bounds.exactly(0))
    total = sum(max(each.replicas, each.placed + each.pending) for each in alike)
    role: Role = "unsure" if not bounds.known else "bad" if first.pending else ""
    before = f"{first.existing} before" if first.existing and first.existing != first.placed else ""
    says = "; ".join(filter(None, (before, said_of(first.kind, first.constraints, key))))
    return name, first.constraints, (Span(f"{bounds}/{total}", role),), says


def _shape(each: PlacedWorkload) -> object:
    """Return a key that is equal for bare pods with the same result."""
    if each.kind != "Pod":
        return each.namespace, each.kind, each.name
    counts = [(one.topology_key, one.max_skew, one.domains) for one in each.constraints]
    return each.namespace, each.kind, each.pending, each.existing, counts


def _facts(answer: Simulation) -> Iterator[Fact]:
    if answer.evictions:
        names = [f"{each.namespace}/{each.name}" for each in answer.evictions]
        pods = counted(len(names), "pod")
        yield Fact("evicted", f"{pods} for more important pods: {listed(names, _SHOWN)}")
    if answer.removed:
        names = [each.pod for each in answer.removed]
        yield Fact("removed", f"{counted(len(names), 'pod')} by --scale: {listed(names, _SHOWN)}")
    left = _kinds(answer, modelled=False)
    if left:
        yield Fact("not modelled", left)
    for each in answer.warnings:
        yield Fact("warning", each)
    yield from (Fact("note", each) for each in answer.notes if not _is_of_every_run(each))
    noted: dict[str, list[str]] = {}
    for workload in answer.workloads:
        for note in workload.notes:
            noted.setdefault(note, []).append(f"{workload.namespace}/{workload.name}")
    for note, names in noted.items():
        yield Fact("note", f"{listed(names, _SHOWN)}: {note}")
    still = [each for each in answer.workloads if _is_unchanged(each)]
    if still and len(still) < len(answer.workloads):
        names = [f"{each.namespace}/{each.name}" for each in still]
        yield Fact("nothing to place", f"{counted(len(still), 'workload')}: {listed(names, _SHOWN)}")


def _details(answer: Simulation, workloads: list[PlacedWorkload]) -> Iterator[Section]:
    yield from fix_sections(answer.remedies, "Fixes; more for one workload: topospread why WORKLOAD")
    yield from pending_sections(answer.pending)
    if answer.evictions:
        evicted = tuple(
            (f"{each.namespace}/{each.name}", each.node, each.preemptor, each.created_anew or "–")
            for each in answer.evictions
        )
        yield Section("", (Table(("EVICTED", "FROM", "FOR", "RECREATED AS"), evicted),), wide=True)
    if answer.removed:
        removed = tuple((each.pod, each.node or "–") for each in answer.removed)
        yield Section("", (Table(("REMOVED BY --scale", "FROM"), removed),), wide=True)
    landed = tuple(_landed(answer))
    if landed:
        yield Section("", (Table(("PLACED", "NODES"), landed),), wide=True)
    for each in workloads:
        yield from constraint_sections(each.constraints, f"{each.namespace}/{each.name}")
    facts = [Fact("note", each) for each in answer.notes if _is_of_every_run(each)]
    skipped = _kinds(answer, modelled=True)
    if skipped:
        facts.append(Fact("skipped", skipped))
    if facts:
        yield Section("", tuple(facts), wide=True)


def _is_of_every_run(note: str) -> bool:
    return any(part in note for part in _OF_EVERY_RUN)


def _kinds(answer: Simulation, *, modelled: bool) -> str:
    """Return the skipped kinds and their numbers, either of those that affect scheduling or of the others."""
    return ", ".join(
        f"{number} {kind}"
        for kind, number in answer.skipped.items()
        if (kind.partition(".")[0] not in NOT_MODELLED) == modelled
    )


def _landed(answer: Simulation) -> Iterator[tuple[Cell, ...]]:
    """Yield each workload with its new pods' nodes."""
    nodes: dict[str, Counter[str]] = {}
    for each in answer.placements:
        if each.node is not None:
            name = f"{each.namespace}/{each.workload.partition('/')[2]}"
            nodes.setdefault(name, Counter())[each.node] += 1
    for name, found in nodes.items():
        yield name, ", ".join(f"{node} ×{found[node]}" if found[node] > 1 else node for node in in_order(found))
