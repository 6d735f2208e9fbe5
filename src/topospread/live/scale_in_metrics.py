"""The metrics and log lines of `topospread run scale-in-keeper`."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from topospread.live.logs import facts, level
from topospread.live.metric_table import Metric
from topospread.live.observer import Observer, WatchChange

log = logging.getLogger("topospread.live.scale_in_keeper")

FAMILIES: tuple[Metric, ...] = (
    Metric("gauge", "topospread_scale_in_replica_sets", "ReplicaSets that opted in."),
    Metric("gauge", "topospread_scale_in_changed_replica_sets", "ReplicaSets whose order is about to be worked out."),
    Metric("gauge", "topospread_scale_in_unordered_replica_sets", "ReplicaSets that opted in and have no order: no "
           "constraint, or one that cannot be read."),
    Metric("gauge", "topospread_scale_in_exceeding_replica_sets", "ReplicaSets whose best order exceeds a hard maxSkew "
           "after some removal."),
    Metric("counter", "topospread_scale_in_costs_total", "Deletion costs that were sent, by result: written, failed, "
           "or dry-run.", ("result",)),
    Metric("counter", "topospread_api_requests_total", "Requests to the API server that ended, watches left out; code "
           "<error> where no answer came.", ("method", "code")),
    Metric("counter", "topospread_watch_errors_total", "Lists and watches that failed.", ("resource",)),
    Metric("gauge", "leader_election_master_status", "1 while this process leads.", ("name",)),
)  # fmt: skip

Samples = Mapping[str, Mapping[tuple[str, ...], float]]
"""Family → label values → value."""


class ScaleInMetrics(Observer, Collector):
    """An observer that counts and logs.

    Attributes:
        figures: returns values that are computed at each scrape.
        costs: result → number of deletion costs.
    """

    def __init__(self) -> None:
        self.figures: Callable[[], Mapping[str, float]] = dict
        self.costs: Counter[tuple[str, ...]] = Counter()
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._watch_errors: Counter[tuple[str, ...]] = Counter()
        self._leads: dict[tuple[str, ...], float] = {}

    def requested(self, verb: str, code: str, seconds: float) -> None:
        """See Observer."""
        self._requests[verb, code] += 1

    def watching(self, kind: str, change: WatchChange, why: str = "") -> None:
        """See Observer."""
        if change == "failed":
            self._watch_errors[(kind,)] += 1
            log.warning("Failed to watch", extra=facts(kind=kind, err=why))
        else:
            log.log(level(3), change, extra=facts(kind=kind))

    def leads(self, name: str, leads: bool) -> None:
        """See LeaseObserver."""
        self._leads[(name,)] = float(leads)
        log.log(level(1), "leader election", extra=facts(lease=name, leads=leads))

    def slow_path(self, name: str) -> None:
        """See LeaseObserver."""

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        """Return all families with their samples."""
        samples: Samples = {
            **{f"topospread_scale_in_{name}": {(): value} for name, value in self.figures().items()},
            "topospread_scale_in_costs_total": self.costs,
            "topospread_api_requests_total": self._requests,
            "topospread_watch_errors_total": self._watch_errors,
            "leader_election_master_status": self._leads,
        }
        for each in FAMILIES:
            made = CounterMetricFamily if each.kind == "counter" else GaugeMetricFamily
            family = made(each.name, each.help, labels=each.labels)
            for labels, value in samples.get(each.name, {}).items():
                family.add_metric(labels, value)
            yield family
