"""The expected traffic of Services as data, as answers hold it."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, field

from topospread.base import Base


class TrafficOfZone(Base, frozen=True):
    """A Service's traffic in one zone."""

    name: Annotated[str | None, Meta(description="Name of the zone; null for nodes without one.")]
    clients: Annotated[float, Meta(description="Share of the requests that come from the zone.")]
    endpoints: Annotated[int, Meta(description="Number of endpoints in the zone.")]
    crossing: Annotated[float, Meta(description="Share of the zone's requests that go to another zone.")]


class TrafficOfService(Base, frozen=True):
    """The expected traffic of one Service."""

    namespace: Annotated[str, Meta(description="Namespace of the Service.")]
    name: Annotated[str, Meta(description="Name of the Service.")]
    policy: Annotated[str, Meta(description="Routing that is in force.")]
    clients: Annotated[str, Meta(description="Sources of the requests.")]
    endpoints: Annotated[int, Meta(description="Number of endpoints.")]
    crossing: Annotated[float, Meta(description="Share of the requests that go to another zone.")]
    failing: Annotated[float, Meta(description="Share of the requests that reach no endpoint.")]
    unanswered: Annotated[float, Meta(description="Part of `failing` that goes to endpoints on NotReady nodes.")]
    price_per_gb: Annotated[float | None, Meta(description="Price of a GB; null without --price.")] = field(
        name="pricePerGB"
    )
    busiest: Annotated[str | None, Meta(description="Endpoint with the most requests.")]
    over_mean: Annotated[float, Meta(description="Requests of the busiest endpoint, divided by the mean.")]
    zones: Annotated[tuple[TrafficOfZone, ...], Meta(description="The traffic by zone.")]
    why: Annotated[str | None, Meta(description="Why the routing that the Service asks for is not in force.")]


class ExpectedTraffic(Base, frozen=True):
    """The expected traffic of Services: shares of requests."""

    price: Annotated[float | None, Meta(description="Price of a GB that crosses zones; null without --price.")]
    services: Annotated[tuple[TrafficOfService, ...], Meta(description="Services with endpoints.")]
    left_out: Annotated[
        dict[str, str], Meta(description="NAMESPACE/NAME of a Service → why its traffic is not computed.")
    ]
