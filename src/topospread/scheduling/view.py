"""The plugins' results for one pod class, kept up to date from the journal at the cost of what changed.

A view never decides by itself what a plugin would: it calls the plugins' formulas, on all rows when it is built
and on the changed rows after that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from operator import attrgetter
from weakref import WeakValueDictionary

import msgspec
import numpy as np

from topospread.cluster import Cluster, PodChange, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.cluster.objects import ObjectKey, Reading, Subject
from topospread.plugins.group_columns import CountColumn, GroupColumn, HasKey
from topospread.plugins.interface import (
    Assuming,
    CanBeIdle,
    CanFail,
    Filter,
    FilterEach,
    Listener,
    Prepared,
    Scope,
    ScoreEach,
    Settling,
    Status,
    Watcher,
    offers,
)
from topospread.plugins.registry import ASKED_ABOUT_CLAIMS, ASKED_OF_EACH_CLASS

from .framework import Framework, PreparedPlugins, WeightedScore
from .groups import Heads
from .node_local import NodeLocalAnswers, Work, sharing_key

_LAYOUT: Callable[[Watcher], int] = attrgetter("layout")
_LAID_OVER = 128
"""Up to so many nodes with a count lie over groups without counts: each of them is looked at for each placement."""
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
    """The common data of views of different pod classes: the work counted, and equal answers."""

    def __init__(self, work: Work | None = None) -> None:
        self.work = work or Work()
        self._answers: WeakValueDictionary[Hashable, NodeLocalAnswers] = WeakValueDictionary()

    def known(self, key: Hashable) -> NodeLocalAnswers | None:
        """Return answers for a `sharing_key`, up to date."""
        known = self._answers.get(key)
        return known if known is not None and known.catch_up() else None

    def made(self, key: Hashable, cluster: Cluster, plugins: PreparedPlugins) -> NodeLocalAnswers:
        """Return new answers; classes with the same key find them, ``None`` for classes that share none."""
        made = NodeLocalAnswers(cluster, plugins, self.work)
        if key is not None:
            self._answers[key] = made
        return made


class View:
    """One pod class on one cluster under one profile.

    Attributes:
        plugins: the plugins, prepared for the class.
        node_local: what rests on the node and its pods.
        one_by_one: the cluster-wide plugins node by node, ``None`` where one of them only knows arrays.
        assuming, settling: watchers that are told of dry runs.
        beside: row → a state of the node and the pods that it is promised to, and what rejects it beside them.
        can_fail: whether a filter may fail on single nodes.
        answers_node_pinned: whether it says of a node what the view of a pod that is tied to that node would say.
    """

    def __init__(
        self, cluster: Cluster, framework: Framework, pod_class: PodClass, shared: Shared, before: View | None = None
    ) -> None:
        """``before``: of a class that differs in claims alone; what it has counted passes on to this one, it ends."""
        self.cluster = cluster
        self.framework = framework
        self.pod_class = pod_class
        self.work = shared.work
        passes_on = before is not None and before.end()
        key = sharing_key(framework, pod_class)
        answers = shared.known(key)
        known: dict[str, Prepared] = {}
        if before is not None and passes_on:
            known = _without(ASKED_ABOUT_CLAIMS, before.plugins)
        elif answers is not None:
            known = _without(ASKED_OF_EACH_CLASS, answers.plugins)
        self.plugins: PreparedPlugins = framework.prepare(pod_class, cluster, known)
        self.assuming = [each for each in self.plugins.watchers if offers(each, Assuming)]
        self.settling = [each for each in self.plugins.watchers if offers(each, Settling)]
        self.can_fail = any(offers(each.filter, CanFail) for each in self.plugins.filters)
        self.answers_node_pinned = not any(each.counts_own_nodes for each in self.plugins.prepared.values())
        # Plugins that did not judge the class, or reject it as a whole, say nothing of classes that agree in the rest.
        if self.plugins.rejected is not None or len(self.plugins.prepared) < len(framework.plugins):
            self.node_local = shared.made(None, cluster, self.plugins)
        else:
            self.node_local = answers or shared.made(key, cluster, self.plugins)
        self.work.built += 1
        self._objects = Reading(cluster.objects, self.plugins.reads)
        self._position = cluster.journal.join(self)
        self._numbering = cluster.nodes.numbering
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
        # Whether counts are columns of the groups: once many nodes have a count this stays so.
        self._are_counts_grouped = False
        self._columns: _Columns | None = None
        self._layout: list[int] | None = None
        self._take_layout()

    def _take_layout(self) -> None:
        """Leave out filters and scores that are idle, and group by what is left."""
        layout = list(map(_LAYOUT, self.plugins.watchers))
        if layout != self._layout:
            self._layout = layout
            self.cluster_filters = [each for each in self._cluster_filters if not _is_idle(each)]
            self._active_scores = [each for each in self.relative_scores if not _is_idle(each.score)]
            self.one_by_one = one_by_one(self.cluster_filters, self._active_scores)
            self._columns = self._group_columns()

    def catch_up(self) -> bool:
        """Read what concerns the class from the journal; False if a new view has to be built instead."""
        if self._ended or self._numbering != self.cluster.nodes.numbering:
            return False
        if not self._objects.unchanged() or not self._read() or not self.node_local.catch_up():
            return False
        self._take_layout()
        return True

    def end(self) -> bool:
        """Stop using the view; return whether its counts are up to date, so that another view can go on with them."""
        ended, self._ended = self._ended, True
        if ended or self._numbering != self.cluster.nodes.numbering or not self._lasting.unchanged():
            return False
        return self._read()

    def rewind(self, position: int) -> None:
        """The journal's newest changes, which were read and undo each other, were taken back."""
        self._position = position

    def heads(self) -> Heads | None:
        """Return the best open node of each group; ``None`` if the plugins of this class allow no grouping.

        Counts lie over groups without counts while few nodes have a count, and are columns of the groups after that.
        """
        columns = self._columns
        if columns is None:
            return None
        if columns.counts and not self._are_counts_grouped:
            counts = [each.counted() for each in columns.counts]
            if sum(map(len, counts)) <= _LAID_OVER:
                groups = self.node_local.groups(*columns.without_counts)
                return groups.heads_beside(counts) if any(counts) else groups.heads()
            self._are_counts_grouped = True
        return self.node_local.groups(*columns.with_counts).heads()

    def feasible(self, rows: Rows) -> Bools:
        """Return whether rows pass every filter, bool[rows]."""
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
        """Number of classes whose pods the view counts itself."""
        return len(self._heard) - 1

    @property
    def position(self) -> int:
        """Position in the journal up to which everything that concerns the class was read."""
        return self._position

    def hears_of(self, changes: Sequence[PodChange]) -> bool:
        """Return whether a plugin counts pods of the class of one of these changes."""
        if self._asked != self.cluster.classes_made:
            self._listen_to_new()
        heard, watchers = self._heard, self.plugins.watchers
        classes = dict.fromkeys(pod_class for _, pod_class, _ in changes if pod_class is not None)
        return any(each in heard or any(watcher.counts_pods_of(each) for watcher in watchers) for each in classes)

    def _listen_to_new(self) -> None:
        for watcher in self.plugins.watchers:
            self._listen(watcher.concerned(self._asked))
        self._asked = self.cluster.classes_made

    def _read(self) -> bool:
        """Read the changes of heard classes and of nodes; False if they are no longer in the journal."""
        if self._asked != self.cluster.classes_made:
            self._listen_to_new()
        heard = self._heard
        changes = self.cluster.journal.about(heard, self._position, self)
        if changes is None:
            return False
        if changes:
            self._position = self.cluster.journal.position
            self.work.changes += len(changes)
            nodes: dict[int, None] = {}
            for row, pod_class, delta in changes:
                if pod_class is None:
                    nodes[row] = None
                else:
                    for listener in heard[pod_class]:
                        listener(row, delta)
            if nodes:
                for watcher in self.plugins.watchers:
                    watcher.on_nodes(nodes)
            if len(heard) > self._heard_most:
                # Forget the classes that the cluster has let go of: all that happened to their pods is told.
                classes = self.cluster.classes
                for each in [each for each in self._heard if each is not None and classes.get(each.index) is not each]:
                    del self._heard[each]
                self._heard_most = _HEARD + len(self._heard) * 5 // 4
        return True

    def _listen(self, classes: Iterable[PodClass]) -> None:
        """Remember who wants to be told of pods of these classes, where anybody does."""
        heard = self._heard
        for each in classes:
            if each not in heard:
                found = [listener for watcher in self.plugins.watchers if (listener := watcher.listener(each))]
                if found:
                    heard[each] = tuple(found)

    def _group_columns(self) -> _Columns | None:
        found: dict[Hashable, GroupColumn] = {}
        for score in self._grouping:
            found["score", score.plugin] = _ScoreColumn(score)
        for watcher in self.plugins.watchers:
            columns = watcher.columns()
            if columns is None or not self._can_group:
                return None
            found.update((each.key, each) for each in columns)
        counts = [each for each in found.values() if offers(each, CountColumn)]
        plain = [HasKey(each.labels) if offers(each, CountColumn) else each for each in found.values()]
        without_counts = {each.key: each for each in plain}
        return _Columns(counts, (tuple(without_counts), [*without_counts.values()]), (tuple(found), [*found.values()]))


