"""The domains of each constraint for one pod: the arithmetic, and what other plugins have against their nodes."""

from __future__ import annotations

import numpy as np

from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.cluster.arrays import Bools, Codes
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain

from .obstacles import SPREAD, TAINTS, UNSCHEDULABLE, Obstacles
from .result import ConstraintTable, DomainRow


def constraint_tables(obstacles: Obstacles) -> tuple[ConstraintTable, ...]:
    """Every constraint in force with its eligible domains."""
    passes = obstacles.passes_all_but(SPREAD)
    return tuple(_table(each, obstacles, passes) for each in obstacles.verdict.arithmetic)


def _table(arithmetic: ConstraintArithmetic, obstacles: Obstacles, passes: Bools) -> ConstraintTable:
    column = obstacles.cluster.nodes.labels(arithmetic.topology_key)
    codes = column.codes[obstacles.rows]
    left_out = {name for each in arithmetic.left_out for name in each.nodes}
    takes_part = codes >= 0
    if left_out:
        takes_part &= np.fromiter((name not in left_out for name in obstacles.verdict.nodes), np.bool_, len(codes))
    open_nodes = np.bincount(codes[takes_part & passes], minlength=len(column.values))
    closed = takes_part & ~passes
    reasons = _reasons_by_domain(obstacles, np.where(closed, codes, -1))
    code_of = {name: code for code, name in enumerate(column.values)}
    rows = tuple(
        _row(arithmetic, each, reasons.get(code_of[each.name], {}), int(open_nodes[code_of[each.name]]))
        for each in arithmetic.domains
    )
    return ConstraintTable(arithmetic, rows)


def _reasons_by_domain(obstacles: Obstacles, codes: Codes) -> dict[int, dict[str, int]]:
    """Code of a domain → reason of another plugin → its nodes; −1 are nodes that do not matter."""
    found: dict[int, dict[str, int]] = {}
    cordoned = _closed_by_cordon_alone(obstacles)
    for says in obstacles.says:
        if says.plugin == SPREAD:
            continue
        which = (says.codes != 0) & (codes >= 0)
        if says.plugin == TAINTS:
            which &= ~cordoned
        pairs, counts = np.unique(np.stack([codes[which], says.codes[which]]), axis=1, return_counts=True)
        for (domain, code), number in zip(pairs.T.tolist(), counts.tolist(), strict=True):
            reasons = found.setdefault(domain, {})
            for reason in says.status[code].reasons:
                reasons[reason] = reasons.get(reason, 0) + number
    return found


def _closed_by_cordon_alone(obstacles: Obstacles) -> Bools:
    """Nodes that are not tolerated for the taint that a cordon brings and no other, bool[nodes]."""
    both = obstacles.rejected_by(UNSCHEDULABLE) & obstacles.rejected_by(TAINTS)
    codes = obstacles.cluster.nodes.taints[obstacles.rows]
    only = [
        code
        for code in np.unique(codes[both]).tolist()
        if all(each.key == UNSCHEDULABLE_TAINT.key for each in obstacles.untolerated(code))
    ]
    return both & np.isin(codes, only)


def _row(arithmetic: ConstraintArithmetic, domain: Domain, rejected: dict[str, int], open_nodes: int) -> DomainRow:
    return DomainRow(
        name=domain.name,
        matching=domain.matching,
        nodes=domain.nodes,
        after=domain.matching + arithmetic.counts_itself,
        skew=domain.skew,
        allowed=domain.allowed,
        holds_minimum=domain.name in arithmetic.minimum_domains,
        rejected=rejected,
        open=open_nodes,
    )
