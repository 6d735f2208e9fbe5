"""Preemption for a pod group: the pods to evict anywhere in the cluster so that the group fits.

All possible victims are removed and the group is placed once. Then victims are added back, the most important first, if
every pod of the group still passes the filters on its node. A group with the disruption
mode ``all`` is one victim.

Source: pkg/scheduler/framework/preemption/{podgrouppreemption,types,util}.go of Kubernetes 1.37.
"""

from __future__ import annotations

from collections.abc import Sequence

from topospread.cluster import PodClass
from topospread.cluster.cluster import PodKey
from topospread.plugins.interface import PluginError

from .cycle import Scheduler
from .dry_run import DryRun
from .go_sort import go_sorted
from .nominated_pods import nominated_for_others
from .victim_units import Placed, Unit


def remaining_victims(
    scheduler: Scheduler, units: Sequence[Unit], assignments: Sequence[Placed], skips: Sequence[Sequence[bool]]
) -> list[Unit]:
    """Return the units that stay evicted, most important first.

    Args:
        units: possible victims. The caller has removed all of them from the cluster.
        assignments: pods of the group, in order, with their classes and nodes.
        skips: result of `prefilter_skips`.
    """
    cluster = scheduler.cluster
    ordered = go_sorted(units, key=lambda unit: unit.importance)
    flat = [(key, pod_class) for unit in ordered for key, pod_class, _ in unit.pods]
    breaks = iter(scheduler.allowed_disruptions().violating(flat))
    violating = [sum(next(breaks) for _ in unit.pods) > 0 for unit in ordered]
    evicted: list[Unit] = []
    for place in sorted(range(len(ordered)), key=lambda place: not violating[place]):
        unit = ordered[place]
        for key, pod_class, row in unit.pods:
            cluster.bind(key, pod_class, row)
        if not _all_fit(scheduler, assignments, skips):
            for key, _, _ in unit.pods:
                cluster.unbind(key)
            evicted.append(unit)
    return go_sorted(evicted, key=lambda unit: unit.importance)


def prefilter_skips(scheduler: Scheduler, assignments: Sequence[Placed]) -> list[list[bool]]:
    """Return bool[pod][plugin]: whether PreFilter skips a plugin of ``View.settling`` for a pod.

    For each pod, the pods before it are placed. kube-scheduler runs PreFilter only once, after the removal of all
    victims. For a skipped plugin, affinity terms and claims of victims that are added back do not count.
    """
    found = []
    with scheduler.cluster.savepoint():
        for key, pod_class, row in assignments:
            settling = scheduler.view(pod_class).settling
            for each in settling:
                each.begin_dry_run()
            found.append([each.skipped for each in settling])
            for each in settling:
                each.end_dry_run()
            scheduler.cluster.bind(key, pod_class, row)
    return found


def _all_fit(scheduler: Scheduler, assignments: Sequence[Placed], skips: Sequence[Sequence[bool]]) -> bool:
    """Return whether every pod passes the filters on its node after the pods before it are placed."""
    cluster = scheduler.cluster
    with cluster.savepoint():
        for (key, pod_class, row), skipped in zip(assignments, skips, strict=True):
            if not _fits(scheduler, key, pod_class, row, skipped):
                return False
            cluster.bind(key, pod_class, row)
    return True


def _fits(scheduler: Scheduler, key: PodKey, pod_class: PodClass, row: int, skips: Sequence[bool]) -> bool:
    """Return whether a pod passes a node's filters both with and without the node's nominated pods."""
    view = scheduler.view(pod_class)
    others = nominated_for_others(key, pod_class, scheduler.cluster, row)
    for beside in (others, {}) if others else ({},):
        with DryRun(view, row) as dry_run:
            for each, skipped in zip(view.settling, skips, strict=True):
                each.skipped = skipped
            for name, other in beside.items():
                dry_run.add(name, other)
            if not _passes(dry_run):
                return False
    return True


def _passes(dry_run: DryRun) -> bool:
    try:
        return dry_run.passes()
    except PluginError:
        return False
