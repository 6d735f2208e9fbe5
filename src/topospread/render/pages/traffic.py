"""Expected traffic of Services on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from topospread.answers.words import counted, listed
from topospread.render.blocks import Cell, Fact, Part, Section, Table
from topospread.traffic.result import ExpectedTraffic, TrafficOfService

_GB = 1000
"""Gigabytes of a terabyte, for which a price is shown."""


def traffic_section(traffic: ExpectedTraffic) -> Section:
    """Return the Services: failing ones first, then those with the most cross-zone traffic."""
    order = sorted(traffic.services, key=lambda each: (-each.failing, -each.crossing, each.namespace, each.name))
    rows = tuple(_row(each, traffic.price) for each in order)
    parts: list[Part] = [Table(_heads(traffic.price, "SERVICE"), rows, most=10)]
    parts += [Section("", tuple(_zones(order)), wide=True)] if order else []
    return Section("Expected shares of requests:", (*parts, *_left_out(traffic)))


def traffic_steps(steps: Sequence[tuple[str, ExpectedTraffic]]) -> Section:
    """Return each Service's traffic after each step of a drill."""
    found = dict.fromkeys((each.namespace, each.name) for _, traffic in steps for each in traffic.services)
    parts: list[Part] = []
    for namespace, name in found:
        rows: list[tuple[Cell, ...]] = []
        for step, traffic in steps:
            each = next((one for one in traffic.services if (one.namespace, one.name) == (namespace, name)), None)
            if each is not None:
                rows.append((step, *_row(each, traffic.price)[1:]))
                continue
            why = traffic.left_out.get(f"{namespace}/{name}", "does not exist")
            rows.append((step, *[""] * (len(_heads(traffic.price, "")) - 2), why))
        parts.append(Table(_heads(steps[0][1].price, f"{namespace}/{name}"), tuple(rows)))
    return Section("Expected shares of requests, after each step:", (*parts, *_left_out(steps[-1][1])))


def _heads(price: float | None, first: str) -> tuple[str, ...]:
    return (first, "CROSS-ZONE", *([] if price is None else ["COST/TB"]), "FAILING", "ENDPOINTS", "BUSIEST", "")


def _row(each: TrafficOfService, price: float | None) -> tuple[Cell, ...]:
    cost = [] if each.price_per_gb is None else [f"{each.price_per_gb * _GB:.2f}"]
    words = f"{each.policy}, clients {each.clients}"
    if each.why:
        words += f"; no hints are in force: {each.why}"
    if each.unanswered:
        words += f"; {_percent(each.unanswered)} fails: endpoints on NotReady nodes"
    busiest = f"{each.over_mean:.2f}× mean" if each.busiest else ""
    name = f"{each.namespace}/{each.name}"
    return name, _percent(each.crossing), *cost, _percent(each.failing), each.endpoints, busiest, words


def _zones(services: Sequence[TrafficOfService]) -> Iterator[Part]:
    rows = [
        (f"{each.namespace}/{each.name}", zone.name or "(no zone)", _percent(zone.clients), zone.endpoints,
         _percent(zone.crossing) if zone.clients else "")
        for each in services
        for zone in each.zones
    ]  # fmt: skip
    if rows:
        yield Table(("SERVICE", "ZONE", "REQUESTS", "ENDPOINTS", "LEAVE ZONE"), tuple(rows))


def _left_out(traffic: ExpectedTraffic) -> Iterator[Fact]:
    reasons: dict[str, list[str]] = {}
    for name, why in traffic.left_out.items():
        reasons.setdefault(why, []).append(name)
    for why, names in reasons.items():
        yield Fact("without figures", f"{counted(len(names), 'Service')}, {why}: {listed(names, 3)}")


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%"
