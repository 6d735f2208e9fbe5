"""Dry runs: pods are added to a node or removed from it, filters run, and the node is restored.

kube-scheduler does this for nominated pods and in preemption: PreFilter's AddPod and RemovePod, then the filters.
Source: pkg/scheduler/framework/runtime/framework.go, preemption/preemption.go.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Bools
from topospread.cluster.cluster import PodKey
from topospread.cluster.pod_class import HostPort
from topospread.plugins.interface import Filter, FilterEach, Listener, Scope, offers

from .framework import NamedFilter
from .view import View


class DryRun:
    """A dry run on one node, as a context manager. Its exit restores the node's pods and their order.

    A dry run changes only the state that filters read, and updates only the given view. For speed it writes no journal
    entry and no undo step: a preemption tries every pod of thousands of nodes.

    Attributes:
        is_local: whether results so far depend only on the node and its sums (`Scope.USAGE`).

    Args:
        view: the view of the incoming pod's class, up to date.
        row: the node.
    """

    def __init__(self, view: View, row: int) -> None:
        self._view = view
        self._cluster = view.cluster
        self._row = row
        self._pods = self._cluster.on_node[row]
        self._node_passes = view.node_local.node_open.item(row)
        filters = [each.filter for each in view.plugins.filters]
        self._local = [_asking(each, row) for each in filters if Scope.NODE < each.scope < Scope.CLUSTER]
        self._cluster_wide = [_asking(each, row) for each in filters if each.scope is Scope.CLUSTER]
        self._cluster_wide_pass: bool | None = None
        self.is_local = not any(Scope.USAGE < each.scope < Scope.CLUSTER for each in filters)
        self._listeners: dict[PodClass, tuple[Listener, ...]] = {}
        self._counted: set[PodClass] = set()
        self._net: dict[PodClass, int] = {}
        self._elsewhere: list[tuple[PodClass, int, int]] = []
        self._ports_before: dict[HostPort, bool] = {}

    def __enter__(self) -> DryRun:
        # The dict's order is the order of the node's pods. The dry run changes a copy, so the order needs no undo.
        self._cluster.on_node[self._row] = dict(self._pods)
        for watcher in self._view.settling:
            watcher.begin_dry_run()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for pod_class, net in self._net.items():
            for _ in range(abs(net)):
                self._count(pod_class, -1 if net > 0 else 1)
        for pod_class, row, delta in self._elsewhere:
            self._tell(pod_class, row, -delta)
        in_use = [port for port, was_in_use in self._ports_before.items() if was_in_use]
        self._cluster.ports.put_back(self._ports_before, self._row, in_use)
        self._cluster.on_node[self._row] = self._pods
        for watcher in self._view.settling:
            watcher.end_dry_run()

    def add(self, key: PodKey, pod_class: PodClass) -> None:
        """Put a pod on the node."""
        pod_class = pod_class.general or pod_class
        self._cluster.keep_class(pod_class)
        self._cluster.on_node[self._row][key] = pod_class
        self._change(pod_class, 1)

    def remove(self, key: PodKey) -> None:
        """Take a pod off the node."""
        self._change(self._cluster.on_node[self._row].pop(key), -1)

    def count_elsewhere(self, pod_class: PodClass, row: int, delta: int) -> None:
        """Add (+1) or remove (−1) a pod of another node, only in the counts of cluster-wide filters."""
        self._elsewhere.append((pod_class, row, delta))
        self._tell(pod_class, row, delta)

    def passes(self) -> bool:
        """Return whether the node passes every filter with its current pods."""
        if not self._node_passes or any(ask() for ask in self._local):
            return False
        if self._cluster_wide_pass is None:
            self._cluster_wide_pass = not any(ask() for ask in self._cluster_wide)
        return self._cluster_wide_pass

    def rejecting(self) -> tuple[NamedFilter, int]:
        """Return the first filter that rejects the node, and its code."""
        for each in self._view.plugins.filters:
            code = _asking(each.filter, self._row)()
            if code:
                return each, code
        raise AssertionError("a node that does not pass is rejected by some filter")

    def _change(self, pod_class: PodClass, delta: int) -> None:
        self._net[pod_class] = self._net.get(pod_class, 0) + delta
        if ports := pod_class.host_ports:
            in_use = self._cluster.ports
            for port in ports:
                self._ports_before.setdefault(port, bool(in_use.among((port,), self._row)))
            (in_use.take if delta > 0 else in_use.free)(ports, self._row)
        self._count(pod_class, delta)

    def _count(self, pod_class: PodClass, delta: int) -> None:
        """Add a pod to the sums that filters read (+1), or subtract it (−1)."""
        nodes, row = self._cluster.nodes, self._row
        taken = pod_class.taken(nodes)  # call it before `used` is read: a new resource adds a column to `used`
        if delta > 0:
            nodes.used[row] += taken
        else:
            nodes.used[row] -= taken
        if pod_class.volumes:
            use = self._cluster.volume_use
            (use.add if delta > 0 else use.remove)(pod_class.volumes, row)
            self._leave_local()
        self._tell(pod_class, row, delta)

    def _tell(self, pod_class: PodClass, row: int, delta: int) -> None:
        """Add (+1) or remove (−1) a pod in the counts of cluster-wide filters."""
        listeners = self._listeners.get(pod_class)
        if listeners is None:
            found = [watcher.listener(pod_class) for watcher in self._view.listening]
            listeners = self._listeners[pod_class] = tuple(each for each in found if each is not None)
            if any(watcher.counts_pods_of(pod_class) for watcher in self._view.plugins.watchers):
                self._counted.add(pod_class)
        if pod_class in self._counted:
            self._cluster.selections.count(pod_class, row, delta)
            self._leave_local()
        for listener in listeners:
            listener(row, delta)
            self._leave_local()
        for watcher in self._view.assuming:
            if watcher.assume(row, pod_class, delta):
                self._leave_local()

    def _leave_local(self) -> None:
        self.is_local = False
        self._cluster_wide_pass = None


def passes_as_it_is(view: View) -> Bools:
    """Return the rows that pass all filters of scopes NODE and CLUSTER, bool[rows].

    On these nodes, a dry run that changes only the node's sums is decided by USAGE filters alone.
    """
    everything = slice(0, view.cluster.nodes.size)
    for watcher in view.settling:
        watcher.begin_dry_run()
    passes = view.node_local.node_open[everything].copy()
    for each in view.plugins.filters:
        if each.filter.scope is Scope.CLUSTER:
            passes &= each.filter.filter(everything) == 0
    for watcher in view.settling:
        watcher.end_dry_run()
    return passes


def _asking(given: Filter, row: int) -> Callable[[], int]:
    """Return a function that returns the filter's code for one node."""
    if offers(given, FilterEach):
        one, each = (row,), given.filter_each
        return lambda: each(one)[0]
    only = np.array([row], dtype=np.int64)
    return lambda: int(given.filter(only)[0])
