"""Traffic as lines and as plain data: what crosses zones, which endpoint is asked most, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from .layout import Layout
from .paragraphs import counted, hanging, named_row, together

if TYPE_CHECKING:
    from topospread.service_traffic import ServiceTraffic, Traffic, ZoneTraffic

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


def step_traffic_lines(steps: Sequence[tuple[str, Traffic]], layout: Layout) -> Iterator[str]:
    """A table for each Service with what is expected after each step; what fails or crosses most comes first.

    ``steps``: what each is called, and what is expected after it.
    """
    said = "(expected shares of requests, after each step; busiest: the endpoint that is asked most, over the mean)"
    yield from hanging(layout.style("Traffic", "bold") + "  ", said, layout.width, 2)
    found = {(each.namespace, each.name): None for _, traffic in steps for each in traffic.services}
    services = {key: [_of(traffic, key) for _, traffic in steps] for key in found}
    every = sorted(services, key=lambda key: (*_worst(services[key]), key))
    shown = every if layout.few(len(every)) else every[: layout.most]
    for key in shown:
        told = [each for each in services[key] if each is not None]
        ways = dict.fromkeys(f"{each.policy}, clients {each.clients}" for each in told)
        yield from hanging(f"  {layout.style('/'.join(key), 'bold')}  ", "; then ".join(ways), layout.width, 4)
        yield from _step_rows(key, steps, services[key], layout)
    if len(shown) < len(every):
        yield f"  and {counted(len(every) - len(shown), 'Service')} more; -o wide shows all"


def _of(traffic: Traffic, key: tuple[str, str]) -> ServiceTraffic | None:
    return next((each for each in traffic.services if (each.namespace, each.name) == key), None)


def _step_rows(
    key: tuple[str, str], steps: Sequence[tuple[str, Traffic]], states: Sequence[ServiceTraffic | None], layout: Layout
) -> Iterator[str]:
    """A line for each step; a Service that has no endpoints says so."""
    price = steps[0][1].price
    rows = [("", "crossing", *([] if price is None else [f"{_GB} GB"]), "failing", "endpoints", "busiest")]
    for (name, traffic), each in zip(steps, states, strict=True):
        if each is None:
            rows.append((name, traffic.left_out.get("/".join(key), "it is not there")))
            continue
        cost = [] if price is None else [f"{each.crossing * price * _GB:.2f}"]
        over = f"{each.over_mean:.2f}" if each.busiest else ""
        rows.append((name, _percent(each.crossing), *cost, _percent(each.failing), str(each.endpoints), over))
    whole = [row for row in rows if len(row) == len(rows[0])]
    rest = [max(map(len, column)) for column in list(zip(*whole, strict=True))[1:]]
    room = max(len("beginning"), layout.width - 4 - sum(rest) - 2 * len(rest))
    first = max(len(row[0]) for row in rows if len(row[0]) <= room)
    for row in rows:
        cells = [f"{cell:>{width}}" for cell, width in zip(row[1:], rest, strict=False)] if row in whole else row[1:]
        yield from (f"    {line}" for line in named_row(row[0], first, "".join(f"  {cell}" for cell in cells)))


def _worst(states: Iterable[ServiceTraffic | None]) -> tuple[float, float]:
    """The least comes first."""
    there = [each for each in states if each is not None]
    return -max(each.failing for each in there), -max(each.crossing for each in there)


def _facts(each: ServiceTraffic, price: float | None) -> Iterator[str]:
    yield each.policy
    yield together(f"clients {each.clients}")
    yield together(f"{_percent(each.crossing)} crosses zones")
    if price is not None:
        yield together(f"{each.crossing * price * _GB:.2f} for {_GB} GB")
    if each.failing > each.unanswered:
        yield together(f"{_percent(each.failing - each.unanswered)} fails: no endpoint on the client's node")
    if each.unanswered:
        yield together(f"{_percent(each.unanswered)} fails: endpoints on silent nodes")
    if each.busiest:
        yield f"the busiest of {counted(each.endpoints, 'endpoint')} has {each.over_mean:.2f} of the mean"


def _zone(zone: ZoneTraffic) -> str:
    crossing = f", {_percent(zone.crossing)} of them leave it" if zone.clients else ""
    return f"{_percent(zone.clients)} of the requests, {counted(zone.endpoints, 'endpoint')}{crossing}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%"
