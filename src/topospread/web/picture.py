"""Encode a placement as compact data for the map: columns by node, and pod counts by node and workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from topospread.api.inventory import ObjectKey
from topospread.api.node import Node
from topospread.api.taints import UNSCHEDULABLE_TAINT
from topospread.api.well_known_labels import HOSTNAME, REGION, ZONE
from topospread.base import API_VERSION
from topospread.simulation.result import PendingGroup
from topospread.simulation.unknown import is_unjudged
from topospread.why.rejections_per_node import shown_taint

from .placement_snapshot import PlacementSnapshot

Json = dict[str, Any]

CORDONED, TAINTED, NOT_READY, UNKNOWN = 1, 2, 4, 8
"""Bits of ``flags``. UNKNOWN marks an open node that unjudged pods may use, unless they may use every open node."""

_KEYS_FIRST = (ZONE, REGION, "topology.kubernetes.io/rack")
_MOST_COLUMNS, _MOST_KEYS = 64, 16
_MIB = 1 << 20
_OWN_TAINTS = (UNSCHEDULABLE_TAINT.key, "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def picture(
    snapshot: PlacementSnapshot, pending: Sequence[PendingGroup] = (), not_judged: Mapping[ObjectKey, int] | None = None
) -> Json:
    """Return the map's data; see docs/reference/page.md for the fields."""
    workloads, keys = snapshot.workloads, _keys(snapshot)
    unjudged = [each for each in pending if is_unjudged(each)]
    flags = [_flags(each, snapshot.silent) for each in snapshot.nodes]
    open_nodes = {each.name for each, closed in zip(snapshot.nodes, flags, strict=True) if not closed}
    usable = open_nodes.intersection(name for each in unjudged if each.verdict for name in each.verdict.feasible)
    unknown = usable if usable < open_nodes else set()
    waiting = Counter(snapshot.pods.workload[snapshot.pods.node < 0].tolist())
    return {
        "apiVersion": API_VERSION,
        "kind": "Picture",
        "nodes": {
            "name": [each.name for each in snapshot.nodes],
            "flags": [of + UNKNOWN * (each.name in unknown) for each, of in zip(snapshot.nodes, flags, strict=True)],
            "allocatable": _amounts(snapshot.allocatable),
            "used": _amounts(snapshot.used),
            "taints": [_closed(each, of) for each, of in zip(snapshot.nodes, flags, strict=True)],
            "pods": _pods_by_node(snapshot, terminating=False),
            "terminating": _pods_by_node(snapshot, terminating=True),
        },
        "keys": keys,
        "workloads": {
            "kind": [each.key[0] for each in workloads],
            "namespace": [each.key[1] for each in workloads],
            "name": [each.key[2] for each in workloads],
            "replicas": [each.replicas for each in workloads],
            "waiting": [waiting[row] for row in range(len(workloads))],
            "missing": missing(snapshot, waiting),
            "unjudged": [(not_judged or {}).get(each.key, 0) for each in workloads],
            "hardExceeded": [_exceeded(snapshot, row, hard=True) for row in range(len(workloads))],
            "softExceeded": [_exceeded(snapshot, row, hard=False) for row in range(len(workloads))],
            "spreads": [_spreads(snapshot, row, keys) for row in range(len(workloads))],
        },
        "waiting": sum(waiting.values()),
    }


def missing(snapshot: PlacementSnapshot, waiting: Mapping[int, int]) -> list[int]:
    """Return, for each workload, the number of desired pods that are neither ready nor pending."""
    pods, silent = snapshot.pods, np.array([each.name in snapshot.silent for each in snapshot.nodes] + [True])
    ready = Counter(pods.workload[~silent[pods.node] & ~pods.terminating].tolist())
    return [max(each.replicas - ready[row] - waiting[row], 0) for row, each in enumerate(snapshot.workloads)]


def _flags(node: Node, silent: frozenset[str]) -> int:
    tainted = any(each.key not in _OWN_TAINTS for each in node.spec.taints or ())
    cordoned = bool(node.spec.unschedulable)
    return CORDONED * cordoned | TAINTED * tainted | NOT_READY * (node.name in silent)


