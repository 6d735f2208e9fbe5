"""A Prometheus collector of spread metrics, computed at each scrape, so that old series disappear.

The number of workloads with series is limited, worst first. Constraints over many domains have no series by domain.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import nsmallest

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from topospread.live.spread_figures import ConstraintOf
from topospread.status.result import ConstraintStatus, WorkloadStatus
from topospread.status.status import goodness
from topospread.version import __version__

from .metric_families import BY_NAME, FAMILIES
from .tracker import Tracker
from .watch_health import WatchHealth

Labels = tuple[str, ...]
Samples = dict[str, dict[Labels, float]]
"""Family → label values → value."""


@dataclass(frozen=True, slots=True)
class SeriesLimits:
    """Upper limits for the number of series.

    Attributes:
        workloads: maximum number of workloads with series.
        domains: maximum number of domains of a constraint with series by domain; 0 for no such series.
    """

    workloads: int = 2_000
    domains: int = 20


class SpreadCollector(Collector):
    """Collects the metrics of a tracker and its watch health.

    Args:
        contact: age of the watched state.
        kube_version: the kube-scheduler version to follow.
    """

    def __init__(self, tracker: Tracker, contact: WatchHealth, kube_version: str, limits: SeriesLimits) -> None:
        self._tracker = tracker
        self._contact = contact
        self._kube_version = kube_version
        self._limits = limits

    def describe(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        """Return the families without samples."""
        return [_family(each.name) for each in FAMILIES]

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        """Return all families with their current samples."""
        samples: Samples = {each.name: {} for each in FAMILIES}
        figures = self._tracker.figures.values()
        shown: Iterable[WorkloadStatus] = figures
        if len(figures) > self._limits.workloads:
            shown = nsmallest(self._limits.workloads, figures, key=goodness)
        for each in shown:
            self._of_workload(each, samples)
        samples["topospread_workloads"][()] = len(figures)
        samples["topospread_workloads_not_shown"][()] = max(len(figures) - self._limits.workloads, 0)
        self._of_all(samples)
        samples |= of_contact(self._contact)
        yield from families(samples)

    def _of_workload(self, each: WorkloadStatus, samples: Samples) -> None:
        workload = each.namespace, f"{each.kind}/{each.name}"
        samples["topospread_workload_pods"][workload] = each.existing
        samples["topospread_workload_refused_pods"][workload] = len(each.refused)
        for loss in each.worst_losses:
            samples["topospread_workload_lost_pods"][*workload, loss.topology_key] = loss.lost
        for labels, constraint in _worst(each).items():
            samples["topospread_constraint_skew"][labels] = constraint.skew
            samples["topospread_constraint_max_skew"][labels] = constraint.max_skew
            samples["topospread_constraint_minimum_pods"][labels] = constraint.minimum
            samples["topospread_constraint_domains"][labels] = constraint.eligible
            if constraint.eligible <= self._limits.domains:
                by_domain = samples["topospread_domain_pods"]
                by_domain.update(((*labels, domain.name), domain.matching) for domain in constraint.domains)
                by_domain.update(((*labels, name), 0) for name in constraint.empty_names)

    def _of_all(self, samples: Samples) -> None:
        tracker = self._tracker
        nodes = tracker.planned_cluster.cluster.nodes
        samples["topospread_info"][__version__, self._kube_version] = 1
        blocked = sorted(tracker.blocked.by.items(), key=lambda each: -each[1])[: self._limits.workloads]
        samples["topospread_constraint_blocked_pods"] |= dict(blocked)
        samples["topospread_pending_pods"][()] = tracker.blocked.waiting
        samples["topospread_pending_pods_not_asked"][()] = tracker.blocked.not_asked
        samples["topospread_unjudged_pods"] |= {(what,): count for what, count in tracker.blocked.unjudged.items()}
        samples["topospread_workloads_not_judged"][()] = len(tracker.done.failures)
        samples["topospread_nodes"][()] = len(nodes)
        keys = {loss.topology_key for each in tracker.figures.values() for loss in each.losses}
        alive = nodes.alive[: nodes.size]
        for key in keys:
            codes = nodes.labels(key).codes[: nodes.size][alive]
            samples["topospread_topology_domains"][(key,)] = len(set(codes[codes >= 0].tolist()))
        samples["topospread_workloads_looked_at_total"][()] = tracker.done.looked_at
        age = 0.0 if tracker.since is None else time.monotonic() - tracker.since
        samples["topospread_figures_age_seconds"][()] = age


def of_contact(contact: WatchHealth) -> Samples:
    """Return samples of the age of the watched state, and of errors."""
    return {
        "topospread_changes_total": {labels: float(count) for labels, count in contact.changes.items()},
        "topospread_last_sync_age_seconds": _single(contact.ages()),
        "topospread_watch_up": _single({kind: int(each.up) for kind, each in list(contact.kinds.items())}),
        "topospread_watch_errors_total": _single(contact.errors),
        "topospread_watch_relists_total": _single(contact.relists),
        "topospread_unreadable_objects_total": {(): contact.unreadable},
        "topospread_api_requests_total": {labels: float(count) for labels, count in contact.requests.items()},
    }


def families(samples: Samples) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
    """Return the families of samples."""
    for name, found in samples.items():
        family = _family(name)
        for labels, value in found.items():
            family.add_metric(labels, value)
        yield family


def _single(values: Mapping[str, float]) -> dict[Labels, float]:
    return {(name,): value for name, value in values.items()}


def _worst(each: WorkloadStatus) -> dict[ConstraintOf, ConstraintStatus]:
    """Return one constraint for each set of labels: the worst of several revisions."""
    found: dict[ConstraintOf, ConstraintStatus] = {}
    for one in each.constraints:
        labels = ConstraintOf(each.namespace, f"{each.kind}/{each.name}", one.topology_key, one.when_unsatisfiable)
        known = found.get(labels)
        if known is None or one.skew - one.max_skew > known.skew - known.max_skew:
            found[labels] = one
    return found


def _family(name: str) -> GaugeMetricFamily | CounterMetricFamily:
    metric = BY_NAME[name]
    make = CounterMetricFamily if metric.kind == "counter" else GaugeMetricFamily
    return make(name, metric.help, labels=metric.labels)
