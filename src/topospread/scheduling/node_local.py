"""Node-local answers: feasibility and score of each node by plugins that read only the node and its pods.

`view` adds plugins that read other nodes, and scores that are normalised over the feasible nodes.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.cluster import NO_ROW, Cluster, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows, grown
from topospread.cluster.objects import Reading
from topospread.cluster.pod_class import resized
from topospread.plugins.group_columns import GroupColumn
from topospread.plugins.interface import CrossNodeScore, Scope, length, numbers, offers
from topospread.plugins.registry import ASKED_OF_EACH_CLASS

from .framework import Framework, PreparedPlugins, WeightedScore
from .groups import Groups
from .own_rejections import OwnRejections

_MEMO_LIMIT = 1 << 16
_FEWEST_GROUPS, _GROUP_MEMORY = 4, 1 << 22
"""Minimum number of cached `Groups`, and bytes of memory within which more are kept, at 30 bytes a row."""
_ENCODER = msgspec.json.Encoder(enc_hook=repr, order="deterministic")


class Work(msgspec.Struct):
    """Counts of operations. Tests of the cost use them instead of clocks.

    Attributes:
        built: views that were built.
        changes: journal entries that views and shared answers read.
        rows: rows whose node-local score was evaluated again, including scores from the memo.
        heads: best rows of groups that were compared.
        full: placements that evaluated every node.
    """

    built: int = 0
    changes: int = 0
    rows: int = 0
    heads: int = 0
    full: int = 0


class NodeLocalAnswers:
    """Node-local answers for pod classes that differ only in their relations to other pods, updated row by row.

    Nodes in the same state (`NodeTable.state`) share the answers of plugins that read only summed usage: `_memo` is
    state → (passes, score).

    Attributes:
        plugins: the plugins, prepared for the first of these classes.
        node_open: rows that PreFilter leaves and that pass the filters of scope NODE, bool[capacity].
        open: rows that pass all filters of scopes NODE, USAGE and PODS, bool[capacity].
        points: weighted sum of the scores of these scopes that are not normalised, int64[capacity].
        worth: row → ``points`` as an int if the row is ``open``, else ``None``; for readers of single rows.
        flat: names of plugins whose normalised score is equal on all nodes, because the raw score is 0 on every node.
            Their score is part of ``points``.
    """

    def __init__(self, cluster: Cluster, plugins: PreparedPlugins, work: Work) -> None:
        self._cluster = cluster
        self.plugins = plugins
        self._work = work
        asked = [each for name, each in plugins.prepared.items() if name not in ASKED_OF_EACH_CLASS]
        self._objects = Reading(cluster.objects, [subject for each in asked for subject in each.reads])
        self._position = cluster.journal.join(self)
        self._numbering = cluster.nodes.numbering
        filters, scores = [each.filter for each in plugins.filters], plugins.scores
        plain = [each for each in scores if each.normalized is None]
        self._node_filters = [each for each in filters if each.scope is Scope.NODE]
        self._pod_filters = [each for each in filters if Scope.NODE < each.scope < Scope.CLUSTER]
        self._node_scores = [each for each in plain if each.score.scope is Scope.NODE]
        self._pod_scores = [each for each in plain if Scope.NODE < each.score.scope < Scope.CLUSTER]
        self._by_usage = all(each.scope is Scope.USAGE for each in self._pod_filters) and all(
            each.score.scope is Scope.USAGE for each in self._pod_scores
        )
        self._flat = [each for each in scores if self._is_flat(each)]
        self._unflattened = False
        self.flat = frozenset(each.plugin for each in self._flat)
        self._memo: dict[int, tuple[bool, int]] = {}
        self.node_open: Bools = np.zeros(0, dtype=np.bool_)
        self._node_points: Ints = np.zeros(0, dtype=np.int64)
        self.open: Bools = np.zeros(0, dtype=np.bool_)
        self.points: Ints = np.zeros(0, dtype=np.int64)
        self.worth: list[int | None] = []
        # Changed rows for `Groups.update`: row if its points may have changed, ~row if its node changed. `Groups.read`
        # counts all entries, including the first _forgotten entries, which were dropped.
        self._log = array("q")
        self._forgotten = 0
        self._groups: OrderedDict[Hashable, Groups] = OrderedDict()
        self._grow()
        self._renew(slice(0, cluster.nodes.size))

    @cached_property
    def rejections(self) -> OwnRejections:
        """Each node's first rejection by these plugins; call its `catch_up` before use."""
        return OwnRejections(self._cluster, self.plugins)

    def groups(self, key: Hashable, columns: Sequence[GroupColumn]) -> Groups:
        """Return the feasible nodes grouped by columns, up to date. Equal keys return the same groups."""
        known = self._groups.get(key)
        log_end = self._forgotten + len(self._log)
        if known is not None and known.read < log_end:
            changed = self._log[known.read - self._forgotten :] if known.read >= self._forgotten else None
            known = known if changed is not None and known.update(changed) else None
        if known is None:
            known = self._groups[key] = Groups(columns, self.worth, self.points, self._cluster.nodes)
            if len(self._groups) > max(_FEWEST_GROUPS, _GROUP_MEMORY // self._cluster.nodes.capacity):
                self._groups.popitem(last=False)
        known.read = log_end
        self._groups.move_to_end(key)
        return known

    def _note(self, rows: Iterable[int]) -> None:
        """Append changed rows to the log. Drop its older half if it becomes long."""
        self._log.extend(rows)
        if len(self._log) > 4 * self._cluster.nodes.capacity:
            half = len(self._log) // 2
            self._forgotten += half
            del self._log[:half]

    def catch_up(self) -> bool:
        """Evaluate the rows that changed. Return False if new answers must be built."""
        changes = self._cluster.journal.since(self._position, self)
        if changes is None or self._unflattened or self._numbering != self._cluster.nodes.numbering:
            return False
        if not self._objects.unchanged():
            return False
        if changes:
            self._position = self._cluster.journal.position
            self._work.changes += len(changes)
            rows: set[int] = set()
            changed_nodes = []
            for row, pod_class, what in changes:
                if pod_class is not None:
                    rows.add(row)
                elif row != NO_ROW:
                    rows.add(row)
                    if not what:
                        changed_nodes.append(row)
            if changed_nodes:
                self._grow()
                scores = [each.score for each in self._node_scores]
                if any(offers(each, CrossNodeScore) and each.depends_on_other_nodes for each in scores):
                    self._renew(slice(0, self._cluster.nodes.size))
                else:
                    self._renew(np.fromiter(changed_nodes, dtype=np.int64))
                self._note([~row for row in changed_nodes])
            if rows:
                self._pods_changed(rows)
                self._note(rows)
        return not self._unflattened

    def rewind(self, position: int) -> None:
        """Set the position after the journal took back changes that were read."""
        self._position = position

    def _pods_changed(self, rows: Collection[int]) -> None:
        self._work.rows += len(rows)
        if not self._by_usage:
            self._evaluate(np.fromiter(rows, dtype=np.int64))
            return
        known, states = self._memo, self._cluster.nodes.states
        if len(known) >= _MEMO_LIMIT:
            known.clear()
        asked = {}
        for row in rows:
            number = states[row]
            if number < 0:
                number = self._cluster.nodes.state(row)
            if number not in known:
                asked[number] = row
        if asked:
            self._remember(asked)
        node_open, node_points = self.node_open.item, self._node_points.item
        for row in rows:
            passes, points = known[states[row]]
            self.open[row] = passes = passes and node_open(row)
            self.points[row] = points = points + node_points(row)
            self.worth[row] = points if passes else None

    def _grow(self) -> None:
        capacity = self._cluster.nodes.capacity
        for name in ("node_open", "_node_points", "open", "points"):
            setattr(self, name, grown(getattr(self, name), capacity))
        self.worth.extend([None] * (capacity - len(self.worth)))

    def _is_flat(self, each: WeightedScore) -> bool:
        if each.normalized is None or each.score.scope is not Scope.NODE:
            return False
        return not each.score.score(slice(0, self._cluster.nodes.size)).any()

    def _renew(self, rows: Rows) -> None:
        """Evaluate all plugins for rows whose node changed."""
        self._work.rows += length(rows)
        if isinstance(rows, slice):
            self._groups.clear()
        nodes, plugins = self._cluster.nodes, self.plugins
        open_ = nodes.alive[rows].copy()
        if plugins.rejected is not None:
            open_[:] = False
        elif plugins.narrowed is not None:
            kept = [nodes.row_of[name] for name in plugins.narrowed if name in nodes.row_of]
            open_ &= np.isin(numbers(rows), kept)
        for each in self._node_filters:
            open_ &= each.filter(rows) == 0
        self.node_open[rows] = open_
        points = np.zeros(length(rows), dtype=np.int64)
        for score in self._node_scores:
            points += score.points(rows)
        for score in self._flat:
            raw = score.score.score(rows)
            self._unflattened |= bool(raw.any())
            assert score.normalized is not None
            points += score.weight * score.normalized.normalize(np.zeros_like(raw), numbers(rows))
        self._node_points[rows] = points
        self._evaluate(rows)

    def _evaluate(self, rows: Rows) -> None:
        passes, points = self._ask(rows)
        self.open[rows] = self.node_open[rows] & passes
        self.points[rows] = self._node_points[rows] + points
        answers = zip(self.open[rows].tolist(), self.points[rows].tolist(), strict=True)
        for row, (open_, worth) in zip(numbers(rows).tolist(), answers, strict=True):
            self.worth[row] = worth if open_ else None

    def _ask(self, rows: Rows) -> tuple[Bools, Ints]:
        """Return whether rows pass the filters of scopes USAGE and PODS, and the sum of these scopes' scores."""
        passes = np.ones(length(rows), dtype=np.bool_)
        for each in self._pod_filters:
            passes &= each.filter(rows) == 0
        points = np.zeros(length(rows), dtype=np.int64)
        for score in self._pod_scores:
            points += score.points(rows)
        return passes, points

    def _remember(self, asked: Mapping[int, int]) -> None:
        """Call the plugins for new states and memoize the answers. ``asked``: state → a row in that state."""
        passes, points = self._ask(np.fromiter(asked.values(), dtype=np.int64))
        self._memo.update(zip(asked, zip(passes.tolist(), points.tolist(), strict=True), strict=True))


def sharing_key(framework: Framework, pod_class: PodClass) -> Hashable | None:
    """Return a key of classes with equal node-local answers; ``None`` for a class that shares none.

    The key covers the pod except its relations to other pods (spread constraints, inter-pod affinity, labels), its
    device claims, its priority, and the node of a running pod. Classes with volumes or host ports share no answers,
    because their answers depend on other objects or pods.
    """
    spec = pod_class.pod.spec
    if pod_class.volumes or pod_class.host_ports:
        return None
    affinity = None if spec.affinity is None else replace(spec.affinity, pod_affinity=None, pod_anti_affinity=None)
    others = {
        "topology_spread_constraints": None,
        "resource_claims": None,
        "priority": None,
        "priority_class_name": None,
        "node_name": None,
    }
    alone = replace(spec, affinity=affinity, **others)
    described = _ENCODER.encode((pod_class.node_name, sorted(pod_class.request.items()), alone, resized(pod_class.pod)))
    return (framework.profile.scheduler_name, described)
