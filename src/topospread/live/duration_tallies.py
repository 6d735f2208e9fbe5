"""A histogram that is cheap to add to: some are, many times for each pod. A scrape makes a family of it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from .metric_table import Metric


class DurationTallies(Collector):
    """Counts durations by labels and bucket.

    Args:
        metric: a histogram.
    """

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._bounds = [*map(floatToGoString, metric.buckets), "+Inf"]
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}
        if not metric.labels:  # it is there before anything is counted
            self._begin(())

    def observe(self, labels: tuple[str, ...], seconds: float) -> None:
        """Something took so long."""
        counts = self._counts.get(labels)
        if counts is None:
            counts = self._begin(labels)
        counts[bisect_left(self._metric.buckets, seconds)] += 1
        self._sums[labels] += seconds

    def _begin(self, labels: tuple[str, ...]) -> list[int]:
        self._sums[labels] = 0.0
        counts = self._counts[labels] = [0] * len(self._bounds)
        return counts

    def collect(self) -> Iterator[Family]:
        """See Collector."""
        family = HistogramMetricFamily(self._metric.name, self._metric.help, labels=self._metric.labels)
        for labels, counts in self._counts.items():
            buckets = list(zip(self._bounds, accumulate(counts), strict=True))
            family.add_metric(labels, buckets, self._sums[labels])
        yield family
