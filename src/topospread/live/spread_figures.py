"""Skew of workloads and constraints that keep pods waiting, as figures for metrics.

Only what is at hand is told: the views of pod classes that were tried since the start. However many workloads there
are, no more than `MOST` series of each kind are shown, those of the highest values first.
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
from topospread.scheduling.view import View

MOST = 200
_VIEWS = 500
"""So many classes are looked at, those used last."""

DeploymentOf = Callable[[str, str], str]
"""Namespace and name of a ReplicaSet → the Deployment that owns it, "" where none does."""


class ConstraintOf(NamedTuple):
    """A constraint of a workload, as labels of a series."""

    namespace: str
    workload: str
    topology_key: str
    when_unsatisfiable: str


class SpreadFigures:
    """Reads what a scheduler counts for its constraints."""

    def __init__(self, scheduler: Scheduler, deployment_of: DeploymentOf) -> None:
        self._scheduler = scheduler
        self._deployment_of = deployment_of

    def skews(self) -> dict[ConstraintOf, int]:
        """Pods in the fullest domain less those in the emptiest; of several revisions the highest."""
        found: dict[ConstraintOf, int] = {}
        for view in list(self._scheduler.views)[-_VIEWS:]:
            # Pods that are bound may be of other classes than those that wait: admission labels them with their zone.
            for constraint, counted in self._constraints(view.pod_class):
                if counted.pods.on_node:
                    found[constraint] = max(found.get(constraint, 0), _skew(counted))
        return _highest(found)

    def blocked(self, rejected: Iterable[PodClass]) -> dict[ConstraintOf, int]:
        """Return how many pods rejected by PodTopologySpread a hard constraint keeps off some domain, by constraint.

        ``rejected``: the class of each of them.
        """
        found: Counter[ConstraintOf] = Counter()
        for pod_class, pods in list(Counter(rejected).items())[:_VIEWS]:
            for constraint, counted in self._constraints(pod_class):
                if _refuses(counted):
                    found[constraint] += pods
        return _highest(found)

    def _constraints(self, pod_class: PodClass) -> list[tuple[ConstraintOf, CountedConstraint]]:
        try:
            spread = _spread_of(self._scheduler.view(pod_class))
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
        """``Deployment/web``; "" for pods that nobody controls: each of them may be a class of its own."""
        owner = pod_class.owner
        if owner is None:
            return ""
        if owner.kind == "ReplicaSet":
            deployment = self._deployment_of(pod_class.namespace, owner.name)
            if deployment:
                return f"Deployment/{deployment}"
        return f"{owner.kind}/{owner.name}"


def _spread_of(view: View) -> Spread | None:
    return next((each for each in view.plugins.watchers if isinstance(each, Spread)), None)


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
    """Return whether a hard constraint refuses a domain as things stand."""
    counts, constraint = counted.counts, counted.constraint
    if counts is None or constraint.when_unsatisfiable != "DoNotSchedule":
        return False
    return skew_of(_fullest(counted), counted.counts_itself, minimum_of(counted)) > constraint.max_skew


def _highest(found: dict[ConstraintOf, int]) -> dict[ConstraintOf, int]:
    return dict(sorted(found.items(), key=lambda each: (-each[1], each[0]))[:MOST])
