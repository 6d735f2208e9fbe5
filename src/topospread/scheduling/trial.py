"""Pods put on or taken off a node to see what the plugins would say, and all of it undone.

kube-scheduler does this for nominated pods and in preemption's dry run (PreFilter's AddPod and RemovePod, then the
filters on that node). Here the cluster itself is changed and changed back; only the view at hand reads of it.
"""

from __future__ import annotations

from types import TracebackType

import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.cluster import PodKey
from topospread.cluster.pod_class import HostPort

from .view import View


class Trial:
    """A trial on one node, used as a context; leaving it puts everything back, the order of the pods included."""

    def __init__(self, view: View, row: int) -> None:
        self._view = view
        self._cluster = view.cluster
        self._row = row
        self._only = np.array([row], dtype=np.int64)
        self._before: dict[PodKey, PodClass] = {}
        self._ports: set[HostPort] = set()
        self._position = 0

    def __enter__(self) -> Trial:
        self._before = dict(self._cluster.on_node[self._row])
        self._ports = self._cluster.ports_on(self._row)
        self._position = self._cluster.journal.position
        self._tell("begin_trial")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        now = self._cluster.on_node[self._row]
        for key in [key for key in now if key not in self._before]:
            self.remove(key)
        for key, pod_class in self._before.items():
            if key not in now:
                self.add(key, pod_class)
        self._cluster.restore_ports(self._row, self._ports)
        self._view.catch_up()
        self._cluster.on_node[self._row] = self._before
        self._view.forget_since(self._position)
        self._tell("end_trial")

    def add(self, key: PodKey, pod_class: PodClass) -> None:
        """Put a pod on the node."""
        self._cluster.bind(key, pod_class, self._row)
        self._assume(pod_class, 1)

    def remove(self, key: PodKey) -> PodClass:
        """Take a pod off the node; its class."""
        started = self._cluster.started.get(key)
        pod_class = self._cluster.unbind(key)
        if started is not None:
            self._cluster.started[key] = started
        self._assume(pod_class, -1)
        return pod_class

    def passes(self) -> bool:
        """Whether the node, as it now is, passes every filter."""
        self._view.catch_up()
        return bool(self._view.feasible(self._only)[0])

    def _tell(self, event: str) -> None:
        """What PreFilter has settled stays settled during the trial, whatever it adds or removes."""
        for watcher in self._view.judges.watchers:
            told = getattr(watcher, event, None)
            if told is not None:
                told()

    def _assume(self, pod_class: PodClass, delta: int) -> None:
        for watcher in self._view.judges.watchers:
            assume = getattr(watcher, "assume", None)
            if assume is not None:
                assume(self._row, pod_class, delta)
