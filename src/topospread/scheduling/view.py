"""What the plugins derived for one pod class, kept up to date from the journal at the cost of what changed.

A view never decides by itself what a plugin would: it calls the plugins' formulas, on all rows when it is built
and on the changed rows after that.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter, itemgetter
from weakref import WeakValueDictionary

import msgspec
import numpy as np

from topospread.cluster import NO_ROW, Cluster, PodChange, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.cluster.journal import VOLUMES
from topospread.cluster.objects import One, Reading, Subject
from topospread.plugins.interface import (
    Assuming,
    CanBeIdle,
    Filter,
    FilterEach,
    Listener,
    Scope,
    ScoreEach,
    Settling,
    Status,
    Watcher,
    offers,
)
from topospread.plugins.registry import ASKED_ABOUT_CLAIMS

from .buckets import Buckets, GroupKey
from .framework import Framework, PreparedPlugins, WeightedScore
from .node_local import NodeLocalAnswers, Work, sharing_key

_LAYOUT: Callable[[Watcher], int] = attrgetter("layout")
_ROW: Callable[[PodChange], int] = itemgetter(0)
_HEARD = 64
"""So many classes more, and a quarter, than the last time are listened to before those that went are sorted out."""


class OneByOne(msgspec.Struct, frozen=True):
    """The cluster-wide filters, and the scores with their weights, where all of them can go node by node."""

    filters: tuple[FilterEach, ...]
    scores: tuple[tuple[int, ScoreEach], ...]


def one_by_one(filters: Sequence[Filter], scores: Sequence[WeightedScore]) -> OneByOne | None:
    """The same plugins, to be asked node by node; ``None`` where one of them cannot."""
    each_filter = tuple(each for each in filters if offers(each, FilterEach))
    each_score = tuple((each.weight, each.score) for each in scores if offers(each.score, ScoreEach))
    if len(each_filter) < len(filters) or len(each_score) < len(scores):
        return None
    return OneByOne(each_filter, each_score)


class Shared:
    """What views of different pod classes have in common: the work that is counted, and answers that are the same."""

    def __init__(self, work: Work | None = None) -> None:
        self.work = work or Work()
        self._answers: WeakValueDictionary[Hashable, NodeLocalAnswers] = WeakValueDictionary()

    def answers(
        self, cluster: Cluster, framework: Framework, pod_class: PodClass, plugins: PreparedPlugins
    ) -> NodeLocalAnswers:
        """Answers that are up to date: those of a class that agrees in all they rest on, or new ones."""
        key = sharing_key(framework, pod_class, plugins)
        known = self._answers.get(key)
        if known is None or not known.catch_up():
            known = NodeLocalAnswers(cluster, plugins, self.work)
            if key is not None:
                self._answers[key] = known
        return known


class View:
    """One pod class on one cluster under one profile.

    Attributes:
        plugins: the plugins, prepared for the class.
        node_local: what rests on the node and its pods.
        one_by_one: the cluster-wide plugins node by node, ``None`` where one of them only knows arrays.
        assuming, settling: watchers that are told of dry runs.
        beside: row → a state of the node and the pods that it is promised to, and what rejects it beside them.
        stands_for_tied: whether it says of a node what the view of a pod that is tied to that node would say.
    """

    def __init__(
        self,
        cluster: Cluster,
        framework: Framework,
        pod_class: PodClass,
        shared: Shared,
        before: View | None = None,
    ) -> None:
        """``before``: of a class that differs in claims alone; what it has counted passes on to this one, it ends."""
        self.cluster = cluster
        self.framework = framework
        self.pod_class = pod_class
        self.work = shared.work
        passes_on = before is not None and before.end()
        self.plugins: PreparedPlugins = framework.prepare(
            pod_class, cluster, before.plugins if before is not None and passes_on else None
        )
        self.assuming = [each for each in self.plugins.watchers if offers(each, Assuming)]
        self.settling = [each for each in self.plugins.watchers if offers(each, Settling)]
        self.stands_for_tied = not any(each.counts_own_nodes for each in self.plugins.prepared.values())
        self.node_local = shared.answers(cluster, framework, pod_class, self.plugins)
        self.work.built += 1
        self._renewed = self.node_local.renewed
        self._objects = Reading(cluster.objects, self.plugins.reads)
        self._position = cluster.journal.join(self)
        self._numbering = cluster.nodes.numbering
        self._renumbered = cluster.nodes.renumbered
        self._cluster_filters = [f.filter for f in self.plugins.filters if f.filter.scope is Scope.CLUSTER]
        relative = [s for s in self.plugins.scores if s.normalized is not None or s.score.scope is Scope.CLUSTER]
        self.relative_scores = [each for each in relative if each.plugin not in self.node_local.flat]
        self._grouping = [each for each in self.relative_scores if each.score.scope is Scope.NODE]
        self._can_group = all(each.score.scope in (Scope.NODE, Scope.CLUSTER) for each in self.relative_scores)
        self.beside: dict[int, tuple[Hashable, tuple[str, Status]]] = {}
        self._asked = cluster.classes_made
        self._heard: dict[PodClass | None, tuple[Listener, ...]] = {None: ()}
        self._heard_most = _HEARD
        self._ended = False
        self._lasting = Reading(cluster.objects, _lasting_reads(self.plugins))
        if before is not None and passes_on and self.plugins.watchers == before.plugins.watchers:
            self._heard, self._heard_most = before._heard, before._heard_most
        else:
            for watcher in self.plugins.watchers:
                self._listen(watcher.concerned())
        self._grouping_watchers: list[Watcher] = []
        self._buckets: Buckets | None = None
        self._layout: list[int] | None = None
        self._take_layout()

    def _take_layout(self) -> None:
        """Leave out what has no say as things stand; the groups have to be made anew where this has changed."""
        layout = list(map(_LAYOUT, self.plugins.watchers))
        if layout != self._layout:
            self._layout = layout
            self.forget_buckets()
            self.cluster_filters = [each for each in self._cluster_filters if not _is_idle(each)]
            self._active_scores = [each for each in self.relative_scores if not _is_idle(each.score)]
            self.one_by_one = one_by_one(self.cluster_filters, self._active_scores)

    def catch_up(self) -> bool:
        """Read the journal and evaluate the rows it names; False when a new view has to be built instead."""
        changes = None if self._ended else self.cluster.journal.since(self._position, self)
        kept = changes is not None and self._numbering == self.cluster.nodes.numbering
        if changes is None or not kept or not self._objects.unchanged() or not self.node_local.catch_up():
            return False
        if not changes:
            return True
        self._position = self.cluster.journal.position
        self.work.changes += len(changes)
        rows, regrouped = self._apply(changes)
        self._take_layout()
        if self._renewed != self.node_local.renewed or self._renumbered != self.cluster.nodes.renumbered:
            self._renumbered, self._renewed = self.cluster.nodes.renumbered, self.node_local.renewed
            self.forget_buckets()
        if self._buckets is not None:
            rows -= regrouped
            self._sort_in(self._buckets, rows, regrouped)
        return True

    def end(self) -> bool:
        """Be of no use any more; whether what is counted is up to date, for another view to go on with."""
        changes = self.cluster.journal.since(self._position, self)
        ended, self._ended = self._ended, True
        self.forget_buckets()
        if ended or changes is None or self._numbering != self.cluster.nodes.numbering:
            return False
        if not self._lasting.unchanged():
            return False
        self._position = self.cluster.journal.position
        self._apply(changes)
        return True

    def rewind(self, position: int) -> None:
        """The journal's newest changes, which were read and undo each other, were taken back."""
        self._position = position

    def forget_buckets(self) -> None:
        """Group anew when it is next asked for."""
        if self._buckets is not None:
            self._buckets.clear()
            self._buckets = None

    def buckets(self) -> Buckets | None:
        """Rows open for the pod, grouped; ``None`` when the plugins of this class allow no grouping."""
        if self._buckets is None and self._can_group:
            self._renumbered = self.cluster.nodes.renumbered
            backwards = self.cluster.nodes.by_name[::-1]
            rows = backwards[self.node_local.open[backwards]]
            columns = self._group_columns(rows)
            if columns is None:
                self._can_group = False
                return None
            self._buckets = Buckets(columns, rows, self.node_local, self.cluster.nodes)
        return self._buckets

    def feasible(self, rows: Rows) -> Bools:
        """Whether rows pass every filter, bool[rows]."""
        result: Bools = self.node_local.open[rows].copy()
        for each in self.cluster_filters:
            result &= each.filter(rows) == 0
        return result

    def total(self, rows: Ints, nodes: Ints | None = None) -> Ints:
        """Weighted total of every score for feasible rows; ``nodes`` as in `Score.score`."""
        total: Ints = self.node_local.points[rows].copy()
        for each in self._active_scores:
            total += each.points(rows, nodes)
        return total

    @property
    def heard(self) -> int:
        """How many classes it listens to: those that a plugin counts, not all that there are."""
        return len(self._heard) - 1

    @property
    def position(self) -> int:
        """Up to where the journal was read."""
        return self._position

    def hears_of(self, changes: Sequence[PodChange]) -> bool:
        """Whether pods came or went that a plugin counts for the class; nothing is counted yet."""
        if self._asked != self.cluster.classes_made:
            self._listen_to_new()
        heard = self._heard
        return any(pod_class is not None and pod_class in heard for _, pod_class, _ in changes)

    def _listen_to_new(self) -> None:
        new, self._asked = self.cluster.classes_since(self._asked)
        self._listen(new)

    def _apply(self, changes: Sequence[PodChange]) -> tuple[set[int], set[int]]:
        """Tell the watchers; all rows named, and rows that may belong to another group."""
        if self._asked != self.cluster.classes_made:
            self._listen_to_new()
        rows = set(map(_ROW, changes))
        rows.discard(NO_ROW)
        regrouped: set[int] = set()
        heard = self._heard
        for row, pod_class, delta in [change for change in changes if change[1] in heard]:
            if pod_class is None:
                if row != NO_ROW and delta != VOLUMES:
                    regrouped.add(row)
                    for watcher in self.plugins.watchers:
                        regrouped.update(watcher.on_node(row))
                continue
            for listener in heard[pod_class]:
                touched = listener(row, delta)
                if touched:
                    regrouped.update(touched)
        if len(heard) > self._heard_most:
            self._let_go()
        return rows, regrouped

    def _listen(self, classes: Iterable[PodClass]) -> None:
        """Remember who wants to be told of pods of these classes, where anybody does."""
        heard = self._heard
        for each in classes:
            if each not in heard:
                found = [listener for watcher in self.plugins.watchers if (listener := watcher.listener(each))]
                if found:
                    heard[each] = tuple(found)

    def _let_go(self) -> None:
        """Forget the classes that the cluster has let go of: all that happened to their pods is told."""
        classes = self.cluster.classes
        for each in [each for each in self._heard if each is not None and classes.get(each.index) is not each]:
            del self._heard[each]
        self._heard_most = _HEARD + len(self._heard) * 5 // 4

    def _group_columns(self, rows: Rows) -> list[Ints] | None:
        columns = [each.score.score(rows) for each in self._grouping]
        self._grouping_watchers.clear()
        for watcher in self.plugins.watchers:
            more = watcher.groups(rows)
            if more is None:
                return None
            if more:
                columns += more
                self._grouping_watchers.append(watcher)
        return columns

    def _sort_in(self, buckets: Buckets, rows: set[int], regrouped: set[int]) -> None:
        """Put rows into the buckets they now belong to; only those that are regrouped may have left their group."""
        if len(buckets.bucket_of) < self.cluster.nodes.size:
            buckets.grow()
        worth = self.node_local.worth
        coming = buckets.update(rows, worth) if rows else []
        for row in (*coming, *regrouped):
            points = worth[row]
            if points is None:
                buckets.drop(row)
            else:
                buckets.put(row, self._group(row), points)

    def _group(self, row: int) -> GroupKey:
        key: GroupKey = ()
        if self._grouping:
            only = np.array([row], dtype=np.int64)
            key = tuple([int(each.score.score(only)[0]) for each in self._grouping])
        for watcher in self._grouping_watchers:
            key += watcher.group(row)
        return key


def _lasting_reads(plugins: PreparedPlugins) -> Iterable[Subject | One]:
    """What the plugins rest on whose answers are the same whatever a pod's claims."""
    lasting = (each for name, each in plugins.prepared.items() if name not in ASKED_ABOUT_CLAIMS)
    return (each for prepared in lasting for each in prepared.reads)


def _is_idle(each: object) -> bool:
    return offers(each, CanBeIdle) and each.idle
