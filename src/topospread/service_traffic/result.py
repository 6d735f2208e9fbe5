"""The expected traffic of Services as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from topospread.plain_data import PlainData


@dataclass(frozen=True, slots=True)
class ZoneTraffic:
    """A zone of a Service's clients or endpoints.

    Attributes:
        name: "" for nodes without a zone.
        clients: share of the requests that come from there.
        endpoints: how many ready ones there are.
        crossing: share of its own clients' requests that go to another zone.
    """

    name: str
    clients: float
    endpoints: int
    crossing: float


@dataclass(frozen=True, slots=True)
class ServiceTraffic:
    """The expected traffic of one Service.

    Attributes:
        policy: what decides: ``Local``, ``PreferSameZone``, ``PreferSameNode``, ``Auto``, or ``Cluster``.
        clients: whose requests these are: ``Deployment/web``, ``given``, or ``all pods``.
        endpoints: how many are asked at all: ready ones, or those that terminate where none is ready.
        crossing: share of the requests that go to another zone.
        failing: share of the requests that reach no endpoint, or one that does not answer.
        unanswered: that of requests to endpoints on silent nodes.
        busiest: the endpoint that is asked most, "" where none is.
        over_mean: how much more it is asked than the mean of all: 1 where all are asked alike.
        why: why what the Service asks for is not in force, "" where it is.
    """

    namespace: str
    name: str
    policy: str
    clients: str
    endpoints: int
    crossing: float
    failing: float
    busiest: str
    over_mean: float
    zones: tuple[ZoneTraffic, ...] = ()
    why: str = ""
    unanswered: float = 0.0


@dataclass(frozen=True)
class Traffic(PlainData):
    """All Services whose endpoints are found by a selector.

    Attributes:
        price: of a GB that crosses zones, ``None`` where it was not given.
        left_out: ``NAMESPACE/NAME`` → why nothing is said of a Service.
    """

    services: tuple[ServiceTraffic, ...]
    price: float | None = None
    left_out: dict[str, str] = field(default_factory=dict)
