"""Prometheus metrics of the live page: the age of the shown state, and errors."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from topospread.exporter.collector import families, of_contact
from topospread.exporter.watch_health import WatchHealth
from topospread.live.exposition import exposition_of
from topospread.sources.snapshot_lists import ORDER, ListRequest
from topospread.version import __version__


def page_contact() -> WatchHealth:
    """Return an observer that records the last contact for each kind; the page logs the problems itself."""
    contact = WatchHealth(logs=False)
    for kind in ORDER:
        contact.expect(ListRequest(kind).resource)
    return contact


def metrics_route(contact: WatchHealth, kube_version: str) -> BaseRoute:
    """Return the route ``/metrics``, in the format that the client accepts."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_ContactCollector(contact, kube_version))

    async def metrics(request: Request) -> Response:
        text, kind = exposition_of(registry, request.headers.get("accept", ""))
        return Response(text, headers={"Content-Type": kind, "Cache-Control": "no-store"})

    return Route("/metrics", metrics)


class _ContactCollector(Collector):
    def __init__(self, contact: WatchHealth, kube_version: str) -> None:
        self._contact = contact
        self._kube_version = kube_version

    def collect(self) -> Iterator[GaugeMetricFamily | CounterMetricFamily]:
        found = of_contact(self._contact)
        del found["topospread_changes_total"]  # counted only where each object is watched; the page reads whole states
        yield from families({"topospread_info": {(__version__, self._kube_version): 1}, **found})
