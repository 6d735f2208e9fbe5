"""A cache of the views of pod classes, with a memory limit."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from itertools import islice
from weakref import WeakValueDictionary

from topospread.cluster import Cluster, PodClass

from .equivalence_class import EquivalenceClass, EquivalenceClasses
from .framework import Framework
from .view import Shared, View

_VIEW_MEMORY = 3 << 29
_BYTES_PER_ROW = 24
_BYTES_PER_VIEW = 1 << 15
_MANY_VIEWS = 256
_LOOKED_AT = 4
"""Number of cached views that are checked whenever a view is added; views of classes without pods are dropped."""

_Key = tuple[str, Hashable]


class ViewCache:
    """Views by profile and class, least recently used first.

    Attributes:
        shared: data that all views share.
        equivalence_classes: classes that share a view or its counts.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.shared = Shared()
        self.equivalence_classes = EquivalenceClasses(cluster)
        self._latest_of: WeakValueDictionary[tuple[str, EquivalenceClass], View] = WeakValueDictionary()
        self._cluster = cluster
        self._views: OrderedDict[_Key, View] = OrderedDict()
        self._round: Iterator[_Key] = iter(())
        self._latest: tuple[View | None, int] = (None, -1)

    def __len__(self) -> int:
        return len(self._views)

    def __iter__(self) -> Iterator[View]:
        return iter(self._views.values())

    def of(self, framework: Framework, pod_class: PodClass) -> View:
        """Return the up-to-date view of a class. Drop the least recently used views above the memory limit.

        Raises:
            PluginError: if kube-scheduler fails on the pod.
        """
        latest, index = self._latest
        if (
            latest is not None
            and latest.pod_class is pod_class
            and index == pod_class.index
            and latest.framework is framework
            and latest.catch_up()
        ):
            return latest
        key = (framework.profile.scheduler_name, self.equivalence_classes.key(pod_class))
        view = self._views.get(key)
        if view is None or not view.catch_up():
            view = self._views[key] = self._made(framework, pod_class)
            self._views.move_to_end(key)
            self._drop()
        else:
            self._views.move_to_end(key)
        self._latest = view, pod_class.index
        return view

    def known(self, framework: Framework, pod_class: PodClass) -> View | None:
        """Return the up-to-date view of exactly this class, not of an equivalent one; ``None`` if it is not cached."""
        view = self._views.get((framework.profile.scheduler_name, pod_class.key))
        return view if view is not None and view.pod_class is pod_class and view.catch_up() else None

    def _made(self, framework: Framework, pod_class: PodClass) -> View:
        """Return a new view. If a view of an equivalent class exists, the new view takes over its counts."""
        equivalence_class = self.equivalence_classes.of(pod_class)
        if equivalence_class is None:
            return View(self._cluster, framework, pod_class, self.shared)
        alike = (framework.profile.scheduler_name, equivalence_class)
        before = self._latest_of.get(alike)
        if before is not None and pod_class.volumes:
            self._views.pop((framework.profile.scheduler_name, before.pod_class.key), None)
        made = self._latest_of[alike] = View(self._cluster, framework, pod_class, self.shared, before)
        return made

    def _drop(self) -> None:
        """Drop views above the memory limit. If there are many views, also drop some whose class has no pods."""
        while len(self._views) > self._most():
            self._views.popitem(last=False)
        if len(self._views) <= _MANY_VIEWS:
            return
        keys = list(islice(self._round, _LOOKED_AT))
        for key in keys:
            view = self._views.get(key)
            if view is not None and not view.pod_class.occupancy:
                del self._views[key]
        if len(keys) < _LOOKED_AT:
            self._round = iter(list(self._views)[:-1])

    def _most(self) -> int:
        return max(8, _VIEW_MEMORY // (_BYTES_PER_VIEW + _BYTES_PER_ROW * self._cluster.nodes.size))
