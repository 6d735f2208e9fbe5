"""Counters and histograms that are cheap to update, because much is counted for each pod."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from .metric_table import Metric


class CountTallies(Collector):
    """Counts by labels, for a counter."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._counts: dict[tuple[str, ...], int] = {}
        if not metric.labels:  # a series without labels exists from the start
            self._counts[()] = 0

    def add(self, labels: tuple[str, ...], count: int = 1) -> None:
        """Add to a count."""
        self._counts[labels] = self._counts.get(labels, 0) + count

    def set(self, labels: tuple[str, ...], count: int) -> None:
        """Set a count that is kept elsewhere."""
        self._counts[labels] = count

    def collect(self) -> Iterator[Family]:
        """See Collector."""
        family = CounterMetricFamily(self._metric.name, self._metric.help, labels=self._metric.labels)
        for labels, count in self._counts.items():
            family.add_metric(labels, count)
        yield family


class DurationTallies(Collector):
    """Counts durations by labels and bucket, for a histogram."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._bounds = [*map(floatToGoString, metric.buckets), "+Inf"]
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}
        if not metric.labels:  # a series without labels exists from the start
            self._begin(())

    def observe(self, labels: tuple[str, ...], seconds: float) -> None:
        """Record a duration."""
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
