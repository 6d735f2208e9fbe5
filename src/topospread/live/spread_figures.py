"""Metrics of workloads' skew, and of constraints that keep pods pending.

They cover only pod classes attempted since the start, whose views are cached. At most `MOST` series of each kind are
shown, highest values first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from topospread.cluster import PodClass
from topospread.plugins.domain_counts import pods_on
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread import minimum_of, skew_of
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.scheduling.cycle import Scheduler

MOST = 200
_VIEWS = 500
"""Maximum number of pod classes, most recently used first."""

DeploymentOf = Callable[[str, str], str]
"""Function (namespace, ReplicaSet) → name of the owning Deployment; "" if there is none."""


class ConstraintOf(NamedTuple):
    """A constraint of a workload, as labels of a time series."""

    namespace: str
    workload: str
    topology_key: str
    when_unsatisfiable: str


class SpreadFigures:
    """Computes the metrics from a scheduler's cached counts of constraints."""

    def __init__(self, scheduler: Scheduler, deployment_of: DeploymentOf) -> None:
        self._scheduler = scheduler
        self._deployment_of = deployment_of

    def skews(self) -> dict[ConstraintOf, int]:
        """Return each constraint's skew: pods in the fullest domain minus the emptiest; the maximum over revisions."""
        found: dict[ConstraintOf, int] = {}
        for view in list(self._scheduler.views)[-_VIEWS:]:
            # Bound pods may have other classes than pending pods, because admission adds zone labels.
            for constraint, counted in self._constraints(view.pod_class):
                if counted.pods.on_node:
                    found[constraint] = max(found.get(constraint, 0), _skew(counted))
        return _highest(found)

    def blocked(self, rejected: Iterable[PodClass]) -> dict[ConstraintOf, int]:
        """Return the number of rejected pods that a hard constraint blocks from a domain, by constraint.

        ``rejected`` holds the class of each pod that PodTopologySpread rejected.
        """
        found: Counter[ConstraintOf] = Counter()
        for pod_class, pods in list(Counter(rejected).items())[:_VIEWS]:
            for constraint, counted in self._constraints(pod_class):
                if _refuses(counted):
                    found[constraint] += pods
        return _highest(found)

    def _constraints(self, pod_class: PodClass) -> list[tuple[ConstraintOf, CountedConstraint]]:
        try:
            spread = next(
                (each for each in self._scheduler.view(pod_class).plugins.watchers if isinstance(each, Spread)), None
            )
        except PluginError:
            return []
        if spread is None:
            return []
        workload = self._workload(pod_class)
        return [
            (ConstraintOf(pod_class.namespace, workload, each.constraint.topology_key, kind), each)
            for kind, constraints in (("DoNotSchedule", spread.hard), ("ScheduleAnyway", spread.soft))
            for each in constraints
        ]

    def _workload(self, pod_class: PodClass) -> str:
        """Return ``Deployment/web``; "" for pods without a controller, each of which may have its own class."""
        owner = pod_class.owner
        if owner is None:
            return ""
        if owner.kind == "ReplicaSet":
            deployment = self._deployment_of(pod_class.namespace, owner.name)
            if deployment:
                return f"Deployment/{deployment}"
        return f"{owner.kind}/{owner.name}"


def _skew(counted: CountedConstraint) -> int:
    if counted.counts is None:
        rows = np.flatnonzero(counted.takes_part(slice(0, len(counted.column.codes))))
        pods = pods_on(counted.pods, rows)
        return int(pods.max() - pods.min()) if len(pods) else 0
    if not counted.counts.domains:
        return 0
    return _fullest(counted) - counted.counts.minimum


def _fullest(counted: CountedConstraint) -> int:
    assert counted.counts is not None
    counted.counts.make_room()
    there = counted.counts.nodes > 0
    return int(counted.counts.counts[there].max()) if there.any() else 0


def _refuses(counted: CountedConstraint) -> bool:
    """Return whether a hard constraint rejects a domain in the current state."""
    counts, constraint = counted.counts, counted.constraint
    if counts is None or constraint.when_unsatisfiable != "DoNotSchedule":
        return False
    return skew_of(_fullest(counted), counted.counts_itself, minimum_of(counted)) > constraint.max_skew


def _highest(found: dict[ConstraintOf, int]) -> dict[ConstraintOf, int]:
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:MOST])
