"""The plugins' answers for one pod class, updated from the cluster's journal.

A view calls the plugins' formulas on all rows when it is built, and afterwards only on rows that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
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
    Listening,
    Prepared,
    Scope,
    ScoreEach,
    Settling,
    Status,
    Watcher,
    offers,
)
from topospread.plugins.registry import ASKED_ABOUT_CLAIMS, ASKED_OF_EACH_CLASS

from .framework import NOTHING_KNOWN, Framework, PreparedPlugins, WeightedScore
from .groups import Heads
from .node_local import NodeLocalAnswers, Work, sharing_key

_LAYOUT: Callable[[Watcher], int] = attrgetter("layout")
_LAID_OVER = 128
"""Up to this number of nodes with counted pods, `View.heads` takes these nodes out of their groups at each call."""
_HEARD = 64
"""`View._heard` is cleared of dropped classes when it has this number of classes more than 5/4 of its last size."""


class OneByOne(msgspec.Struct, frozen=True):
    """Cluster-wide filters, and (weight, score) of cluster-wide scores, which all can run node by node."""

    filters: tuple[FilterEach, ...]
    scores: tuple[tuple[int, ScoreEach], ...]


def one_by_one(filters: Sequence[Filter], scores: Sequence[WeightedScore]) -> OneByOne | None:
    """Return the plugins to call node by node; ``None`` if any of them only works on arrays."""
    each_filter = tuple(each for each in filters if offers(each, FilterEach))
    each_score = tuple((each.weight, each.score) for each in scores if offers(each.score, ScoreEach))
    if len(each_filter) < len(filters) or len(each_score) < len(scores):
        return None
    return OneByOne(each_filter, each_score)


class Shared:
    """Data that the views of all pod classes share: counted operations, and node-local answers by `sharing_key`."""

    def __init__(self) -> None:
        self.work = Work()
        self._answers: WeakValueDictionary[Hashable, NodeLocalAnswers] = WeakValueDictionary()

    def known(self, key: Hashable) -> NodeLocalAnswers | None:
        """Return the up-to-date answers for a `sharing_key`; ``None`` if unknown or outdated."""
        known = self._answers.get(key)
        return known if known is not None and known.catch_up() else None

    def made(self, key: Hashable, cluster: Cluster, plugins: PreparedPlugins) -> NodeLocalAnswers:
        """Return new answers. `known` returns them for the same key later, unless the key is ``None``."""
        made = NodeLocalAnswers(cluster, plugins, self.work)
        if key is not None:
            self._answers[key] = made
        return made


class View:
    """The answers for one pod class on one cluster under one profile.

    Attributes:
        plugins: the plugins, prepared for the class.
        node_local: answers that depend on the node and its pods only.
        listening: watchers with their own counts of pods, updated from the journal.
        assuming, settling: watchers that take part in dry runs.
        beside: cache of rejections after nominated pods are added: row → (state of the node and these pods, (plugin,
            status)).
        can_fail: whether a filter may fail with an error on single nodes.
        answers_node_pinned: whether the view's answer for a node also holds for a DaemonSet pod pinned to that node.

    Between calls, counts and ``node_local`` may be older than the cluster. Call `catch_up` before any other method; if
    it returns False, the view is invalid.
    """

    def __init__(  # noqa: PLR0913 - two are rare
        self,
        cluster: Cluster,
        framework: Framework,
        pod_class: PodClass,
        shared: Shared,
        before: View | None = None,
        *,
        prepared: Mapping[str, Prepared] = NOTHING_KNOWN,
    ) -> None:
        """Build the view.

        Args:
            shared: data that all views share.
            before: view of a class that differs only in claims. The new view takes over its counts and ends it.
            prepared: plugin → its answer for this class, only if prepared since the last change of the cluster.
        """
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
        self.plugins: PreparedPlugins = framework.prepare(pod_class, cluster, {**known, **prepared})
        # Share no answers with classes of the same key if PreFilter rejects this class or a plugin failed for it.
        if self.plugins.rejected is not None or len(self.plugins.prepared) < len(framework.plugins):
            self.node_local = shared.made(None, cluster, self.plugins)
        else:
            self.node_local = answers or shared.made(key, cluster, self.plugins)
        self.work.built += 1
        self.listening = [each for each in self.plugins.watchers if offers(each, Listening)]
        self.assuming = [each for each in self.plugins.watchers if offers(each, Assuming)]
        self.settling = [each for each in self.plugins.watchers if offers(each, Settling)]
        self.can_fail = any(offers(each.filter, CanFail) for each in self.plugins.filters)
        self.answers_node_pinned = not any(each.counts_own_nodes for each in self.plugins.prepared.values())
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
        # Class → listeners that count its pods. All classes below the number `_asked` were offered to the watchers.
        self._heard: dict[PodClass, tuple[Listener, ...]] = {}
        self._heard_most = _HEARD
        self._ended = False
        self._lasting = Reading(cluster.objects, _lasting_reads(self.plugins))
        if before is not None and passes_on and self.plugins.watchers == before.plugins.watchers:
            self._heard, self._heard_most = before._heard, before._heard_most
        else:
            for watcher in self.listening:
                self._listen(watcher.concerned())
        # Whether groups are formed by counts, too (`_Columns.with_counts`). Once True, it stays True.
        self._are_counts_grouped = False
        self._layout: list[int] | None = None
        self._take_layout()

    def _take_layout(self) -> None:
        """If a watcher's layout changed, select the filters and scores that are not idle, and reset the columns."""
        layout = list(map(_LAYOUT, self.plugins.watchers))
        if layout != self._layout:
            self._layout = layout
            self.cluster_filters = [each for each in self._cluster_filters if not _is_idle(each)]
            self._active_scores = [each for each in self.relative_scores if not _is_idle(each.score)]
            self.__dict__.pop("one_by_one", None)
            self.__dict__.pop("_columns", None)

    @cached_property
    def one_by_one(self) -> OneByOne | None:
        """Cluster-wide plugins to call node by node; ``None`` if any of them only works on arrays."""
        return one_by_one(self.cluster_filters, self._active_scores)

    def catch_up(self) -> bool:
        """Apply the journal's changes that concern the class. Return False if a new view must be built."""
        if self._ended or self._numbering != self.cluster.nodes.numbering:
            return False
        if not self._objects.unchanged() or not self._read() or not self.node_local.catch_up():
            return False
        self._take_layout()
        return True

    def end(self) -> bool:
        """End the view. Return whether its counts are up to date, so another view can take them over."""
        ended, self._ended = self._ended, True
        if ended or self._numbering != self.cluster.nodes.numbering or not self._lasting.unchanged():
            return False
        return self._read()

    def rewind(self, position: int) -> None:
        """Set the position after the journal took back changes that this view had read."""
        self._position = position

    def heads(self) -> Heads | None:
        """Return the best feasible node of each group; ``None`` if the plugins of this class allow no grouping.

        Up to `_LAID_OVER` nodes with counted pods are taken out of their groups at each call. With more, nodes are
        grouped by their counts, too.
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
        """Return the weighted total of all scores for feasible rows, int64[rows]; ``nodes`` as in `Score.score`."""
        total: Ints = self.node_local.points[rows].copy()
        for each in self._active_scores:
            total += each.points(rows, nodes)
        return total

    @property
    def heard(self) -> int:
        """Number of classes whose pods the view's watchers count."""
        return len(self._heard)

    def hears_of(self, changes: Sequence[PodChange]) -> bool:
        """Return whether a plugin counts the pods of any class in these changes."""
        if self._asked != self.cluster.classes_made:
            self._listen_to_new()
        heard, watchers = self._heard, self.plugins.watchers
        classes = dict.fromkeys(pod_class for _, pod_class, _ in changes if pod_class is not None)
        return any(each in heard or any(watcher.counts_pods_of(each) for watcher in watchers) for each in classes)

    def _listen_to_new(self) -> None:
        for watcher in self.listening:
            self._listen(watcher.concerned(self._asked))
        self._asked = self.cluster.classes_made

    def _read(self) -> bool:
        """Apply the changes of counted classes and of nodes. Return False if the journal dropped some of them."""
        if self._asked != self.cluster.classes_made:
            self._listen_to_new()
        heard, journal = self._heard, self.cluster.journal
        changes = journal.about(heard, self._position, self)
        nodes = {} if journal.last_node_change < self._position else journal.nodes_since(self._position, self)
        if changes is None or nodes is None:
            return False
        if changes or nodes:
            self._position = journal.position
            self.work.changes += len(changes) + len(nodes)
            for row, pod_class, delta in changes:
                for listener in heard[pod_class]:  # type: ignore[index]  # changes of classes were asked for
                    listener(row, delta)
            if nodes:
                for watcher in self.plugins.watchers:
                    watcher.on_nodes(nodes)
            if len(heard) > self._heard_most:
                # Drop classes that the cluster no longer keeps; all changes of their pods were read.
                classes = self.cluster.classes
                for each in [each for each in self._heard if classes.get(each.index) is not each]:
                    del self._heard[each]
                self._heard_most = _HEARD + len(self._heard) * 5 // 4
        return True

    def _listen(self, classes: Iterable[PodClass]) -> None:
        """Store the listeners of classes that have any."""
        heard = self._heard
        for each in classes:
            if each not in heard:
                found = [listener for watcher in self.listening if (listener := watcher.listener(each))]
                if found:
                    heard[each] = tuple(found)

    @cached_property
    def _columns(self) -> _Columns | None:
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
    """The columns by which a class groups nodes.

    Attributes:
        counts: columns that count pods.
        without_counts: (key, columns), with a `HasKey` column in place of each column that counts pods.
        with_counts: (key, columns), with the columns that count pods.
    """

    counts: list[CountColumn]
    without_counts: tuple[Hashable, list[GroupColumn]]
    with_counts: tuple[Hashable, list[GroupColumn]]


class _ScoreColumn:
    """A column of raw scores that are normalised later and depend on the node only."""

    is_fixed = True

    def __init__(self, score: WeightedScore) -> None:
        self.key = ("score", score.plugin)
        self._score = score.score

    def values(self, rows: Rows) -> Ints:
        return self._score.score(rows)

    def value(self, row: int) -> int:
        return int(self._score.score(np.array([row], dtype=np.int64))[0])


def _lasting_reads(plugins: PreparedPlugins) -> Iterable[Subject | ObjectKey]:
    """Yield the objects that plugins read, except plugins whose answers depend on a pod's claims."""
    return (each for prepared in _without(ASKED_ABOUT_CLAIMS, plugins).values() for each in prepared.reads)


def _without(names: Collection[str], plugins: PreparedPlugins) -> dict[str, Prepared]:
    return {name: each for name, each in plugins.prepared.items() if name not in names}


def _is_idle(each: object) -> bool:
    return offers(each, CanBeIdle) and each.idle
