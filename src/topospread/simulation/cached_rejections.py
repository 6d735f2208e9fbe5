"""Cached rejections of pods, reused as long as another attempt surely gives the same result.

kube-scheduler retries pods on every event that may help them, and most attempts fail, because hints check little. A
rejection holds while every changed node is still rejected for the same reason and no pod that the class counts was
placed or removed. After such a pod was, the rejection holds if the constraints reject the same domains; then only the
counts in the verdict change. For speed, rejections are indexed by the pods that they count, and classes with equal
answers on all nodes share one check.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from weakref import ref

import msgspec
import numpy as np
from msgspec.structs import replace as with_fields

from topospread.cluster import NO_ROW, PodChange, PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.journal import VOLUMES
from topospread.cluster.objects import Reading
from topospread.cluster.pod_class import has_pod_affinity
from topospread.cluster.selections import Selection
from topospread.plugins.domain_counts import DomainCounts
from topospread.plugins.domain_membership import Membership
from topospread.plugins.inter_pod_affinity import Affinities
from topospread.plugins.interface import CanBeIdle, Scope, offers
from topospread.plugins.pod_topology_spread import HardConstraints
from topospread.plugins.spread_arithmetic import arithmetic_as_counted
from topospread.plugins.spread_counts import Spread
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.own_rejections import OwnRejections
from topospread.scheduling.verdict import Rejection, Verdict
from topospread.scheduling.view import View
from topospread.scheduling.watching import WatchingScheduler

from .run import PodOutcome

_SPREAD = "PodTopologySpread"


class _Alike(msgspec.Struct, eq=False):
    """Rejections of classes with equal single-node filters and equal hard constraints' domains, which share one check.

    Attributes:
        own: rejections by single-node filters.
        memberships: each node's domains for the hard constraints; ``None`` if the constraints' counts depend on more.
        refusals: equivalence class → data of its rejection.
    """

    own: OwnRejections
    memberships: frozenset[Membership] | None
    refusals: dict[Hashable, _Basis] = {}

    def touched(self, pods: Iterable[int], nodes: Iterable[int], position: int) -> list[Hashable]:
        """Return the keys in ``refusals`` whose rejection may no longer hold.

        Args:
            pods: rows whose pods changed since the position.
            nodes: rows whose node changed since the position.
            position: position in the journal.
        """
        own = self.own
        own.catch_up()
        if any(self._counts_elsewhere(row, position) for row in nodes):
            return list(self.refusals)
        changed = [row for row in nodes if not own.come_first or own.moved_since(row, position) or own.passes(row)]
        lost = [row for row in pods if own.moved_since(row, position)]
        if not changed and not lost:
            return []
        rejection = cache(own.rejection)
        return [
            key
            for key, each in self.refusals.items()
            if any(each.blamed(row) != rejection(row) for row in changed)
            or any(not each.is_blamed_alike(row, rejection(row)) for row in lost)
        ]

    def _counts_elsewhere(self, row: int, position: int) -> bool:
        return self.memberships is None or any(
            each.moved_since(row, position) or each.is_stale(row) for each in self.memberships
        )


class _Basis(msgspec.Struct, eq=False):
    """The data that a rejection depends on.

    Attributes:
        priority: priority of the class.
        view: view of the class, which may be dropped.
        reading: other objects that were read.
        blame: row → index of the rejection, −1 for a row without a node, int64[rows].
        counted: selections of the pods that the class's constraints count.
        rejected: domains that each hard constraint rejects; ``None`` if the rejection is dropped at any new count.
        listens: whether watchers of the view may count pods outside of ``counted``.
        alike: rejections that share its check.
        is_recounted: whether the current counts may differ from the counts in the verdict.
    """

    priority: int
    verdict: Verdict
    view: ref[View]
    reading: Reading
    blame: Ints
    counted: set[Selection]
    rejected: tuple[bytes, ...] | None
    listens: bool
    alike: _Alike
    is_recounted: bool = False

    def recounts(self) -> bool:
        """Return whether the constraints reject the same domains after a change of counts; if so, set is_recounted."""
        view = self.view()
        if self.rejected is None or view is None or _rejected_domains(view) != self.rejected:
            return False
        self.is_recounted = True
        return True

    def recounted(self, view: View) -> Verdict:
        """Update the counts in the verdict, and return it."""
        spread = view.plugins.prepared[_SPREAD].watcher
        assert isinstance(spread, Spread), "the spread plugin counts pods"
        self.verdict = replace(self.verdict, arithmetic=arithmetic_as_counted(spread))
        self.is_recounted = False
        return self.verdict

    def blamed(self, row: int) -> Rejection:
        """Return a row's rejection in the verdict."""
        return self.verdict.rejections[self.blame.item(row)]

    def is_blamed_alike(self, row: int, now: Rejection | None) -> bool:
        """Return whether a row whose pods changed is still rejected for the reason in the verdict.

        ``now``: its current rejection by single-node filters.
        """
        before = self.blamed(row)
        return before.plugin == _SPREAD if now is None else now == before

    def hears_of(self, changes: Sequence[PodChange]) -> bool:
        """Return whether these changes have a pod that the class counts."""
        view = self.view()
        return view is None or view.hears_of(changes)


