"""Durations of plugins and extension points, for kube-scheduler's metrics.

Of ten attempts one is measured, of many in a second two.

Most of what kube-scheduler's plugins do for each pod is done here once for all pods that are alike, or when something
changes. So what is measured is what is done: PreFilter when the plugins are prepared for a class of pods, Filter with
bringing up to date what they said of the nodes, Score with the choice among these; of single plugins one call each, for
one node. Source: pkg/scheduler/schedule_one.go (``pluginMetricsSamplePercent``), framework/runtime/framework.go.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter

import numpy as np

from topospread.api.pod import Pod
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.config.gates import Gates
from topospread.config.profile import Profile
from topospread.plugins.interface import Plugin, PluginError, Prepared
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.framework import NOTHING_KNOWN, Framework, PreparedPlugins
from topospread.scheduling.view import View

from .observer import Code, Observer

SHARE = 10
"""One attempt in so many is measured."""
_APART = 0.5
"""Seconds between two that are: what is measured is asked a second time, which costs more than the whole attempt."""


class TimedFramework(Framework):
    """A framework that tells how long its plugins take to be prepared for a class of pods."""

    def __init__(self, profile: Profile, gates: Gates, times: Observer) -> None:
        super().__init__(profile, gates)
        self._times = times
        self._pre_filtering = frozenset(profile.enabled("pre_filter"))

    def prepare(
        self, pod_class: PodClass, cluster: Cluster, known: Mapping[str, Prepared] = NOTHING_KNOWN
    ) -> PreparedPlugins:
        """See Framework."""
        started, status = perf_counter(), "Error"
        try:
            plugins = super().prepare(pod_class, cluster, known)
            status = "Success" if plugins.rejected is None else plugins.rejected[1].code
        finally:
            self._times.extension_point(
                "PreFilter", _code(status), self.profile.scheduler_name, perf_counter() - started
            )
        return plugins

    def ask(self, plugin: Plugin, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """See Framework."""
        started, status = perf_counter(), "Error"
        try:
            prepared = super().ask(plugin, pod_class, cluster)
            if prepared.rejected is not None:
                status = prepared.rejected.code
            else:
                status = "Success" if prepared.filter is not None or prepared.score is not None else "Skip"
        finally:
            if plugin.name in self._pre_filtering:
                self._times.plugin(plugin.name, "PreFilter", _code(status), perf_counter() - started)
        return prepared


def _code(status: str) -> Code:
    for each in ("Success", "Skip", "Unschedulable", "UnschedulableAndUnresolvable"):
        if status == each:
            return each
    return "Error"


class PluginTimes:
    """Measures some of the attempts.

    Args:
        share: one in so many, drawn.
        now: seconds.
    """

    def __init__(self, times: Observer, share: int = SHARE, now: Callable[[], float] = perf_counter) -> None:
        self._times = times
        self._share = share
        self._now = now
        self._next = now()

    def drawn(self) -> bool:
        """Return whether the attempt that begins is to be measured."""
        if random.random() * self._share >= 1 or (now := self._now()) < self._next:
            return False
        self._next = now + _APART
        return True

    @contextmanager
    def cycle(self, scheduler: Scheduler, pod: Pod) -> Iterator[None]:
        """Measure the cycle of a pod that is placed, or refused, in the block."""
        pod_class = scheduler.cluster.shared_class(pod)
        profile = scheduler.framework_of(pod_class).profile.scheduler_name
        started = perf_counter()
        try:
            view = scheduler.view(pod_class)
        except PluginError:
            yield
            return
        filtered = perf_counter()
        is_open = bool(view.node_local.open[: scheduler.cluster.nodes.size].any())
        self._times.extension_point("Filter", "Success" if is_open else "Unschedulable", profile, filtered - started)
        if is_open:
            self._ask_each(view)
        began = perf_counter()
        yield
        if is_open:
            self._times.extension_point("Score", "Success", profile, perf_counter() - began)

    @contextmanager
    def point(self, point: str, plugin: str, profile: str) -> Iterator[None]:
        """Measure an extension point at which one plugin is at work; what it raises is an error."""
        started, status = perf_counter(), "Error"
        try:
            yield
            status = "Success"
        finally:
            seconds = perf_counter() - started
            self._times.plugin(plugin, point, _code(status), seconds)
            self._times.extension_point(point, _code(status), profile, seconds)

    def post_filter(self, profile: str, found: bool, seconds: float) -> None:
        """Preemption was tried."""
        status: Code = "Success" if found else "Unschedulable"
        self._times.plugin("DefaultPreemption", "PostFilter", status, seconds)
        self._times.extension_point("PostFilter", status, profile, seconds)

    def _ask_each(self, view: View) -> None:
        """Every filter and score of a pod, for one node that is open for it."""
        row = np.flatnonzero(view.node_local.open[: view.cluster.nodes.size])[:1].astype(np.int64)
        for named in view.plugins.filters:
            started = perf_counter()
            code = int(named.filter.filter(row)[0])
            seconds = perf_counter() - started
            self._times.plugin(
                named.plugin, "Filter", _code(named.filter.status(code).code) if code else "Success", seconds
            )
        for weighted in view.plugins.scores:
            started = perf_counter()
            raw: Ints = weighted.score.score(row)
            scored = perf_counter()
            self._times.plugin(weighted.plugin, "Score", "Success", scored - started)
            if weighted.normalized is not None:
                weighted.normalized.normalize(raw, row)
                self._times.plugin(weighted.plugin, "ScoreExtensionNormalize", "Success", perf_counter() - scored)
