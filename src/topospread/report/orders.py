"""Simulations in many orders as ranges, for people and as data (``docs/reference/simulation.md``); computes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from topospread.base import API_VERSION

from .layout import Layout
from .namespace import in_namespace
from .paragraphs import counted, hanging, in_order, together
from .rows import Row, row_lines
from .unjudged import part_lines

if TYPE_CHECKING:
    from topospread.simulation.orders import Orders, Range, SpreadRange, WorkloadRange

Json = dict[str, Any]


def orders_text(orders: Orders, layout: Layout, namespace: str | None = None) -> str:
    """The ranges, workload by workload; of what every order gives alike one line.

    Of many workloads those that may be pending or skewed stand first, the others are a line each.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    blocks: list[WorkloadRange] = []
    same: list[WorkloadRange] = []
    for each in _shown(orders, namespace):
        (same if each.same and not each.pending.high and not layout.wide else blocks).append(each)
    others = [] if layout.few(len(blocks)) else [each for each in blocks if not _may_be_in_trouble(each)]
    texts = ["\n".join(lines)] if (lines := list(_unknown(orders, layout))) else []
    texts += ["\n".join(_workload(each, layout)) for each in blocks if each not in others]
    texts += ["\n".join(row_lines([_row(each) for each in others], layout))] if others else []
    if same:
        names = layout.names([f"{each.workload.namespace}/{each.workload.name}" for each in same], 6)
        texts.append("\n".join(hanging("", f"alike in every order, nothing pending: {names}", layout.width, 2)))
    said = [("warning: ", each) for each in orders.given.warnings] + [("note: ", each) for each in orders.given.notes]
    texts += ["\n".join("\n".join(hanging(head, text, layout.width, 2)) for head, text in said)] if said else []
    texts.append("\n".join(hanging("", _summary(orders), layout.width, 2)))
    return "\n\n".join(texts) + "\n"


def orders_summary(orders: Orders, layout: Layout, namespace: str | None = None) -> str:
    """A line for each workload that may be pending or skewed, the warnings, and the numbers.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    rows = [_row(each) for each in _shown(orders, namespace) if _may_be_in_trouble(each)]
    lines = [*_unknown(orders, layout), *row_lines(rows, layout)]
    for warning in orders.given.warnings:
        lines += hanging("warning: ", warning, layout.width, 2)
    return "\n".join([*lines, *hanging("", _summary(orders), layout.width, 2)]) + "\n"


def _unknown(orders: Orders, layout: Layout) -> Iterator[str]:
    """Yield the unknown verdict and its cause; nothing if every pod is judged."""
    if orders.unjudged:
        pods = len({pod for part in orders.unjudged for pod in part.pods})
        yield from hanging("unknown: ", f"{counted(pods, 'pod')} cannot be judged", layout.width, 2)
        yield from part_lines(orders.unjudged, layout)


def _may_be_in_trouble(each: WorkloadRange) -> bool:
    return bool(each.pending.high or any(one.skew.high > one.spread.max_skew for one in each.spreads))


def _row(each: WorkloadRange) -> Row:
    workload = each.workload
    pending = f"pending {each.pending}" if each.pending.high else "nothing pending"
    skews = [f"{one.spread.topology_key} skew {one.skew}" for one in each.spreads]
    exceeded = [
        f"{one.spread.topology_key} skew {one.skew}" for one in each.spreads if one.skew.high > one.spread.max_skew
    ]
    return Row(
        f"{workload.namespace}/{workload.name}", (workload.kind, pending), ("; ".join(skews), "; ".join(exceeded))
    )


def _shown(orders: Orders, namespace: str | None) -> list[WorkloadRange]:
    if namespace is None:
        return list(orders.workloads)
    in_namespace(orders.given, namespace)
    return [each for each in orders.workloads if each.workload.namespace == namespace]


def _workload(each: WorkloadRange, layout: Layout) -> Iterator[str]:
    workload = each.workload
    name = layout.style(f"{workload.namespace}/{workload.name}", "bold")
    pending = layout.style(f"pending {each.pending}", "bold", "red") if each.pending.high else "nothing pending"
    amount = f"{workload.kind} · {counted(workload.replicas, 'pod')} · {pending}"
    yield from hanging(f"{name}  ", amount, layout.width, 4)
    for spread in each.spreads:
        yield from _spread(spread, layout)


def _spread(each: SpreadRange, layout: Layout) -> Iterator[str]:
    spread = each.spread
    terms = ["hard" if spread.hard else "soft", f"maxSkew {spread.max_skew}", f"skew {each.skew}"]
    key = layout.style(spread.topology_key, "bold")
    yield from hanging(f"  {key}  ", "  ".join(map(together, terms)), layout.width, 6)
    names = in_order(name for name, count in each.domains.items() if layout.wide or not count.same)
    shown = names if layout.few(len(names)) else names[: layout.most]
    width = max(map(len, shown), default=0)
    for name in shown:
        yield f"    {name:<{width}}  {each.domains[name]}"
    if len(shown) < len(names):
        yield f"    and {len(names) - len(shown)} more; -o wide lists them"


def _summary(orders: Orders) -> str:
    """``20 orders: pending 0–2, nothing pending in 14 of them; in the order of the input 1``."""
    parts = [f"{counted(orders.orders, 'order')}: pending {orders.pending}"]
    if 0 < orders.all_placed < orders.orders:
        parts.append(f"nothing pending in {orders.all_placed} of them")
    if orders.evicted.high:
        parts.append(f"evicted {orders.evicted}")
    first = sum(each.pending for each in orders.given.workloads)
    return ", ".join(parts) + ("" if orders.pending.same else f"; in the order of the input {first}")


def orders_json(orders: Orders, namespace: str | None = None) -> Json:
    """What ``topospread simulate --orders N -o json`` writes; ranges are pairs of least and most.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    return {
        "apiVersion": API_VERSION,
        "kind": "Orders",
        "verdict": orders.verdict,
        "unjudged": [each.to_dict() for each in orders.unjudged],
        "orders": orders.orders,
        "seed": orders.seed,
        "pending": _range(orders.pending),
        "evicted": _range(orders.evicted),
        "allPlaced": orders.all_placed,
        "nodes": orders.given.nodes,
        "workloads": [_workload_json(each) for each in _shown(orders, namespace)],
        "warnings": list(orders.given.warnings),
        "notes": list(orders.given.notes),
    }


def _workload_json(each: WorkloadRange) -> Json:
    workload = each.workload
    return {
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
        "replicas": workload.replicas,
        "pending": _range(each.pending),
        "same": each.same,
        "spread": [
            {
                "topologyKey": one.spread.topology_key,
                "whenUnsatisfiable": one.spread.when_unsatisfiable,
                "maxSkew": one.spread.max_skew,
                "origin": one.spread.origin,
                "skew": _range(one.skew),
                "domains": {name: _range(count) for name, count in one.domains.items()},
            }
            for one in each.spreads
        ],
    }


def _range(each: Range) -> list[int]:
    return [each.low, each.high]