class CachedRejections:
    """The last outcome of each equivalence class that found no node.

    Attributes:
        equivalence_class: function that returns the key of a pod class's equivalence class.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.equivalence_class = scheduler.views.equivalence_classes.key
        self._scheduler = scheduler
        self._cluster = cluster = scheduler.cluster
        self._known: dict[Hashable, tuple[PodOutcome, _Basis | None]] = {}
        self._alike: dict[tuple[int, frozenset[Membership] | None], _Alike] = {}
        self._counting: dict[Selection, dict[Hashable, None]] = {}
        self._listening: dict[Hashable, _Basis] = {}
        self._fallen: dict[Hashable, None] = {}
        self._passing: list[Hashable] = []
        self._highest = -(1 << 63)
        self._begin()
        self._position, self._stamp = cluster.journal.join(self), cluster.journal.stamp

    def _begin(self) -> None:
        """Record the current nodes and the version of other objects, to compare with them later."""
        nodes, objects = self._cluster.nodes, self._cluster.objects
        self._names, self._numbering, self._version = list(nodes.names), nodes.numbering, objects.version

    def note(self, pod_class: PodClass, outcome: PodOutcome) -> None:
        """Store the outcome of a pod that was just rejected."""
        self.catch_up()
        key = self.equivalence_class(pod_class)
        self._fall((key,))
        basis = self._basis(pod_class, outcome)
        self._known[key] = with_fields(outcome), basis
        if basis is None:  # any change of the cluster drops this outcome
            self._passing.append(key)
            return
        self._highest = max(self._highest, basis.priority)
        basis.alike.refusals[key] = basis
        for each in basis.counted:
            self._counting.setdefault(each, {})[key] = None
        if basis.listens:
            self._listening[key] = basis

    def of(self, pod_class: PodClass) -> PodOutcome | None:
        """Return the cached outcome of the class, with the current stamp; ``None`` if the pod must be scheduled."""
        self.catch_up()
        key, stamp = self.equivalence_class(pod_class), self._cluster.journal.stamp
        outcome, basis = self._known.get(key, (None, None))
        if outcome is not None and outcome.stamp != stamp:
            view = None if basis is None else basis.view()
            if basis is None or view is None or self._may_lapse():
                self._fall((key,))
                return None
            if basis.is_recounted:
                outcome.verdict = basis.recounted(view)
            outcome.stamp = stamp
        return outcome

    def fallen(self) -> Collection[Hashable] | None:
        """Return the keys of rejections that were dropped or recounted since the last call; ``None`` if unknown."""
        self.catch_up()
        found, self._fallen = self._fallen, {}
        return None if self._may_lapse() else found

    def _may_lapse(self) -> bool:
        """Return whether cached rejections cannot be trusted: there are nominations, or a savepoint is open."""
        return bool(self._cluster.nominated) or self._cluster.journal.is_marked

    def _basis(self, pod_class: PodClass, outcome: PodOutcome) -> _Basis | None:
        cluster, verdict = self._cluster, outcome.verdict
        if (
            verdict is None
            or verdict.error
            or not verdict.rejections
            or (verdict.blame < 0).any()
            or outcome.preempted
            or self._may_lapse()
            or cluster.rows_below(pod_class.priority)
        ):
            return None
        view = self._scheduler.view(pod_class)
        if not _rests_on_counts(view):
            return None
        nodes = cluster.nodes
        blame = np.full(nodes.size, -1, dtype=np.int64)
        blame[nodes.alive[: nodes.size]] = verdict.blame
        spreads = [each for each in view.plugins.watchers if isinstance(each, Spread)]
        memberships = _memberships(spreads)
        own = view.node_local.rejections
        own.catch_up()
        # A WatchingScheduler needs the full verdict of each attempt, so a change of counts drops the rejection.
        recounts = memberships is not None and not isinstance(self._scheduler, WatchingScheduler)
        return _Basis(
            pod_class.priority,
            verdict,
            ref(view),
            Reading(cluster.objects, view.plugins.reads),
            blame,
            {each.pods for spread in spreads for each in (*spread.hard, *spread.soft)},
            _rejected_domains(view) if recounts else None,
            has_pod_affinity(pod_class.pod)
            or not all(isinstance(each, Spread | Affinities) for each in view.plugins.watchers),
            self._alike.setdefault((id(own), memberships), _Alike(own, memberships)),
        )

    # Changes of the cluster.

    def catch_up(self) -> bool:
        """Drop the rejections that new changes may affect."""
        journal = self._cluster.journal
        if self._stamp == journal.stamp:
            return True
        changes = journal.since(self._position, self)
        before, self._position, self._stamp = self._position, journal.position, journal.stamp
        self._fall(self._passing)
        self._passing.clear()
        if changes is None or self._numbering != self._cluster.nodes.numbering:
            self._fall_all()
        elif self._known:
            self._follow(changes, before)
        return True

    def rewind(self, position: int) -> None:
        """Drop all rejections, because the journal took back changes that were read."""
        self._fall_all()
        self._position = position

    def _follow(self, changes: Sequence[PodChange], position: int) -> None:
        pods: set[int] = set()
        nodes: set[int] = set()
        classes: dict[PodClass, None] = {}
        lowest = self._highest
        for row, pod_class, what in changes:
            if pod_class is not None:
                pods.add(row)
                classes[pod_class] = None
                if what > 0:
                    lowest = min(lowest, pod_class.priority)
            elif what == VOLUMES or (row != NO_ROW and not self._is_same_node(row)):
                self._fall_all()
                return
            elif row != NO_ROW:
                nodes.add(row)
        fallen = self._counting_any(classes, changes)
        if lowest < self._highest or self._version != self._cluster.objects.version:
            self._version = self._cluster.objects.version
            bases = self._bases().items()
            fallen += [key for key, each in bases if each.priority > lowest or not each.reading.unchanged()]
        self._fall(fallen)
        pods -= nodes
        for alike in list(self._alike.values()):
            self._fall(alike.touched(pods, nodes, position))

    def _bases(self) -> dict[Hashable, _Basis]:
        return {key: basis for key, (_, basis) in self._known.items() if basis is not None}

    def _is_same_node(self, row: int) -> bool:
        nodes = self._cluster.nodes
        return row < len(self._names) and bool(nodes.alive[row]) and self._names[row] == nodes.names[row]

    def _counting_any(self, classes: Iterable[PodClass], changes: Sequence[PodChange]) -> list[Hashable]:
        """Return the keys of rejections that may no longer hold after pods of some classes were placed or removed.

        Mark the other rejections that count such pods as recounted.
        """
        counting: dict[Hashable, None] = {}
        asked = self._listening
        for each in classes:
            if each.label_set is None or has_pod_affinity(each.pod):
                asked = self._bases()
            elif each.counted:
                for reference in each.label_set.selecting:
                    if (selection := reference()) is not None:
                        counting |= self._counting.get(selection, {})
        fallen = [key for key, basis in asked.items() if basis.hears_of(changes)]
        for key in counting:
            basis = self._known[key][1]
            if basis is not None and basis.recounts():
                self._fallen[key] = None
            else:
                fallen.append(key)
        return fallen

    def _fall(self, keys: Iterable[Hashable]) -> None:
        for key in keys:
            self._fallen[key] = None
            _, basis = self._known.pop(key, (None, None))
            if basis is None:
                continue
            self._listening.pop(key, None)
            for each in basis.counted:
                counting = self._counting[each]
                del counting[key]
                if not counting:
                    del self._counting[each]
            alike = basis.alike
            del alike.refusals[key]
            if not alike.refusals:
                del self._alike[id(alike.own), alike.memberships]

    def _fall_all(self) -> None:
        self._fall(list(self._known))
        self._begin()


def _memberships(spreads: Sequence[Spread]) -> frozenset[Membership] | None:
    """Return the hard constraints' `Membership` objects; ``None`` if counts depend on more than the domains."""
    counts = [each.counts for spread in spreads for each in spread.hard]
    plain = [each.membership for each in counts if type(each) is DomainCounts]
    return frozenset(plain) if len(plain) == len(counts) else None


def _rejected_domains(view: View) -> tuple[bytes, ...]:
    """Return the domains that each hard constraint of a view rejects."""
    prepared = view.plugins.prepared.get(_SPREAD)
    hard = None if prepared is None else prepared.filter
    return hard.rejected_domains() if isinstance(hard, HardConstraints) else ()


def _rests_on_counts(view: View) -> bool:
    """Return whether filters read only nodes, their pods' sums, and the counts of spread constraints."""
    plugins = view.plugins
    if plugins.rejected is not None or plugins.narrowed is not None:
        return False
    return all(
        each.filter.scope <= Scope.USAGE
        or (each.plugin == _SPREAD and isinstance(plugins.prepared[_SPREAD].watcher, Spread))
        or (offers(each.filter, CanBeIdle) and each.filter.idle)
        for each in plugins.filters
    )
