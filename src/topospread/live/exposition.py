"""Metrics as the scraper wants them: Prometheus' text or OpenMetrics, by what it accepts. What is counted is elsewhere.

Source: prometheus/common/expfmt (``Negotiate``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder


class Exposed(Protocol):
    """The metrics served under ``/metrics``."""

    def exposition(self, accept: str) -> tuple[bytes, str]:
        """All metrics, and their content type; ``accept``: the request's header, "" for none."""

    def checked(self, checks: Iterable[tuple[str, str, bool]]) -> None:
        """Health checks that ran: name, of what (``healthz`` …), and whether all was well."""


def exposition_of(registry: CollectorRegistry, accept: str) -> tuple[bytes, str]:
    """Return a registry's metrics and their content type."""
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type