def _closed(node: Node, flags: int) -> str:
    """Return why a node is not open, with the times: not ready, cordoned, and its other taints."""
    taints = node.spec.taints or ()
    conditions = (it for it in node.status.conditions or () if it.type == "Ready" and it.status != "True")
    silent = next((it.last_transition_time for it in conditions), None)
    cordoned = next((it.time_added for it in taints if it.key == UNSCHEDULABLE_TAINT.key), None)
    found = [("not ready", silent)] * bool(flags & NOT_READY) + [("cordoned", cordoned)] * bool(flags & CORDONED)
    own = (it for it in taints if it.key not in _OWN_TAINTS)
    found += [(shown_taint(it.key, it.value, it.effect), it.time_added) for it in own]
    return ", ".join(f"{each} since {time}" if time else each for each, time in found)


def _amounts(columns: Any) -> Json:
    """Return CPU in millicores, memory in MiB and the number of pods, each as a list over the nodes."""
    return {"cpu": columns[:, 0].tolist(), "memory": (columns[:, 1] // _MIB).tolist(), "pods": columns[:, 2].tolist()}


def _pods_by_node(snapshot: PlacementSnapshot, *, terminating: bool) -> list[list[int]]:
    """Return, for each node: [workload row, number of pods, workload row, number of pods, …]."""
    pods = snapshot.pods
    found: list[list[int]] = [[] for _ in snapshot.nodes]
    there = (pods.node >= 0) & (pods.terminating == terminating)
    width = len(snapshot.workloads)
    pairs, numbers = np.unique(pods.node[there] * width + pods.workload[there], return_counts=True)
    for pair, number in zip(pairs.tolist(), numbers.tolist(), strict=True):
        node, workload = divmod(pair, width)
        found[node] += (workload, number)
    return found


def _keys(snapshot: PlacementSnapshot) -> list[Json]:
    """Return the keys of the map's columns: usual topology keys, keys of constraints, then labels with few values."""
    used = dict.fromkeys(each.topology_key for found in snapshot.spreads.values() for each in found)
    wanted = [each for each in dict.fromkeys((*_KEYS_FIRST, *used)) if each != HOSTNAME]
    values: dict[str, set[str]] = {}
    for node in snapshot.nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    wanted += [
        each for each in sorted(values) if each not in (*wanted, HOSTNAME) and 1 < len(values[each]) <= _MOST_COLUMNS
    ]
    there = [each for each in wanted if each in values and (each in used or len(values[each]) <= _MOST_COLUMNS * 8)]
    return [_column(snapshot.nodes, key, sorted(values[key])) for key in there[:_MOST_KEYS]]


def _column(nodes: list[Node], key: str, values: list[str]) -> Json:
    code: dict[str | None, int] = {value: number for number, value in enumerate(values)}
    return {"key": key, "values": values, "of": [code.get(each.labels.get(key), -1) for each in nodes]}


def _exceeded(snapshot: PlacementSnapshot, row: int, *, hard: bool) -> Json | None:
    """Return the hard or soft constraint with the largest excess over maxSkew; ``None`` if none is exceeded."""
    found = snapshot.spreads.get(snapshot.workloads[row].key, ())
    above = [each for each in found if each.hard == hard and each.skew > each.max_skew]
    if not above:
        return None
    worst = max(above, key=lambda each: each.skew - each.max_skew)
    return {"key": worst.topology_key, "skew": worst.skew, "maxSkew": worst.max_skew}


def _spreads(snapshot: PlacementSnapshot, row: int, keys: list[Json]) -> list[Json]:
    """Return the constraints over the map's columns, so that the page need not fetch them for a chosen workload."""
    numbers = {each["key"]: number for number, each in enumerate(keys) if len(each["values"]) <= _MOST_COLUMNS}
    return [
        {
            "key": numbers[each.topology_key],
            "hard": each.hard,
            "maxSkew": each.max_skew,
            "minimum": each.minimum,
            # −1 if the value is not a domain of this constraint
            "pods": [there.get(value, -1) for value in keys[numbers[each.topology_key]]["values"]],
        }
        for each in snapshot.spreads.get(snapshot.workloads[row].key, ())
        if each.topology_key in numbers
        for there in [{one.name: one.matching for one in each.domains}]
    ]
