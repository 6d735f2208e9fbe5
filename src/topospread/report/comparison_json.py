"""Two simulations side by side as plain data: documented in ``docs/reference/comparison.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from topospread.answers.simulation import evicted_pod, simulation_answer
from topospread.base import API_VERSION

from .comparison import restricted

if TYPE_CHECKING:
    from topospread.simulation import WorkloadSpread
    from topospread.simulation.comparison import Cause, Comparison, PlacementChange, SpreadChange

Json = dict[str, Any]


def comparison_json(comparison: Comparison, namespace: str | None = None) -> Json:
    """What differs, and both simulations whole; pairs hold what is before and after.

    Raises:
        UsageError: there is nothing in the namespace.
    """
    shown = comparison if namespace is None else restricted(comparison, namespace)
    return {
        "apiVersion": API_VERSION,
        "kind": "Comparison",
        "names": list(shown.names),
        "configuration": [
            {"profile": each.profile, "setting": each.setting, "values": [each.before or None, each.after or None]}
            for each in shown.settings
        ],
        "placements": [_placement(each, shown.why.get(each.key)) for each in shown.placements],
        "spread": [_spread(each) for each in shown.spreads],
        "evictions": [[evicted_pod(one).to_dict() for one in side] for side in shown.evictions],
        "warnings": [list(side) for side in shown.warnings],
        "newlyPending": [_name(each) for each in shown.newly_pending],
        "newlyPlaced": [_name(each) for each in shown.newly_placed],
        "simulations": [simulation_answer(shown.before).to_dict(), simulation_answer(shown.after).to_dict()],
    }


def _name(change: PlacementChange) -> str:
    pod = change.after or change.pod
    return f"{pod.namespace}/{pod.name}"


def _placement(change: PlacementChange, why: Cause | None) -> Json:
    sides = (change.before, change.after)
    return {
        "namespace": change.pod.namespace,
        "name": change.pod.name,
        "workload": change.pod.workload,
        "there": [side is not None for side in sides],
        "node": [side.node if side else None for side in sides],
        "score": [side.score if side else None for side in sides],
        "message": [side.message if side else "" for side in sides],
        "why": _cause(why) if why and change.moved else None,
    }


def _cause(why: Cause) -> Json:
    points = list(why.points) if why.points else None
    return {"kind": why.kind, "plugin": why.plugin, "sentence": why.sentence, "points": points}


def _spread(change: SpreadChange) -> Json:
    sides = (change.before, change.after)
    return {
        "kind": change.workload.kind,
        "namespace": change.workload.namespace,
        "name": change.workload.name,
        "topologyKey": change.spread.topology_key,
        "whenUnsatisfiable": [side.when_unsatisfiable if side else None for side in sides],
        "maxSkew": [side.max_skew if side else None for side in sides],
        "origin": [side.origin if side else None for side in sides],
        "skew": [side.skew if side else None for side in sides],
        "domains": [_counts(side) for side in sides],
    }


def _counts(spread: WorkloadSpread | None) -> dict[str, int] | None:
    return {domain.name: domain.after for domain in spread.domains} if spread else None
