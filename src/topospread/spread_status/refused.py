"""Pods that kube-scheduler would refuse where they are: each is taken out, the engine is asked, and it is put back."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from topospread.cluster import PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey
from topospread.plugins.affinity_terms import terms_of
from topospread.plugins.interface import PluginError
from topospread.plugins.spread_counts import Spread
from topospread.scheduling.cycle import Scheduler
from topospread.scheduling.evaluate import rejection_on
from topospread.scheduling.verdict import Rejection
from topospread.scheduling.view import View

from .members import Members
from .result import RefusedPod

_NOT_JUDGED = "not judged"
_VIEWS_KEPT = 4


class Refusals:
    """Asks about the pods of one workload after the other.

    A class is asked about once: of its views only the last few are kept, for those that share their answers.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._latest: deque[View] = deque(maxlen=_VIEWS_KEPT)

    def of(self, members: Members) -> tuple[RefusedPod, ...]:
        """Return the workload's pods that their node would refuse if they were placed again, by name.

        Pods of schedulers of which there is no profile are left out.
        """
        names, frameworks = self._scheduler.cluster.nodes.names, self._scheduler.frameworks
        found = [
            RefusedPod(key.partition("/")[2], names[row], why.plugin, why.reasons)
            for pod_class, rows in members.on.items()
            if (pod_class.pod.spec.scheduler_name or "default-scheduler") in frameworks
            for row, why in self._refusals(pod_class, rows)
            for key in rows[row]
        ]
        return tuple(sorted(found, key=lambda each: each.name))

    def _refusals(self, pod_class: PodClass, rows: Mapping[int, list[PodKey]]) -> Iterator[tuple[int, Rejection]]:
        """Rows whose pods of a class would be refused, and why; pods of one class on one node fare alike."""
        scheduler = self._scheduler
        try:
            view = View(scheduler.cluster, scheduler.framework_of(pod_class), pod_class, scheduler.shared)
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
    """Rows where a pod has to be taken out to know, and how each looks: for those that look the same one is asked.

    A node that would take one pod more of the class takes it in a pod's place all the more: what a pod takes up, and
    counts for, only stands in the way of its like. It does not for a pod that wants to be near others, of which it
    may be one, and beside pods that the node is promised to. () stands for a node that has to be asked itself.
    """
    nominated = view.cluster.nominated
    numbers = np.array(rows, dtype=np.int64)
    near = bool(terms_of(view.pod_class).affinity)
    takes_more = np.zeros(len(rows), dtype=np.bool_) if near else view.feasible(numbers)
    looks = _looks(view, numbers)
    opens = view.node_local.open[numbers]
    for place in np.flatnonzero(~takes_more | np.isin(numbers, list(nominated))).tolist():
        row = rows[place]
        yield row, looks[place] if looks and opens[place] and row not in nominated else ()


def _looks(view: View, rows: Ints) -> list[tuple[int, ...]]:
    """Return keys that tell nodes apart for plugins that count by domain, if a pod of the class leaves.

    [] where each has to be asked itself. Nodes in the same groups count the same, and lose the same with a pod; a node
    that takes no part in a constraint's counts loses nothing.
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
    """The cluster without a pod, as the view sees it; the row of its node. All is as it was afterwards.

    Unlike in a trial of preemption's, PreFilter is asked anew: the pod is gone.
    """
    cluster = view.cluster
    with cluster.savepoint():
        row = cluster.placed[key]
        cluster.unbind(key)
        view.catch_up()
        yield row
