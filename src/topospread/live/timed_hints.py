"""Measure the plugins' queueing hints, for kube-scheduler's metrics.

Source: pkg/scheduler/backend/queue/scheduling_queue.go (``isPodWorthRequeuing``, ``queueingHintToLabel``). Equivalent
pods share one call here, so there are fewer calls than in kube-scheduler.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from topospread.api.pod import Pod
from topospread.plugins.cluster_event import ClusterEvent, Hint
from topospread.plugins.interface import PluginError
from topospread.scheduling.requeueing import Requeueing

from .instrumented_queue import label
from .observer import Observer


@dataclass(slots=True)
class TimedRequeueing(Requeueing):
    """The queueing hints of a profile's plugins, with their durations measured."""

    observer: Observer = field(default_factory=Observer)

    def interested(self, event: ClusterEvent) -> list[tuple[str, Hint]]:
        """See Requeueing."""
        known = self._interested.get(event)
        if known is None:
            asked = Requeueing.interested(self, event)
            known = [(plugin, self._timed(plugin, label(event), hint)) for plugin, hint in asked]
            self._interested[event] = known
        return known

    def _timed(self, plugin: str, event: str, hint: Hint) -> Hint:
        tell = self.observer.hinted

        def timed(pod: Pod, old: Any, new: Any) -> bool:
            started = perf_counter()
            try:
                helps = hint(pod, old, new)
            except PluginError:
                tell(plugin, event, "Error", perf_counter() - started)
                raise
            tell(plugin, event, "Queue" if helps else "QueueSkip", perf_counter() - started)
            return helps

        return timed
