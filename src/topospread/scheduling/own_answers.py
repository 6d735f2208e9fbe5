"""What plugins say of each node by the node alone and the pods on it: whether it is open, and its own points.

What rests on the whole cluster, and points that are set against those of other nodes, are `view`'s matter.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools, Ints, Rows, grown
from topospread.plugins.interface import Scope, length, numbers

from .framework import Judges, WeightedScore

_MEMO_LIMIT = 1 << 16


class OwnAnswers:
    """The answers for one pod class, kept up to date row by row.

    Plugins that look at what pods use in sum, and at no pod itself, are asked once for each state of a node
    (`NodeTable.state`); what they said is remembered.

    Attributes:
        flat: scores that are normalised and whose raw points are 0 on every node: they give all nodes the same,
            whichever are feasible, and stand in ``points``.
        unflattened: a node changed so that one of them is no longer flat.
    """

    def __init__(self, cluster: Cluster, judges: Judges) -> None:
        self._cluster = cluster
        self._judges = judges
        filters, scores = [each.filter for each in judges.filters], judges.scores
        plain = [each for each in scores if each.normalized is None]
        self._node_filters = [each for each in filters if each.scope is Scope.NODE]
        self._pod_filters = [each for each in filters if Scope.NODE < each.scope < Scope.CLUSTER]
        self._node_scores = [each for each in plain if each.score.scope is Scope.NODE]
        self._pod_scores = [each for each in plain if Scope.NODE < each.score.scope < Scope.CLUSTER]
        self._by_usage = all(each.scope is Scope.USAGE for each in self._pod_filters) and all(
            each.score.scope is Scope.USAGE for each in self._pod_scores
        )
        self.flat = [each for each in scores if self._is_flat(each)]
        self.unflattened = False
        self._memo: dict[int, tuple[bool, int]] = {}
        self._unwritten: set[int] = set()
        self._node_open: Bools = np.zeros(0, dtype=np.bool_)
        self._node_points: Ints = np.zeros(0, dtype=np.int64)
        self._open: Bools = np.zeros(0, dtype=np.bool_)
        self._points: Ints = np.zeros(0, dtype=np.int64)
        self.grow()
        self._renew(slice(0, cluster.nodes.size))

    @property
    def open(self) -> Bools:
        """Rows that every filter lets pass that rests on the node and its pods, bool[capacity]."""
        self._write()
        return self._open

    @property
    def points(self) -> Ints:
        """Weighted sum of the scores that rest on the node and its pods and are not normalised, int64[capacity]."""
        self._write()
        return self._points

    def of(self, rows: Collection[int]) -> list[tuple[int, bool, int]]:
        """Each row with whether it is open, and its points."""
        if not self._by_usage:
            return [(row, bool(self._open[row]), int(self._points[row])) for row in rows]
        known, states = self._memo, self._cluster.nodes.states
        if len(known) >= _MEMO_LIMIT:
            known.clear()
        unknown = [row for row in rows if states[row] not in known]
        if unknown:
            self._remember(unknown)
        is_open, points = self._node_open.item, self._node_points.item
        return [
            (row, passes and is_open(row), more + points(row)) for row in rows for passes, more in (known[states[row]],)
        ]

    def pods_changed(self, rows: set[int]) -> None:
        """Pods came to these nodes or left them."""
        if self._by_usage:
            self._unwritten |= rows
        else:
            self._evaluate(np.fromiter(rows, dtype=np.int64))

    def nodes_changed(self, rows: set[int]) -> bool:
        """Node objects changed; whether that means all nodes, as a score rests on all of them."""
        if any(getattr(each.score, "rests_on_all_nodes", False) for each in self._node_scores):
            self._renew(slice(0, self._cluster.nodes.size))
            return True
        self._renew(np.fromiter(rows, dtype=np.int64))
        return False

    def grow(self) -> None:
        """Make room for rows that are new."""
        capacity = self._cluster.nodes.capacity
        for name in ("_node_open", "_node_points", "_open", "_points"):
            setattr(self, name, grown(getattr(self, name), capacity))

    def _is_flat(self, each: WeightedScore) -> bool:
        if each.normalized is None or each.score.scope is not Scope.NODE:
            return False
        return not each.score.score(slice(0, self._cluster.nodes.size)).any()

    def _renew(self, rows: Rows) -> None:
        """Everything, as the node objects changed."""
        nodes, judges = self._cluster.nodes, self._judges
        open_ = nodes.alive[rows].copy()
        if judges.rejected is not None:
            open_[:] = False
        elif judges.narrowed is not None:
            kept = [nodes.row_of[name] for name in judges.narrowed if name in nodes.row_of]
            open_ &= np.isin(numbers(rows), kept)
        for each in self._node_filters:
            open_ &= each.filter(rows) == 0
        self._node_open[rows] = open_
        points = np.zeros(length(rows), dtype=np.int64)
        for score in self._node_scores:
            points += score.weight * score.score.score(rows)
        for score in self.flat:
            raw = score.score.score(rows)
            self.unflattened |= bool(raw.any())
            assert score.normalized is not None
            points += score.weight * score.normalized.normalize(np.zeros_like(raw), numbers(rows))
        self._node_points[rows] = points
        self._evaluate(rows)

    def _evaluate(self, rows: Rows) -> None:
        passes, points = self._ask(rows)
        self._open[rows] = self._node_open[rows] & passes
        self._points[rows] = self._node_points[rows] + points

    def _ask(self, rows: Rows) -> tuple[Bools, Ints]:
        """Whether the filters on pods and usage let rows pass, and what the scores on them add up to."""
        passes = np.ones(length(rows), dtype=np.bool_)
        for each in self._pod_filters:
            passes &= each.filter(rows) == 0
        points = np.zeros(length(rows), dtype=np.int64)
        for score in self._pod_scores:
            points += score.weight * score.score.score(rows)
        return passes, points

    def _remember(self, rows: Collection[int]) -> None:
        """Number the states of nodes, and ask the plugins about those not met before."""
        state, memo = self._cluster.nodes.state, self._memo
        asked = {number: row for row in rows if (number := state(row)) not in memo}
        if not asked:
            return
        passes, points = self._ask(np.fromiter(asked.values(), dtype=np.int64))
        memo.update(zip(asked, zip(passes.tolist(), points.tolist(), strict=True), strict=True))

    def _write(self) -> None:
        if self._unwritten:
            for row, is_open, points in self.of(self._unwritten):
                self._open[row] = is_open
                self._points[row] = points
            self._unwritten.clear()
