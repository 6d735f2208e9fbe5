"""The domains of each constraint for one pod: the arithmetic, and other plugins' rejections of their nodes."""

from __future__ import annotations

import numpy as np

from topospread.cluster.arrays import Bools, Codes
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domain

from .rejections_per_node import SPREAD, TAINTS, RejectionsPerNode
from .result import ConstraintTable, DomainRow


def constraint_tables(obstacles: RejectionsPerNode) -> tuple[ConstraintTable, ...]:
    """Return every constraint in force with its eligible domains."""
    passes = obstacles.passes_all_but(SPREAD)
    return tuple(_table(each, obstacles, passes) for each in obstacles.verdict.arithmetic)


def _table(arithmetic: ConstraintArithmetic, obstacles: RejectionsPerNode, passes: Bools) -> ConstraintTable:
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
    holders = set(arithmetic.minimum_domains)
    rows = []
    for each in arithmetic.domains:
        code = code_of[each.name]
        rows.append(_row(each, arithmetic, each.name in holders, (reasons.get(code, {}), int(open_nodes[code]))))
    return ConstraintTable(arithmetic, tuple(rows))


def _reasons_by_domain(obstacles: RejectionsPerNode, codes: Codes) -> dict[int, dict[str, int]]:
    """Return domain code → reason of another plugin → number of nodes.

    ``codes``: domain code of each node; nodes with −1 are ignored.
    """
    found: dict[int, dict[str, int]] = {}
    cordoned = obstacles.tainted_by_cordon_alone()
    for says in obstacles.says:
        if says.plugin == SPREAD:
            continue
        which = (says.codes != 0) & (codes >= 0)
        if says.plugin == TAINTS:
            which &= ~cordoned
        # Filter codes can be as large as 2^62: combine the domain with the code's index, which fits in int64.
        kinds, positions = np.unique(says.codes[which], return_inverse=True)
        joined, counts = np.unique(codes[which].astype(np.int64) * len(kinds) + positions, return_counts=True)
        for pair, number in zip(joined.tolist(), counts.tolist(), strict=True):
            reasons = found.setdefault(pair // len(kinds), {})
            for reason in says.status[int(kinds[pair % len(kinds)])].reasons:
                reasons[reason] = reasons.get(reason, 0) + number
    return found


def _row(
    domain: Domain, arithmetic: ConstraintArithmetic, holds_minimum: bool, others: tuple[dict[str, int], int]
) -> DomainRow:
    """Return a domain as data. ``others``: (reason → nodes that other plugins reject, nodes that they all accept)."""
    rejected, open_nodes = others
    return DomainRow(
        name=domain.name,
        matching=domain.matching,
        nodes=domain.nodes,
        after=domain.matching + arithmetic.counts_itself,
        skew=domain.skew,
        allowed=domain.allowed,
        holds_minimum=holds_minimum,
        rejected=rejected,
        open=open_nodes,
    )
