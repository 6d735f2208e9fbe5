"""What the plugins derived for one pod class, kept up to date from the journal at the cost of what changed.

A view never decides by itself what a plugin would: it calls the plugins' formulas, on all rows when it is built
and on the changed rows after that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topospread.cluster import NODE_CHANGED, Change, Cluster, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows, grown
from topospread.plugins.interface import Scope, length, numbers

from .buckets import Buckets, GroupKey
from .framework import Framework, Judges, WeightedScore

_MEMO_LIMIT = 1 << 16


@dataclass(slots=True)
class Work:
    """Operations counted, so that the promise about cost is tested by counts and not by clocks.

    Attributes:
        built: views built from nothing.
        changes: journal entries read.
        rows: rows whose own points were evaluated anew (memo hits included).
        heads: bucket heads compared.
        full: placements that had to evaluate every node.
    """

    built: int = 0
    changes: int = 0
    rows: int = 0
    heads: int = 0
    full: int = 0


class View:
    """One pod class on one cluster under one profile.

    Attributes:
        judges: the plugins, prepared for the class.
        open: rows that every filter resting on the node alone lets pass, bool[capacity].
        points: weighted sum of the scores that rest on the node alone and are not normalised, int64[capacity].
    """

    def __init__(self, cluster: Cluster, framework: Framework, pod_class: PodClass, work: Work) -> None:
        self.cluster = cluster
        self.pod_class = pod_class
        self.work = work
        self.judges: Judges = framework.judges(pod_class, cluster)
        self._objects_version = cluster.objects.version
        self._position = cluster.journal.position
        self._renumbered = cluster.nodes.renumbered
        work.built += 1
        scores, filters = self.judges.scores, self.judges.filters
        self._node_filters = [each.filter for each in filters if each.filter.scope is Scope.NODE]
        self._pod_filters = [each.filter for each in filters if Scope.NODE < each.filter.scope < Scope.CLUSTER]
        self._cluster_filters = [each.filter for each in filters if each.filter.scope is Scope.CLUSTER]
        plain = [each for each in scores if each.normalized is None and each.score.scope < Scope.CLUSTER]
        self._node_scores = [each for each in plain if each.score.scope is Scope.NODE]
        self._pod_scores = [each for each in plain if each.score.scope is not Scope.NODE]
        self.relative_scores = [each for each in scores if each.normalized is not None or each not in plain]
        self._grouping = [each for each in self.relative_scores if each.score.scope is Scope.NODE]
        self._flat: list[WeightedScore] = []
        self._unflattened = False
        self._can_group = all(each.score.scope in (Scope.NODE, Scope.CLUSTER) for each in self.relative_scores)
        self._by_usage = all(each.scope is Scope.USAGE for each in self._pod_filters) and all(
            each.score.scope is Scope.USAGE for each in self._pod_scores
        )
        self._memo: dict[tuple[int, bytes], tuple[bool, int]] = {}
        self._buckets: Buckets | None = None
        self.node_open: Bools = np.zeros(0, dtype=np.bool_)
        self.node_points: Ints = np.zeros(0, dtype=np.int64)
        self.open: Bools = np.zeros(0, dtype=np.bool_)
        self.points: Ints = np.zeros(0, dtype=np.int64)
        self._grow()
        self._flatten()
        self._layout: list[int] = []
        self._take_layout()
        self._evaluate_nodes(slice(0, cluster.nodes.size))
        self._evaluate(slice(0, cluster.nodes.size))

    def _take_layout(self) -> None:
        """Leave out what has no say as things stand; the groups have to be made anew where this has changed."""
        layout = [each.layout for each in self.judges.watchers]
        if layout != self._layout:
            self._layout = layout
            self._buckets = None
            self.cluster_filters = [each for each in self._cluster_filters if not getattr(each, "idle", False)]
            self._active_scores = [each for each in self.relative_scores if not getattr(each.score, "idle", False)]

    @property
    def flat(self) -> frozenset[str]:
        """Plugins whose points are the same on every node and stand in ``points``."""
        return frozenset(each.plugin for each in self._flat)

    def _flatten(self) -> None:
        """Scores whose raw points are 0 on every node give all nodes the same, whichever are feasible.

        They are added to the nodes' own points; a node that changes this makes the view stale.
        """
        everything = slice(0, self.cluster.nodes.size)
        for each in list(self._grouping):
            if each.normalized is not None and not each.score.score(everything).any():
                self._flat.append(each)
                self._grouping.remove(each)
                self.relative_scores.remove(each)

    @property
    def fresh(self) -> bool:
        """Whether the view can still be brought up to date; if not, a new one has to be built."""
        return (
            self._objects_version == self.cluster.objects.version
            and self.cluster.journal.keeps(self._position)
            and not self._unflattened
        )

    @property
    def current(self) -> bool:
        """Whether nothing happened since the view was last brought up to date."""
        return self._position == self.cluster.journal.position and self.fresh

    def catch_up(self) -> None:
        """Read the journal and evaluate the rows it names; nothing else is touched."""
        changes = self.cluster.journal.since(self._position)
        assert changes is not None, "a view that is not fresh has to be built anew"
        if not changes:
            return
        self._position = self.cluster.journal.position
        self.work.changes += len(changes)
        self._grow()
        changed_nodes, regrouped, rows = self._apply(changes)
        regrouped |= changed_nodes
        if changed_nodes:
            self._on_nodes(changed_nodes)
        for row in rows:
            self._evaluate_row(row)
        self._take_layout()
        if self._buckets is not None:
            if self._renumbered != self.cluster.nodes.renumbered:
                self._renumbered = self.cluster.nodes.renumbered
                self._buckets = None
                return
            for row in rows - regrouped:
                self._place(self._buckets, row, self._buckets.key_of(row))
            for row in regrouped:
                self._place(self._buckets, row)

    def forget_since(self, position: int) -> None:
        """Take back the journal's newest changes, which this view has read and which undo each other."""
        self.cluster.journal.forget_since(position)
        self._position = position

    def buckets(self) -> Buckets | None:
        """Rows open for the pod, grouped; ``None`` when the plugins of this class allow no grouping."""
        if self._buckets is None and self._can_group:
            self._renumbered = self.cluster.nodes.renumbered
            rows = np.flatnonzero(self.open[: self.cluster.nodes.size])
            columns = self._group_columns(rows)
            if columns is None:
                self._can_group = False
                return None
            self._buckets = Buckets(columns, rows, self.points[rows], self.cluster.nodes.rank)
        return self._buckets

    def feasible(self, rows: Rows) -> Bools:
        """Whether rows pass every filter, bool[rows]."""
        result: Bools = self.open[rows].copy()
        for each in self.cluster_filters:
            result &= each.filter(rows) == 0
        return result

    def total(self, rows: Ints, nodes: Ints | None = None) -> Ints:
        """Weighted total of every score for feasible rows; ``nodes`` as in `Score.score`."""
        total: Ints = self.points[rows].copy()
        for each in self._active_scores:
            total += each.weight * points_of(each, rows, nodes)
        return total

    def _apply(self, changes: Sequence[Change]) -> tuple[set[int], set[int], set[int]]:
        """Tell the watchers; rows whose node changed, rows that may belong to another group, all rows named."""
        changed_nodes: set[int] = set()
        regrouped: set[int] = set()
        rows: set[int] = set()
        classes = self.cluster.classes
        watchers = self.judges.watchers
        for row, index, delta in changes:
            rows.add(row)
            if index == NODE_CHANGED:
                changed_nodes.add(row)
                for watcher in watchers:
                    regrouped.update(watcher.on_node(row))
            else:
                for watcher in watchers:
                    regrouped.update(watcher.on_pod(row, classes[index], delta))
        return changed_nodes, regrouped, rows

    def _on_nodes(self, changed: set[int]) -> None:
        rows = np.fromiter(changed, dtype=np.int64)
        self._evaluate_nodes(rows)
        if any(getattr(each.score, "rests_on_all_nodes", False) for each in self._node_scores):
            everything = slice(0, self.cluster.nodes.size)
            self._evaluate_nodes(everything)
            self._evaluate(everything)
            self._buckets = None

    def _evaluate_nodes(self, rows: Rows) -> None:
        """What rests on the node objects alone."""
        nodes = self.cluster.nodes
        open_ = nodes.alive[rows].copy()
        if self.judges.rejected is not None:
            open_[:] = False
        elif self.judges.narrowed is not None:
            kept = [nodes.row_of[name] for name in self.judges.narrowed if name in nodes.row_of]
            open_ &= np.isin(numbers(rows), kept)
        for each in self._node_filters:
            open_ &= each.filter(rows) == 0
        self.node_open[rows] = open_
        points = np.zeros(length(rows), dtype=np.int64)
        for score in self._node_scores:
            points += score.weight * score.score.score(rows)
        for score in self._flat:
            raw = score.score.score(rows)
            self._unflattened |= bool(raw.any())
            assert score.normalized is not None
            points += score.weight * score.normalized.normalize(np.zeros_like(raw), numbers(rows))
        self.node_points[rows] = points

    def _evaluate(self, rows: Rows) -> None:
        """What rests on the node and the pods on it."""
        self.work.rows += length(rows)
        open_ = self.node_open[rows].copy()
        for each in self._pod_filters:
            open_ &= each.filter(rows) == 0
        points = self.node_points[rows].copy()
        for score in self._pod_scores:
            points += score.weight * score.score.score(rows)
        self.open[rows] = open_
        self.points[rows] = points

    def _evaluate_row(self, row: int) -> None:
        """The same for one row, asked of the plugins once for each state of a node."""
        if not self._by_usage:
            self._evaluate(np.array([row], dtype=np.int64))
            return
        nodes = self.cluster.nodes
        key = (int(nodes.shape[row]), nodes.used[row].tobytes())
        known = self._memo.get(key)
        if known is None:
            only = np.array([row], dtype=np.int64)
            passes = all(each.filter(only)[0] == 0 for each in self._pod_filters)
            points = sum(each.weight * int(each.score.score(only)[0]) for each in self._pod_scores)
            if len(self._memo) >= _MEMO_LIMIT:
                self._memo.clear()
            known = self._memo[key] = (passes, points)
        self.work.rows += 1
        self.open[row] = self.node_open[row] and known[0]
        self.points[row] = self.node_points[row] + known[1]

    def _group_columns(self, rows: Rows) -> list[Ints] | None:
        columns = [each.score.score(rows) for each in self._grouping]
        for watcher in self.judges.watchers:
            more = watcher.groups(rows)
            if more is None:
                return None
            columns += more
        return columns

    def _place(self, buckets: Buckets, row: int, key: GroupKey | None = None) -> None:
        """Put a row into its bucket; ``key`` is the group's where it cannot have changed."""
        if not self.open[row]:
            buckets.drop(row)
            return
        if key is None:
            columns = self._group_columns(np.array([row], dtype=np.int64))
            assert columns is not None
            key = tuple(int(column[0]) for column in columns)
        buckets.put(row, key, int(self.points[row]), int(self.cluster.nodes.rank[row]))

    def _grow(self) -> None:
        capacity = self.cluster.nodes.capacity
        if capacity == len(self.open):
            return
        for name in ("node_open", "node_points", "open", "points"):
            setattr(self, name, grown(getattr(self, name), capacity))


def points_of(score: WeightedScore, rows: Ints, nodes: Ints | None = None) -> Ints:
    """A plugin's points for feasible rows, before its weight."""
    raw = score.score.score(rows, nodes)
    return raw if score.normalized is None else score.normalized.normalize(raw, rows)
