"""Traffic as lines and as plain data: what crosses zones, which endpoint is asked most, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .layout import Layout
from .paragraphs import counted, hanging, together

if TYPE_CHECKING:
    from topospread.traffic import ServiceTraffic, Traffic, ZoneTraffic

_GB = 1000
"""What a price is shown of."""


def with_traffic(text: str, traffic: Traffic | None, layout: Layout) -> str:
    """A report with the traffic behind it."""
    return text if traffic is None else "\n".join([text, *traffic_lines(traffic, layout)]) + "\n"


def traffic_lines(traffic: Traffic, layout: Layout) -> Iterator[str]:
    """A block each; what crosses most comes first."""
    yield from hanging(layout.style("Traffic", "bold") + "  ", "(expected shares of requests)", layout.width, 2)
    every = sorted(traffic.services, key=lambda each: (-each.failing, -each.crossing, each.namespace, each.name))
    shown = every if layout.few(len(every)) else every[: layout.most]
    for each in shown:
        name = layout.style(f"{each.namespace}/{each.name}", "bold")
        yield from hanging(f"  {name}  ", ", ".join(_facts(each, traffic.price)), layout.width, 4)
        for zone in each.zones if layout.few(len(each.zones)) else ():
            yield from hanging(f"    {zone.name or '(no zone)'}  ", _zone(zone), layout.width, 6)
        if each.why:
            yield from hanging("    ", f"no hints are in force: {each.why}", layout.width, 6)
    if len(shown) < len(every):
        yield f"  and {counted(len(every) - len(shown), 'Service')} more; -o wide shows all"
    reasons: dict[str, list[str]] = {}
    for left, why in traffic.left_out.items():
        reasons.setdefault(why, []).append(left)
    for why, names in reasons.items():
        yield from hanging("  not told: ", f"{layout.names(names)} ({why})", layout.width, 4)


def _facts(each: ServiceTraffic, price: float | None) -> Iterator[str]:
    yield each.policy
    yield together(f"clients {each.clients}")
    yield together(f"{_percent(each.crossing)} crosses zones")
    if price is not None:
        yield together(f"{each.crossing * price * _GB:.2f} for {_GB} GB")
    if each.failing:
        yield together(f"{_percent(each.failing)} fails: no endpoint on the client's node")
    if each.busiest:
        yield f"the busiest of {counted(each.endpoints, 'endpoint')} has {each.over_mean:.2f} of the mean"


def _zone(zone: ZoneTraffic) -> str:
    crossing = f", {_percent(zone.crossing)} of them leave it" if zone.clients else ""
    return f"{_percent(zone.clients)} of the requests, {counted(zone.endpoints, 'endpoint')}{crossing}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%"


def traffic_json(traffic: Traffic) -> dict[str, Any]:
    """The traffic as plain data, keys always in the same order."""
    return {
        "price": traffic.price,
        "services": [
            {
                "namespace": each.namespace,
                "name": each.name,
                "policy": each.policy,
                "clients": each.clients,
                "endpoints": each.endpoints,
                "crossing": round(each.crossing, 6),
                "failing": round(each.failing, 6),
                "pricePerGB": None if traffic.price is None else round(each.crossing * traffic.price, 9),
                "busiest": each.busiest or None,
                "overMean": round(each.over_mean, 6),
                "zones": [
                    {
                        "name": zone.name or None,
                        "clients": round(zone.clients, 6),
                        "endpoints": zone.endpoints,
                        "crossing": round(zone.crossing, 6),
                    }
                    for zone in each.zones
                ],
                "why": each.why or None,
            }
            for each in traffic.services
        ],
        "leftOut": dict(traffic.left_out),
    }
