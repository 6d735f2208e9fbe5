"""The page of ``topospread simulate --orders``: the verdict, and bounds by workload and domain."""

from __future__ import annotations

from collections.abc import Sequence

from topospread.answers.orders import Orders
from topospread.answers.words import counted, listed, noun_of
from topospread.render.blocks import Fact, Page, Part, Section, Table, Verdict
from topospread.simulation.orders import WorkloadBounds

from .pending import unjudged_facts
from .spread_table import keys_of, matrix, matrix_key


def page(answer: Orders) -> Page:
    """Return the page for several orders."""
    parts: list[Part] = [Verdict(answer.verdict, answer.says), *unjudged_facts(answer.unjudged)]
    if answer.evicted.most:
        parts.append(Fact("evicted", f"{answer.evicted} pods for more important pods"))
    parts += [Fact("warning", each) for each in answer.warnings]
    key = matrix_key(each.constraints for each in answer.workloads)
    placed = [each for each in answer.workloads if not each.pending.most]
    same = [each for each in placed if each.same]
    same_by_key = [each for each in placed if not each.same and _is_same_by(key, each)]
    differ = [each for each in answer.workloads if each not in same and each not in same_by_key]
    for title, alike in (("same in every order", same), (f"same by {noun_of(key)} in every order", same_by_key)):
        if alike:
            names = [f"{each.namespace}/{each.name}" for each in alike]
            parts.append(Fact(title, f"{counted(len(alike), 'workload')}: {listed(names, 3)}"))
    same += same_by_key
    if differ:
        parts.append(Section("", (_matrix(differ, key),)))
    if same:
        where = f" by {noun_of(key)}" if same_by_key else ""
        parts.append(Section(f"Workloads that are the same{where} in every order", (_matrix(same, key),), wide=True))
    for other in keys_of(each.constraints for each in answer.workloads):
        if other != key:
            parts.append(Section(f"By {other}", (_matrix([*differ, *same], other),), wide=True))
    if answer.notes:
        parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page("Simulation in several orders", tuple(parts))


def _is_same_by(key: str, one: WorkloadBounds) -> bool:
    """Return whether every order places the workload's pods in the same domains of the key."""
    spreads = [each for each in one.constraints if each.topology_key == key]
    return bool(spreads) and all(each.known for spread in spreads for each in spread.domains.values())


def _matrix(workloads: Sequence[WorkloadBounds], key: str) -> Table:
    rows = [
        (f"{each.namespace}/{each.name}", each.constraints, (each.pending, each.replicas), "") for each in workloads
    ]
    return matrix(rows, ("PENDING", "OF"), key)
