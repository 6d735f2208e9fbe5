"""The page of ``topospread simulate --orders``: the verdict, and bounds by workload and domain."""

from __future__ import annotations

from collections.abc import Sequence

from topospread.answers.orders import Orders
from topospread.answers.words import counted, listed
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
    differ = [each for each in answer.workloads if not each.same or each.pending.most]
    same = [each for each in answer.workloads if each.same and not each.pending.most]
    if same:
        names = [f"{each.namespace}/{each.name}" for each in same]
        parts.append(Fact("same in every order", f"{counted(len(same), 'workload')}: {listed(names, 3)}"))
    key = matrix_key(each.spread for each in answer.workloads)
    if differ:
        parts.append(Section("", (_matrix(differ, key),)))
    if same:
        parts.append(Section("Workloads that are the same in every order", (_matrix(same, key),), wide=True))
    for other in keys_of(each.spread for each in answer.workloads):
        if other != key:
            parts.append(Section(f"By {other}", (_matrix([*differ, *same], other),), wide=True))
    if answer.notes:
        parts.append(Section("", tuple(Fact("note", each) for each in answer.notes), wide=True))
    return Page("Simulation in several orders", tuple(parts))


def _matrix(workloads: Sequence[WorkloadBounds], key: str) -> Table:
    rows = [(f"{each.namespace}/{each.name}", each.spread, (each.pending, each.replicas), "") for each in workloads]
    return matrix(rows, ("PENDING", "OF"), key)