class _Columns(msgspec.Struct, frozen=True):
    """The columns by which a class tells nodes apart.

    Attributes:
        counts: the columns that count pods.
        without_counts: a key for all columns, and the columns as they are on nodes without such pods.
        with_counts: a key for all columns, and the columns.
    """

    counts: list[CountColumn]
    without_counts: tuple[Hashable, list[GroupColumn]]
    with_counts: tuple[Hashable, list[GroupColumn]]


class _ScoreColumn:
    """Raw points that are normalised and rest on the node alone."""

    is_fixed = True

    def __init__(self, score: WeightedScore) -> None:
        self.key = ("score", score.plugin)
        self._score = score.score

    def values(self, rows: Rows) -> Ints:
        return self._score.score(rows)

    def value(self, row: int) -> int:
        return int(self._score.score(np.array([row], dtype=np.int64))[0])


def _lasting_reads(plugins: PreparedPlugins) -> Iterable[Subject | ObjectKey]:
    """Yield the dependencies of plugins whose answers are the same whatever a pod's claims."""
    return (each for prepared in _without(ASKED_ABOUT_CLAIMS, plugins).values() for each in prepared.reads)


def _without(names: Collection[str], plugins: PreparedPlugins) -> dict[str, Prepared]:
    """Return the answers of all other plugins."""
    return {name: each for name, each in plugins.prepared.items() if name not in names}


def _is_idle(each: object) -> bool:
    return offers(each, CanBeIdle) and each.idle
