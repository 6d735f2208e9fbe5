"""Pods put on or taken off a node to see what the plugins would say, and all of it undone.

kube-scheduler does this for nominated pods and in preemption's dry run (PreFilter's AddPod and RemovePod, then the
filters on that node). Here the cluster itself is changed, in a savepoint; only the view at hand reads of it.
"""

from __future__ import annotations

from types import TracebackType

import numpy as np

from topospread.cluster import PodClass, Savepoint
from topospread.cluster.cluster import PodKey

from .view import View


class DryRun:
    """A dry run on one node, used as a context; leaving it puts everything back, the order of the pods included."""

    def __init__(self, view: View, row: int) -> None:
        self._view = view
        self._cluster = view.cluster
        self._row = row
        self._only = np.array([row], dtype=np.int64)
        self._savepoint: Savepoint | None = None

    def __enter__(self) -> DryRun:
        self._savepoint = self._cluster.savepoint()
        for watcher in self._view.settling:
            watcher.begin_dry_run()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._savepoint is not None, "a dry run is left after it was entered"
        self._savepoint.close()
        for watcher in self._view.settling:
            watcher.end_dry_run()

    def add(self, key: PodKey, pod_class: PodClass) -> None:
        """Put a pod on the node."""
        self._cluster.bind(key, pod_class, self._row)
        self._assume(pod_class, 1)
        self._cluster.undo.record(self._assume, pod_class, -1)

    def remove(self, key: PodKey) -> PodClass:
        """Take a pod off the node; its class."""
        pod_class = self._cluster.unbind(key)
        self._assume(pod_class, -1)
        self._cluster.undo.record(self._assume, pod_class, 1)
        return pod_class

    def passes(self) -> bool:
        """Whether the node, as it now is, passes every filter."""
        self._view.catch_up()
        return bool(self._view.feasible(self._only)[0])

    def _assume(self, pod_class: PodClass, delta: int) -> None:
        for watcher in self._view.assuming:
            watcher.assume(self._row, pod_class, delta)
