"""Which of some nodes is the best: filters and scores of cluster-wide plugins set against each other, ties by name.

The nodes come from `cycle`: the heads of a view's buckets, or all nodes that are open for the pod.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from topospread.cluster.arrays import Ints

from .buckets import Entry
from .view import View

_FEW = 24
"""Up to so many heads are compared one by one; more of them as arrays."""


def best_of(
    view: View, rows: Ints, nodes: Ints | None = None, draw: random.Random | None = None
) -> tuple[int, int] | None:
    """The best of some rows that are open, as (row, total); ``None`` when none of them is feasible.

    Args:
        nodes: how many nodes each row stands for, ``None`` for itself.
        draw: picks among equals as kube-scheduler does; ``None`` takes the first by name.
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
    equals = rows[total == highest]
    if len(equals) > 1:
        by_name = sorted(equals.tolist(), key=view.cluster.nodes.ranks.__getitem__)
        return by_name[draw.randrange(len(by_name)) if draw else 0], highest
    return int(equals[0]), highest


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
