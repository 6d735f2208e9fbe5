"""Refusals that would come out the same again, told without looking at all nodes; a pod is judged elsewhere.

kube-scheduler tries pods again on every event that may help them, mostly in vain: hints ask little. A refusal stands as
long as every node that something happened to is rejected as it was, and no pod came or went that the class counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from weakref import ref

import msgspec
import numpy as np
from msgspec.structs import replace as with_fields

from topospread.cluster import NO_ROW, PodChange, PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.journal import VOLUMES
from topospread.cluster.objects import Reading
from topospread.plugins.interface import CanBeIdle, Scope, offers
from topospread.plugins.spread_counts import Spread
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.node_local import NodeLocalAnswers
from topospread.scheduling.verdict import Rejection, Verdict
from topospread.scheduling.view import View

from .run import PodOutcome

_SPREAD = "PodTopologySpread"


class _LastRefusal(msgspec.Struct):
    """The result for the last pod of a class.

    Attributes:
        outcome: its stamp is the journal's when the refusal was last known to stand.
        basis: on what it rests; ``None`` where it falls with whatever happens.
    """

    outcome: PodOutcome
    basis: _RefusalBasis | None


class _RefusalBasis(msgspec.Struct):
    """On what a refusal rests.

    Attributes:
        view: of the class, which may be dropped.
        read: how far the view had read.
        reading: the objects besides.
        blame: row → number of the rejection, −1 where there was no node, int64[rows].
        rows: of the verdict's nodes, int64[nodes].
        position: in the journal, up to which nothing changed the refusal.
    """

    view: ref[View]
    read: int
    reading: Reading
    blame: Ints
    rows: Ints
    position: int


class StandingRefusals:
    """The results for the last pod of each class that found no node."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._cluster = scheduler.cluster
        self._known: dict[Hashable, _LastRefusal] = {}
        self._stamp = -1
        self._found: dict[tuple[NodeLocalAnswers, int], Rejection | None] = {}

    def note(self, pod_class: PodClass, outcome: PodOutcome) -> None:
        """A pod of a class was refused just now."""
        self._known[self._scheduler.views.likenesses.key(pod_class)] = _LastRefusal(
            with_fields(outcome), self._basis(pod_class, outcome)
        )

    def of(self, pod_class: PodClass) -> PodOutcome | None:
        """Return the result for a pod of the class, stamped as of now; ``None`` if it has to be tried."""
        key, journal = self._scheduler.views.likenesses.key(pod_class), self._cluster.journal
        refusal = self._known.get(key)
        if refusal is None or refusal.outcome.stamp == journal.stamp:
            return None if refusal is None else refusal.outcome
        verdict, basis = refusal.outcome.verdict, refusal.basis
        if verdict is None or basis is None or not self._stands(pod_class, verdict, basis):
            del self._known[key]
            return None
        basis.position, refusal.outcome.stamp = journal.position, journal.stamp
        return refusal.outcome

    def _basis(self, pod_class: PodClass, outcome: PodOutcome) -> _RefusalBasis | None:
        cluster, verdict = self._cluster, outcome.verdict
        if (
            verdict is None
            or verdict.error
            or not verdict.rejections
            or outcome.preempted
            or self._may_lapse(pod_class)
        ):
            return None
        view = self._scheduler.view(pod_class)
        if not _rests_on_counts(view):
            return None
        rows = np.flatnonzero(cluster.nodes.alive[: cluster.nodes.size])
        blame = np.full(cluster.nodes.size, -1, dtype=np.int64)
        blame[rows] = verdict.blame
        reading = Reading(cluster.objects, view.plugins.reads)
        return _RefusalBasis(ref(view), view.position, reading, blame, rows, cluster.journal.position)

    def _may_lapse(self, pod_class: PodClass) -> bool:
        """Whether more than filters on nodes as they are decides: promises, evictions, a journal that is taken back."""
        cluster = self._cluster
        return bool(cluster.nominated) or cluster.journal.is_marked or bool(cluster.rows_below(pod_class.priority))

    def _stands(self, pod_class: PodClass, verdict: Verdict, basis: _RefusalBasis) -> bool:
        view = basis.view()
        if view is None or view.position != basis.read or self._may_lapse(pod_class):
            return False
        changes = self._cluster.journal.since(basis.position, view)
        if changes is None or not basis.reading.unchanged() or view.hears_of(changes):
            return False
        pods, nodes = _rows_of(changes)
        if nodes is None:
            return False
        return all(self._is_moot(verdict, basis, view, row) for row in nodes) and all(
            self._is_blamed_alike(verdict, basis, view, row) for row in pods - nodes
        )

    def _is_moot(self, verdict: Verdict, basis: _RefusalBasis, view: View, row: int) -> bool:
        """Whether a node that changed, but for its pods, is rejected as before by what it is, and counted as before."""
        if row >= len(basis.blame) or basis.blame[row] < 0:
            return False
        nodes = self._cluster.nodes
        if not nodes.alive[row] or nodes.names[row] != verdict.nodes[int(np.searchsorted(basis.rows, row))]:
            return False
        now = self._rejection(view, row)
        if now is None or now != verdict.rejections[basis.blame[row]]:
            return False
        watchers = view.plugins.watchers
        return all(each.counts_as_before(row, basis.position) for each in watchers if isinstance(each, Spread))

    def _is_blamed_alike(self, verdict: Verdict, basis: _RefusalBasis, view: View, row: int) -> bool:
        """Whether a node whose pods changed is rejected as before."""
        number = basis.blame.item(row) if row < len(basis.blame) else -1
        if number < 0:
            return False
        before, now = verdict.rejections[number], self._rejection(view, row)
        return before.plugin == _SPREAD if now is None else now == before

    def _rejection(self, view: View, row: int) -> Rejection | None:
        """Return what rejects a node by itself or by its pods, if anything; the same for all classes that share
        answers.
        """
        if self._stamp != self._cluster.journal.stamp:
            self._found.clear()
            self._stamp = self._cluster.journal.stamp
        key = (view.node_local, row)
        if key not in self._found:
            self._found[key] = _rejection_by_itself(view, row)
        return self._found[key]


def _rests_on_counts(view: View) -> bool:
    """Whether the class is judged by the node, by what its pods use, and by counts of a spread constraint alone."""
    plugins = view.plugins
    if plugins.rejected is not None or plugins.narrowed is not None:
        return False
    return all(
        each.filter.scope <= Scope.USAGE
        or (each.plugin == _SPREAD and isinstance(plugins.prepared[_SPREAD].watcher, Spread))
        or (offers(each.filter, CanBeIdle) and each.filter.idle)
        for each in plugins.filters
    )


def _rejection_by_itself(view: View, row: int) -> Rejection | None:
    only = np.array([row], dtype=np.int64)
    for each in view.plugins.filters:
        if each.filter.scope <= Scope.USAGE:
            code = int(each.filter.filter(only)[0])
            if code:
                status = each.filter.status(code)
                return Rejection(status.code, each.plugin, status.reasons)
    return None


def _rows_of(changes: Sequence[PodChange]) -> tuple[set[int], set[int] | None]:
    """Rows of nodes whose pods changed, and of those that changed besides; ``None`` where volumes did."""
    pods: set[int] = set()
    nodes: set[int] = set()
    for row, pod_class, what in changes:
        if pod_class is not None:
            pods.add(row)
        elif what == VOLUMES:
            return pods, None
        elif row != NO_ROW:
            nodes.add(row)
    return pods, nodes
