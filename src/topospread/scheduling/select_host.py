"""The choice of the best node: filters and scores of cluster-wide plugins, and ties between equal nodes.

`node_search` provides the nodes: the best node of each group (`groups`), or all feasible nodes. Of nodes with equal
totals, the first by name is taken unless the caller gives another choice.
Source: pkg/scheduler/schedule_one.go (``selectHost``) until 1.34, pkg/scheduler/framework/sorted_nodes.go since.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import add, not_

import numpy as np

from topospread.cluster.arrays import Ints
from topospread.cluster.nodes import NodeTable
from topospread.config.gates import Gates
from topospread.config.version_rules import rules_for, until

from .groups import Heads
from .view import View

_FEW = 32
"""Up to this number of groups, their best nodes are compared one by one; above it, as arrays."""


AmongEquals = Callable[[Ints, Ints], int]
"""(rows in the order of evaluation, indexes of the rows with the highest total) → the row to take."""


@dataclass(frozen=True, slots=True)
class ChoiceRules:
    """The differences between Kubernetes versions in the choice among nodes with equal totals."""

    draws: bool = until(
        "1.34",
        "Among equally good nodes kube-scheduler no longer draws, unless an extender scored them. It "
        "takes the top of its heap of scores, which depends on the order of the nodes. `--sampling "
        "kube` takes that node.",
    )


def among_equals(
    gates: Sequence[Gates], nodes: NodeTable, source: random.Random | None, *, sampled: bool, always_draws: bool
) -> AmongEquals | None:
    """Return the function that chooses among nodes with equal totals; ``None`` to take the first by name.

    Args:
        gates: versions and gates of the profiles.
        source: source of random draws; ``None`` if no seed is given.
        sampled: whether nodes come in kube-scheduler's order of evaluation.
    """
    if not always_draws and not all(rules_for(ChoiceRules, each).draws for each in gates):
        return top_of_heap if sampled else None
    return None if source is None else drawn(source, nodes.ranks)


def drawn(source: random.Random, ranks: Sequence[int]) -> AmongEquals:
    """Return a function that draws uniformly among nodes with equal totals.

    ``ranks``: row → rank of its node's name. The draw is over names in order, so a seed always gives the same result.
    """

    def take(rows: Ints, best: Ints) -> int:
        by_name: list[int] = sorted(rows[best].tolist(), key=ranks.__getitem__)
        return by_name[source.randrange(len(by_name))]

    return take


def top_of_heap(rows: Ints, best: Ints) -> int:
    """Return the row at the top of kube-scheduler's heap of totals: of the best rows, the first by `_way_from_root`.

    Go's ``heap.Init`` moves a child up only if it is better than its parent, and the right child only if it is better
    than the left.
    """
    return int(rows[min(best.tolist(), key=_way_from_root)])


def _way_from_root(place: int) -> str:
    """Return the path from the heap's root to an index as text, "0" for left and "1" for right."""
    return f"{place + 1:b}"[1:]


def best_of(
    view: View, rows: Ints, nodes: Ints | None = None, among: AmongEquals | None = None
) -> tuple[int, int] | None:
    """Return (row, total score) of the best feasible row; ``None`` if no row is feasible.

    Args:
        rows: rows that pass the node-local filters.
        nodes: number of nodes for which each row stands (its group's size); ``None`` if each row is one node.
        among: choice among rows with equal totals; ``None`` takes the first by name.
    """
    rows, nodes = _filtered(view, rows, nodes)
    if not len(rows):
        return None
    total = view.total(rows, nodes)
    highest = int(total.max())
    best = np.flatnonzero(total == highest)
    if among is not None:
        return among(rows, best), highest
    return min(rows[best].tolist(), key=view.cluster.nodes.ranks.__getitem__), highest


def _filtered(view: View, rows: Ints, nodes: Ints | None) -> tuple[Ints, Ints | None]:
    """Return the rows that pass the cluster-wide filters, and their elements of ``nodes``."""
    if not view.cluster_filters:
        return rows, nodes
    passes = view.feasible(rows)
    if passes.all():
        return rows, nodes
    return rows[passes], None if nodes is None else nodes[passes]


def best_of_heads(view: View, heads: Heads) -> tuple[int, int] | None:
    """Return (row, total score) of the best feasible row among the groups' best rows; ``None`` if none is feasible."""
    if len(heads[0]) > _FEW or not view.one_by_one:
        rows_of, sizes_of = np.array(heads[0], dtype=np.int64), np.array(heads[1], dtype=np.int64)
        there = sizes_of > 0
        return best_of(view, rows_of[there], sizes_of[there])
    rows, sizes = heads[0].tolist(), heads[1].tolist()
    if 0 in sizes:
        rows, sizes = list(compress(rows, sizes)), list(filter(None, sizes))
    for each_filter in view.one_by_one.filters:
        if not rows:
            return None
        codes = each_filter.filter_each(rows)
        if any(codes):
            passes = list(map(not_, codes))
            rows, sizes = list(compress(rows, passes)), list(compress(sizes, passes))
    if not rows:
        return None
    totals = list(map(view.node_local.points.item, rows))
    for weight, each_score in view.one_by_one.scores:
        points = each_score.normalize_each(each_score.score_each(rows, sizes))
        totals = list(map(add, totals, [weight * each for each in points]))
    highest = max(totals)
    if totals.count(highest) == 1:
        return rows[totals.index(highest)], highest
    best = compress(rows, map(highest.__eq__, totals))
    return min(best, key=view.cluster.nodes.ranks.__getitem__), highest
