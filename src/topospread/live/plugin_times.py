"""Durations of plugins and extension points, for kube-scheduler's metrics.

One in ten attempts is measured, at most two per second.

kube-scheduler runs its plugins for each pod. topospread runs most of this work once per class of equivalent pods, or
after changes. So PreFilter measures preparing the plugins for a class, Filter measures updating their results, and
Score measures choosing a node. Single plugins are measured with one call for one node. Source:
pkg/scheduler/schedule_one.go (``pluginMetricsSamplePercent``), framework/runtime/framework.go.
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
"""One in this many attempts is measured."""
_APART = 0.5
"""Minimum seconds between two measurements, because measuring repeats work and takes longer than the attempt."""


class TimedFramework(Framework):
    """A framework that reports how long plugins take to prepare for a class of pods."""

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
    """Measures some of the attempts; ``now`` returns seconds."""

    def __init__(self, times: Observer, now: Callable[[], float] = perf_counter) -> None:
        self._times = times
        self._now = now
        self._next = now()

    def drawn(self) -> bool:
        """Return whether to measure the next attempt."""
        if random.random() * SHARE >= 1 or (now := self._now()) < self._next:
            return False
        self._next = now + _APART
        return True

    @contextmanager
    def cycle(self, scheduler: Scheduler, pod: Pod) -> Iterator[None]:
        """Measure the scheduling cycle of a pod inside the block."""
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
        """Measure an extension point with a single plugin. An exception counts as an error."""
        started, status = perf_counter(), "Error"
        try:
            yield
            status = "Success"
        finally:
            seconds = perf_counter() - started
            self._times.plugin(plugin, point, _code(status), seconds)
            self._times.extension_point(point, _code(status), profile, seconds)

    def post_filter(self, profile: str, found: bool, seconds: float) -> None:
        """Report an attempt at preemption."""
        status: Code = "Success" if found else "Unschedulable"
        self._times.plugin("DefaultPreemption", "PostFilter", status, seconds)
        self._times.extension_point("PostFilter", status, profile, seconds)

    def _ask_each(self, view: View) -> None:
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
