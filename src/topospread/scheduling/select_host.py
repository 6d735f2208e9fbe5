"""Which of some nodes is the best: filters and scores of cluster-wide plugins set against each other, and ties.

The nodes come from `cycle`: the heads of a view's buckets, or all nodes that are open for the pod. Equals are taken by
name unless another way is given; what kube-scheduler does is pkg/scheduler/schedule_one.go (``selectHost``) until 1.34
and pkg/scheduler/framework/sorted_nodes.go since.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.cluster.arrays import Ints
from topospread.config.version_rules import until

from .buckets import Entry
from .view import View

_FEW = 24
"""Up to so many heads are compared one by one; more of them as arrays."""


AmongEquals = Callable[[Ints, Ints], int]
"""Rows in the order in which they were looked at, and the places in it of those that are best → the row to take."""


@dataclass(frozen=True, slots=True)
class ChoiceRules:
    """What of the choice is not the same in every Kubernetes version."""

    draws: bool = until(
        "1.34",
        "Among equally good nodes kube-scheduler draws no more, unless an extender scored them: it takes the one that "
        "its heap of scores has on top, which follows from the order in which it looked at the nodes. `--seed` has "
        "nothing to draw then; `--sampling kube` takes that node.",
    )


def drawn(source: random.Random, ranks: Sequence[int]) -> AmongEquals:
    """Any of the equals, each as likely as the others; ``ranks`` by row, so that a seed gives the same everywhere."""

    def take(rows: Ints, best: Ints) -> int:
        by_name: list[int] = sorted(rows[best].tolist(), key=ranks.__getitem__)
        return by_name[source.randrange(len(by_name))]

    return take


def top_of_heap(rows: Ints, best: Ints) -> int:
    """The node that a heap of the totals has on top: of the places in its tree the first from the root leftwards.

    Go's ``heap.Init`` moves a child up only where it is better than its parent, and the right one only where it is
    better than the left one.
    """
    return int(rows[min(best.tolist(), key=_way_from_root)])


def _way_from_root(place: int) -> str:
    """Left and right turns to a place, as 0 and 1; a place sorts before those below it, the left before the right."""
    return f"{place + 1:b}"[1:]


def best_of(
    view: View, rows: Ints, nodes: Ints | None = None, among: AmongEquals | None = None
) -> tuple[int, int] | None:
    """The best of some rows that are open, as (row, total); ``None`` when none of them is feasible.

    Args:
        nodes: how many nodes each row stands for, ``None`` for itself.
        among: which of equals to take; ``None`` takes the first by name.
    """
    if view.cluster_filters:
        passes = view.feasible(rows)
        if not passes.all():
            rows = rows[passes]
            nodes = None if nodes is None else nodes[passes]
            if not len(rows):
                return None
    total = view.total(rows, nodes)
    highest = int(total.max())
    best = np.flatnonzero(total == highest)
    if among is not None:
        return among(rows, best), highest
    return min(rows[best].tolist(), key=view.cluster.nodes.ranks.__getitem__), highest


def best_of_heads(view: View, entries: Sequence[Entry], sizes: Sequence[int]) -> tuple[int, int] | None:
    """The best of the heads of buckets that hold so many rows each, as (row, total)."""
    if len(entries) > _FEW or not view.few:
        heads = np.array([row for _, _, row in entries], dtype=np.int64)
        return best_of(view, heads, np.array(sizes, dtype=np.int64))
    rows = [row for _, _, row in entries]
    for few_filter in view.few.filters:
        codes = few_filter.filter_few(rows)
        if any(codes):
            left = [i for i, code in enumerate(codes) if not code]
            if not left:
                return None
            entries, sizes, rows = [entries[i] for i in left], [sizes[i] for i in left], [rows[i] for i in left]
    worse = [negative for negative, _, _ in entries]
    for weight, few_score in view.few.scores:
        points = few_score.normalize_few(few_score.score_few(rows, sizes))
        worse = [each - weight * more for each, more in zip(worse, points, strict=True)]
    lowest, _, row = min(zip(worse, [rank for _, rank, _ in entries], rows, strict=True))
    return row, -lowest
