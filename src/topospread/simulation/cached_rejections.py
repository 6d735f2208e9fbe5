"""Refusals that would come out the same again, told without looking at all nodes; a pod is judged elsewhere.

kube-scheduler tries pods again on every event that may help them, mostly in vain: hints ask little. A refusal stands as
long as every node that something happened to is rejected as it was, and no pod came or went that the class counts. If
such a pod came or went, the refusal stands as long as the constraints reject the same domains; only its counts are new.
A change costs what it touches, not the number of refusals. Refusals are indexed by what their class counts,
and classes that every single node treats alike share one check.
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
    """Refusals of classes that agree in what is said of single nodes, and in which domain each counts.

    Attributes:
        own: what is said of single nodes.
        memberships: in which domains nodes count; ``None`` where that is not known.
        refusals: by likeness.
    """

    own: OwnRejections
    memberships: frozenset[Membership] | None
    refusals: dict[Hashable, _Basis] = {}

    def touched(self, pods: Iterable[int], nodes: Iterable[int], position: int) -> list[Hashable]:
        """The refusals that may not stand as pods of some nodes and other nodes changed since a position."""
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
    """On what a refusal rests.

    Attributes:
        priority: of its class.
        verdict: what was said.
        view: of the class, which may be dropped.
        reading: the objects besides.
        blame: row → number of the rejection, −1 where there was no node, int64[rows].
        counted: the pods that its constraints count.
        rejected: for each hard constraint the domains that it rejects; ``None`` where more than counts decides.
        listens: whether it may count pods in another way.
        alike: those that are judged with it.
        is_recounted: whether the counts are others than those in the verdict.
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
        """Take note of other counts; return whether the constraints reject the same domains as before."""
        view = self.view()
        if self.rejected is None or view is None or _rejected_domains(view) != self.rejected:
            return False
        self.is_recounted = True
        return True

    def recounted(self, view: View) -> Verdict:
        """Return the verdict with the counts as they are now."""
        spread = view.plugins.prepared[_SPREAD].watcher
        assert isinstance(spread, Spread), "it counts pods"
        self.verdict = replace(self.verdict, arithmetic=arithmetic_as_counted(spread))
        self.is_recounted = False
        return self.verdict

    def blamed(self, row: int) -> Rejection:
        """Return why a node was rejected at that time."""
        return self.verdict.rejections[self.blame.item(row)]

    def is_blamed_alike(self, row: int, now: Rejection | None) -> bool:
        """Return whether a node whose pods changed is rejected as before."""
        before = self.blamed(row)
        return before.plugin == _SPREAD if now is None else now == before

    def hears_of(self, changes: Sequence[PodChange]) -> bool:
        """Return whether a pod came or went that the class counts."""
        view = self.view()
        return view is None or view.hears_of(changes)


class CachedRejections:
    """The results for the last pod of each class that found no node.

    Attributes:
        likeness: the shared identity of pods that are refused alike, for a class.
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
        """Take note of the nodes that are there."""
        nodes, objects = self._cluster.nodes, self._cluster.objects
        self._names, self._numbering, self._version = list(nodes.names), nodes.numbering, objects.version

    def note(self, pod_class: PodClass, outcome: PodOutcome) -> None:
        """A pod of a class was refused just now."""
        self.catch_up()
        key = self.equivalence_class(pod_class)
        self._fall((key,))
        basis = self._basis(pod_class, outcome)
        self._known[key] = with_fields(outcome), basis
        if basis is None:  # it falls with whatever happens
            self._passing.append(key)
            return
        self._highest = max(self._highest, basis.priority)
        basis.alike.refusals[key] = basis
        for each in basis.counted:
            self._counting.setdefault(each, {})[key] = None
        if basis.listens:
            self._listening[key] = basis

    def of(self, pod_class: PodClass) -> PodOutcome | None:
        """Return the outcome for a pod of the class, stamped as of now; ``None`` if it has to be tried."""
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
        """Return the likenesses of which a refusal fell, or is another, since the last time; ``None``: all may have."""
        self.catch_up()
        found, self._fallen = self._fallen, {}
        return None if self._may_lapse() else found

    def _may_lapse(self) -> bool:
        """Return whether more than filters on nodes as they are decides: promises, a journal that is taken back."""
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
        # A verdict that somebody watches is that of a pod's last try, so that pods are tried again there.
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

    # What happens to the cluster.

    def catch_up(self) -> bool:
        """Let the refusals fall that what happened touches."""
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
        """The journal's newest changes, which were read and undo each other, were taken back."""
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
        """The refusals that may not stand as pods of some classes came or went; note the counts that are others."""
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
    """In which domains nodes count for hard constraints; ``None`` where more than that decides."""
    counts = [each.counts for spread in spreads for each in spread.hard]
    plain = [each.membership for each in counts if type(each) is DomainCounts]
    return frozenset(plain) if len(plain) == len(counts) else None


def _rejected_domains(view: View) -> tuple[bytes, ...]:
    """Return for each hard constraint of a view which domains it rejects."""
    prepared = view.plugins.prepared.get(_SPREAD)
    hard = None if prepared is None else prepared.filter
    return hard.rejected_domains() if isinstance(hard, HardConstraints) else ()


def _rests_on_counts(view: View) -> bool:
    """Return whether the class is judged by the node, by its pods' use, and by counts of a spread constraint alone."""
    plugins = view.plugins
    if plugins.rejected is not None or plugins.narrowed is not None:
        return False
    return all(
        each.filter.scope <= Scope.USAGE
        or (each.plugin == _SPREAD and isinstance(plugins.prepared[_SPREAD].watcher, Spread))
        or (offers(each.filter, CanBeIdle) and each.filter.idle)
        for each in plugins.filters
    )
