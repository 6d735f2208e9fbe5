"""The node for one pod: Filter, Score, NormalizeScore and selectHost over the nodes that must be considered.

    DaemonSet pod               the node that its affinity requires
    nominated pod               the nominated node, if it is feasible
    ``--sampling kube``         the nodes that kube-scheduler would consider
    ties are not drawn          the best node of each group
    otherwise                   all feasible nodes

`view` runs the plugins, and `select_host` chooses among nodes with equal totals.
Source: pkg/scheduler/schedule_one.go (``schedulePod``, ``findNodesThatFitPod``, ``evaluateNominatedNode``).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.plugins.interface import NotJudgedError, PluginError

from .batching import Batch, Hint, Incoming, ScoredNodes
from .evaluate import first_failure, walkable
from .extender_calls import ExtenderCalls, Passed, totals
from .framework import Framework
from .node_local import Work
from .nominated_pods import blocked_by_nominated
from .sampling import Sample, Sampler
from .select_host import AmongEquals, best_of, best_of_heads
from .view import View

Chosen = tuple[int, int]
"""A row and the total score of its node."""


class NodeSearch:
    """A search for the node of a pod.

    Args:
        view: function that returns the current view of a class.
        among: chooses among nodes with equal totals; ``None`` takes the first by name.
        sampler: considers as many nodes as kube-scheduler; ``None`` considers all.

    Attributes:
        drawn: chooses among nodes with equal totals after extenders scored them; ``None`` takes the first by name.
        within: rows to consider for the placement of a pod group; ``None`` for all.
        attempts: number of attempts so far, including attempts that needed no search.
        batches: framework → batch of its profile, for profiles with batching.
        hinted: whether the last pod got its node from a batch.
    """

    def __init__(
        self,
        cluster: Cluster,
        view: Callable[[PodClass], View],
        work: Work,
        among: AmongEquals | None,
        sampler: Sampler | None,
    ) -> None:
        self._cluster = cluster
        self._view = view
        self._work = work
        self._among = among
        self._sampler = sampler
        self.drawn: AmongEquals | None = None
        self.calls = ExtenderCalls(cluster)
        self.within: Ints | None = None
        self.batches: Mapping[Framework, Batch] = {}
        self.attempts = 0
        self.hinted = False

    def best(self, pod: Pod, pod_class: PodClass, key: str, nominated: str) -> Chosen | None:
        """Return the node for a pod ``namespace/name``, ``None`` if no node is feasible.

        Raises:
            PluginError: if kube-scheduler fails on the pod.
            NotJudgedError: if every feasible node depends on a filter that topospread does not model.
        """
        if self.batches:
            self.attempts += 1
            self.hinted = False
        chosen = self._only_node(pod_class) if pod_class.general else None
        if chosen is not None:
            return chosen
        view = self._view(pod_class)
        if view.framework.profile.extenders and view.framework.asks(pod_class):
            chosen = self._best_of_asked(view, pod_class, key, nominated)
        elif self.batches and (batch := self.batches.get(view.framework)) is not None:
            chosen = self._best_in_batch(batch, view, Incoming(pod, pod_class, key, nominated))
        elif self._sampler is not None:
            rows = self.sample(view, key, nominated).rows
            chosen = best_of(view, rows, among=self._among) if len(rows) else None
        else:
            chosen = self._nominated_node(view, key, nominated) if nominated else None
            chosen = self._best_of_all(view, key) if chosen is None else chosen
        unjudged = view.plugins.unjudged
        if unjudged and (chosen is not None or any(each.changes_pod for each in unjudged)):
            raise unjudged[0]
        return chosen

    def _best_in_batch(self, batch: Batch, view: View, incoming: Incoming) -> Chosen | None:
        """Return the nominated node, else the batch's hint, else the best node of a new search; it begins a batch."""
        key, nominated = incoming.key, incoming.nominated
        hint = batch.hint(view, incoming, self.attempts)
        first = nominated or (self._cluster.nodes.names[hint[0]] if hint is not None and hint[0] >= 0 else "")
        chosen = self._nominated_node(view, key, first) if first else None
        scored, late = None, False
        if chosen is not None:
            if hint is not None and hint[0] == chosen[0]:
                chosen, self.hinted = hint, True
                if batch.may_be_over:
                    self._check_best(view, key, hint)
        elif self._sampler is None and self.within is None and not self._cluster.nominated:
            chosen, late = self._best_of_all(view, key), True
        else:
            rows = self.sample(view, key, first).rows if self._sampler is not None else self._feasible(view, key)
            chosen = best_of(view, rows, among=self._among) if len(rows) == 1 else None
            if len(rows) > 1:
                scored = ScoredNodes(view, rows, self._among)
                name, total = scored.pop()
                chosen = self._cluster.nodes.row_of[name], total
        if chosen is not None:
            batch.store(incoming, chosen[0], hint, scored, late=late)
        return chosen

    def _check_best(self, view: View, key: str, hint: Hint) -> None:
        """Check that the hint's node also has the highest total score in a new search.

        Raises:
            NotJudgedError: if another node scores higher, so the pod's node depends on whether the batch has expired.
        """
        found = self._best_of_all(view, key) if self._sampler is None else None
        if found is None or found[0] == hint[0]:
            return
        rows = self._feasible(view, key)
        if view.total(rows)[rows == hint[0]][0] < found[1]:
            why = "kube-scheduler reuses an earlier pod's scores for half a second, which may be over"
            raise NotJudgedError("batching", "", "the score of a batch", why)

    def _best_of_asked(self, view: View, pod_class: PodClass, key: str, nominated: str) -> Chosen | None:
        """Return the best node that all extenders admit, by the scores of plugins and extenders.

        kube-scheduler draws among nodes with equal totals if an extender scored them, even in versions that otherwise
        do not draw (``Randomizer``).
        """
        row = self._cluster.nodes.row_of.get(nominated)
        blocked = blocked_by_nominated(key, view) if self._cluster.nominated else []
        passed = None
        if row is not None and self._is_within(row) and row not in blocked and view.feasible(np.array([row]))[0]:
            with suppress(PluginError):
                passed = self._passed(view, pod_class, key, np.array([row], dtype=np.int64))
        if passed is None or not len(passed.rows):
            passed = self._passed(view, pod_class, key, self._feasible(view, key))
        if not len(passed.rows):
            return None
        if len(passed.rows) > 1:
            self.calls.scored(key, pod_class.pod, view.framework.asks(pod_class), passed)
        total: Ints = sum(totals(view, passed, self._cluster).values(), np.zeros(len(passed.rows), dtype=np.int64))
        named = [any(each[place] is not None for each in passed.points.values()) for place in range(len(total))]
        highest = int(total.max())
        best = [place for place in np.flatnonzero(total == highest).tolist() if named[place]]
        best = best or np.flatnonzero(total == highest).tolist()
        if self.drawn is not None:
            return self.drawn(passed.rows, np.array(best)), highest
        return min(passed.rows[best].tolist(), key=self._cluster.nodes.ranks.__getitem__), highest

    def _passed(self, view: View, pod_class: PodClass, key: str, rows: Ints) -> Passed:
        return self.calls.filtered(key, pod_class.pod, view.framework.asks(pod_class), rows)

    def _feasible(self, view: View, key: str) -> Ints:
        """Return the nodes that pass the filters, in the order in which extenders get them."""
        if self._sampler is not None:
            return self.sample(view, key).rows
        blocked = blocked_by_nominated(key, view) if self._cluster.nominated else []
        walked = walkable(view)
        if self.within is not None:
            walked = walked[np.isin(walked, self.within)]
        if view.can_fail and (failure := first_failure(view, walked, blocked)):
            raise failure.error
        rows = np.flatnonzero(view.node_local.open[: self._cluster.nodes.size])
        rows = rows[view.feasible(rows) & np.isin(rows, walked) & ~np.isin(rows, [*blocked])]
        return np.array(sorted(rows.tolist(), key=self._cluster.nodes.ranks.__getitem__), dtype=np.int64)

    def _only_node(self, pod_class: PodClass) -> Chosen | None:
        """Return the node of a DaemonSet pod if the DaemonSet's shared view shows that it is feasible.

        ``None`` means that the pod's own view must decide: it explains rejections, and for a hard constraint it counts
        only the pod's own node.
        """
        row = self._cluster.nodes.row_of.get(pod_class.pinned_node)
        narrowed = self._sampler is not None or self.within is not None
        if row is None or pod_class.general is None or narrowed or row in self._cluster.nominated:
            return None
        try:
            view = self._view(pod_class.general)
        except PluginError:
            return None
        unsure = view.plugins.unjudged or view.framework.asks(pod_class)
        if view.node_local.worth[row] is None or not view.answers_node_pinned or unsure:
            return None
        if view.can_fail and first_failure(view, np.array([row], dtype=np.int64)):
            return None
        return best_of_heads(view, (array("q", [row]), array("q", [1])))

    def _nominated_node(self, view: View, key: str, node: str) -> Chosen | None:
        """Return the nominated node if it is feasible. Other nodes are not considered then."""
        row = self._cluster.nodes.row_of.get(node)
        if row is None or not self._is_within(row) or row in blocked_by_nominated(key, view):
            return None
        return best_of(view, np.array([row], dtype=np.int64), among=self._among) if view.node_local.open[row] else None

    def _is_within(self, row: int) -> bool:
        return self.within is None or row in self.within

    def _best_of_all(self, view: View, key: str) -> Chosen | None:
        """Return the best node except nodes on which the pod does not fit together with their nominated pods."""
        blocked = blocked_by_nominated(key, view) if self._cluster.nominated else []
        if view.can_fail:
            walked = walkable(view)
            if self.within is not None:
                walked = walked[np.isin(walked, self.within)]
            if failure := first_failure(view, walked, blocked):
                raise failure.error
        heads = view.heads() if self._among is None and not blocked and self.within is None else None
        if heads is None:
            # Groups cannot be used, so compare all nodes.
            self._work.full += 1
            rows = np.flatnonzero(view.node_local.open[: self._cluster.nodes.size])
            if blocked:
                rows = rows[~np.isin(rows, blocked)]
            if self.within is not None:
                rows = rows[np.isin(rows, self.within)]
            return best_of(view, rows, among=self._among) if len(rows) else None
        self._work.heads += len(heads[0])
        return best_of_heads(view, heads)

    def sample(self, view: View, key: str, nominated: str = "") -> Sample:
        """Return the nodes that kube-scheduler would consider, the nominated node first."""
        assert self._sampler is not None, "the scheduler has no sampler"
        if nominated and (chosen := self._nominated_node(view, key, nominated)):
            return Sample(np.array(chosen[:1], dtype=np.int64), 1)
        blocked = blocked_by_nominated(key, view) if self._cluster.nominated else []
        row = self._cluster.nodes.row_of.get(nominated, -1)
        return self._sampler.sample(view, view.framework, blocked, row if self._is_within(row) else -1, self.within)
