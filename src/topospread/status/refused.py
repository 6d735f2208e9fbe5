"""Find pods that kube-scheduler would not place on their node again, by removing each and filtering its node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey
from topospread.plugins.affinity_terms import terms_of
from topospread.plugins.interface import PluginError, Prepared
from topospread.plugins.pod_topology_spread import HardConstraints, PodTopologySpread
from topospread.plugins.spread_counts import Spread
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.evaluate import rejection_on
from topospread.scheduling.framework import Framework
from topospread.scheduling.verdict import Rejection
from topospread.scheduling.view import Shared, View

from .members import Members
from .result import RefusedPod

_NOT_JUDGED = "not judged"
_VIEWS_KEPT = 4


class Refusals:
    """Evaluates the placed pods of workloads.

    Each class is evaluated once. Only a few recent views are cached, for classes that share results.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._frameworks = {name: each.without_scores() for name, each in scheduler.frameworks.items()}
        self._shared = Shared()
        self._latest: deque[View] = deque(maxlen=_VIEWS_KEPT)

    def of(self, members: Members, spreads: Mapping[PodClass, Prepared] | None = None) -> tuple[RefusedPod, ...]:
        """Return the workload's pods that their node would reject now, sorted by name.

        Pods of schedulers without a profile are omitted. ``spreads``: class → its PodTopologySpread if it is prepared.
        """
        names = self._scheduler.cluster.nodes.names
        found = [
            RefusedPod(key.partition("/")[2], names[row], why.plugin, why.reasons)
            for pod_class, rows in members.on.items()
            if (framework := self._frameworks.get(pod_class.pod.spec.scheduler_name or "default-scheduler"))
            for row, why in self._refusals(framework, pod_class, rows, (spreads or {}).get(pod_class))
            for key in rows[row]
        ]
        return tuple(sorted(found, key=lambda each: each.name))

    def _refusals(
        self, framework: Framework, pod_class: PodClass, rows: Mapping[int, list[PodKey]], spread: Prepared | None
    ) -> Iterator[tuple[int, Rejection]]:
        """Yield node rows whose pods of a class would be rejected, with reasons; they are equal on one node."""
        try:
            prepared = {} if spread is None else {PodTopologySpread.name: spread}
            view = View(self._scheduler.cluster, framework, pod_class, self._shared, prepared=prepared)
        except PluginError as error:
            yield from ((row, Rejection(_NOT_JUDGED, "", (str(error),))) for row in rows)
            return
        self._latest.append(view)
        known: dict[tuple[int, ...], Rejection | None] = {}
        for row, looks in _uncertain(view, list(rows)):
            rejection = known[looks] if looks in known else _rejection(view, rows[row][0])
            if looks:
                known[looks] = rejection
            if rejection is not None:
                yield row, rejection


def _uncertain(view: View, rows: list[int]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield (row, key) of each row for which a pod must be removed to know the result. Equal keys have equal results.

    All other nodes accept one more pod of the class. They also accept their own pod again, because a pod's resources
    and counts only hinder equal pods. Exceptions are pod affinity, which the pod itself may satisfy, and nodes with
    nominated pods. The key () means that the row must be evaluated by itself.
    """
    nominated = view.cluster.nominated
    numbers = np.array(rows, dtype=np.int64)
    takes_again = opens = view.node_local.open[numbers]
    for each in view.cluster_filters:
        takes_again = takes_again & (
            each.takes_again(numbers) if isinstance(each, HardConstraints) else each.filter(numbers) == 0
        )
    if terms_of(view.pod_class).affinity:
        takes_again = np.zeros(len(rows), dtype=np.bool_)
    if nominated:
        takes_again = takes_again & ~np.isin(numbers, list(nominated))
    left = np.flatnonzero(~takes_again).tolist()
    looks = _looks(view, numbers) if left else []
    for place in left:
        row = rows[place]
        yield row, looks[place] if looks and opens[place] and row not in nominated else ()


def _looks(view: View, rows: Ints) -> list[tuple[int, ...]]:
    """Return a key for each row that distinguishes nodes for plugins that count by domain.

    Return [] if each row must be evaluated by itself. Nodes in the same domains have the same counts before and after a
    pod leaves. A node that a constraint excludes loses no count.
    """
    columns: list[Ints] = []
    for watcher in view.plugins.watchers:
        more = watcher.columns()
        if more is None:
            return []
        columns += [each.values(rows) for each in more]
        if isinstance(watcher, Spread):
            counts = [each.counts for each in watcher.hard if each.counts is not None]
            columns += [(each.member[rows] >= 0).astype(np.int64) for each in counts]
    return list(map(tuple, np.stack(columns, axis=1).tolist())) if columns else []


def _rejection(view: View, key: PodKey) -> Rejection | None:
    with _taken_out(view, key) as row:
        try:
            return rejection_on(row, key, view)
        except PluginError as error:
            return Rejection(_NOT_JUDGED, "", (str(error),))


@contextmanager
def _taken_out(view: View, key: PodKey) -> Iterator[int]:
    """Remove a pod within the block; yield its node's row. Unlike in preemption, PreFilter runs again."""
    cluster = view.cluster
    with cluster.savepoint():
        row = cluster.placed[key]
        cluster.unbind(key)
        view.catch_up()
        yield row
