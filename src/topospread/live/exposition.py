"""Metrics in Prometheus' text format or OpenMetrics, depending on the request.

Source: prometheus/common/expfmt (``Negotiate``).
"""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector


def exposition_of(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """Return a registry's metrics and their content type."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


class CollectedMetrics:
    """The metrics of collectors and of this process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)

    def add(self, collector: Collector) -> None:
        """Add a collector."""
        self._registry.register(collector)

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """Return all metrics and their content type. ``accept`` is the request's header."""
        return exposition_of(self._registry, accept)

    def checked(self, checks: Iterable[tuple[str, str, bool]]) -> None:
        """Record health checks: name, endpoint (``healthz`` …), and success. By default, do nothing."""
