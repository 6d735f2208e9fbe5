"""A capacity as plain data: documented in ``docs/reference/capacity.md``, versioned by ``apiVersion``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.answers.spread import pending_pods
from topospread.base import API_VERSION

from .capacity_ends import what_ends
from .layout import Layout

if TYPE_CHECKING:
    from topospread.spare_capacity import Capacity, CapacityReport, KeyRoom

Json = dict[str, Any]
_ALL = Layout(wide=True)


def capacity_json(report: CapacityReport) -> Json:
    """The whole answer, its keys always in the same order."""
    return {
        "apiVersion": API_VERSION,
        "kind": "Capacity",
        "holds": report.holds,
        "headroom": None if report.headroom is None else float(report.headroom),
        **_capacity(report.capacity),
        "losses": [
            {
                "target": each.target,
                "pendingAfter": each.pending,
                "notReplaced": list(each.not_replaced),
                **_capacity(each.capacity),
            }
            for each in report.losses
        ],
        "purchases": [
            {"shape": each.shape, "zone": each.zone or None, "gain": each.gain, "rounds": each.rounds}
            for each in report.purchases
        ],
        "warnings": list(report.warnings),
        "notes": list(report.notes),
        "partial": report.partial,
    }


def _capacity(capacity: Capacity) -> Json:
    return {
        "rounds": capacity.rounds,
        "limited": capacity.pending is None,
        "nodes": capacity.nodes,
        "targets": [
            {
                "kind": each.kind,
                "namespace": each.namespace,
                "name": each.name,
                "share": each.share,
                "replicas": each.replicas,
                "there": each.there,
                "missing": each.missing,
                "more": each.more,
                "placed": each.placed,
            }
            for each in capacity.targets
        ],
        "keys": [_key(each) for each in capacity.keys],
        "ends": what_ends(capacity, _ALL),
        "pending": pending_pods(capacity.pending).to_dict() if capacity.pending is not None else None,
        "waiting": capacity.waiting,
        "evicts": capacity.evicts or None,
    }


def _key(key: KeyRoom) -> Json:
    return {
        "topologyKey": key.topology_key,
        "domains": [
            {"name": each.name, "more": each.more, "nodes": each.nodes, "rejected": dict(each.rejected)}
            for each in key.domains
        ],
    }
