"""A moment as the compact data that the map is drawn from: columns by node, pods as counts by workload on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from topospread.api.node import Node
from topospread.api.well_known_labels import HOSTNAME, REGION, ZONE
from topospread.base import API_VERSION
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.simulation.result import PendingGroup
from topospread.simulation.unknown import is_unjudged

from .placement_snapshot import PlacementSnapshot

Json = dict[str, Any]

CORDONED, TAINTED, NOT_READY, UNKNOWN = 1, 2, 4, 8
"""Bits of ``flags``; UNKNOWN marks a node that a pod with an unknown verdict may use. A node without the chosen label
has the domain code −1."""

_KEYS_FIRST = (ZONE, REGION, "topology.kubernetes.io/rack")
_MOST_COLUMNS, _MOST_KEYS = 64, 16
_MIB = 1 << 20
_OWN_TAINTS = ("node.kubernetes.io/unschedulable", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def picture(snapshot: PlacementSnapshot, pending: Sequence[PendingGroup] = ()) -> Json:
    """The map's data; see docs/reference/page.md for the fields."""
    workloads, keys = snapshot.workloads, _keys(snapshot)
    unjudged = [each for each in pending if is_unjudged(each)]
    of: Counter[tuple[str, str]] = Counter()
    for each in unjudged:
        of[each.namespace, each.workload] += len(each.pods)
    waiting = Counter(snapshot.pods.workload[snapshot.pods.node < 0].tolist())
    return {
        "apiVersion": API_VERSION,
        "kind": "Picture",
        "nodes": {
            "name": [each.name for each in snapshot.nodes],
            "flags": [_flags(each, snapshot.silent, unjudged) for each in snapshot.nodes],
            "allocatable": _amounts(snapshot.allocatable),
            "used": _amounts(snapshot.used),
            "pods": _pods_by_node(snapshot),
        },
        "keys": keys,
        "workloads": {
            "kind": [each.key[0] for each in workloads],
            "namespace": [each.key[1] for each in workloads],
            "name": [each.key[2] for each in workloads],
            "replicas": [each.replicas for each in workloads],
            "waiting": [waiting[row] for row in range(len(workloads))],
            "missing": _missing(snapshot, waiting),
            "unjudged": [of[each.key[1], f"{each.key[0]}/{each.key[2]}"] for each in workloads],
            "hardExceeded": [_exceeded(snapshot, row, hard=True) for row in range(len(workloads))],
            "softExceeded": [_exceeded(snapshot, row, hard=False) for row in range(len(workloads))],
            "spreads": [_spreads(snapshot, row, keys) for row in range(len(workloads))],
        },
        "waiting": sum(waiting.values()),
    }


def _missing(snapshot: PlacementSnapshot, waiting: Mapping[int, int]) -> list[int]:
    """Return for each workload how many pods it lacks that are neither ready nor pending: on lost nodes, or gone."""
    pods, silent = snapshot.pods, np.array([each.name in snapshot.silent for each in snapshot.nodes] + [True])
    ready = Counter(pods.workload[~silent[pods.node] & ~pods.terminating].tolist())
    return [max(each.replicas - ready[row] - waiting[row], 0) for row, each in enumerate(snapshot.workloads)]


def _flags(node: Node, silent: frozenset[str], unjudged: Sequence[PendingGroup]) -> int:
    tainted = any(each.key not in _OWN_TAINTS for each in node.spec.taints or ())
    cordoned = bool(node.spec.unschedulable)
    unknown = any(each.verdict is not None and node.name not in each.verdict.rejected for each in unjudged)
    return CORDONED * cordoned | TAINTED * tainted | NOT_READY * (node.name in silent) | UNKNOWN * unknown


def _amounts(columns: Any) -> Json:
    """Millicores, MiB and pods."""
    return {"cpu": columns[:, 0].tolist(), "memory": (columns[:, 1] // _MIB).tolist(), "pods": columns[:, 2].tolist()}


def _pods_by_node(snapshot: PlacementSnapshot) -> list[list[int]]:
    """Node → workload, number, workload, number, …"""
    pods = snapshot.pods
    found: list[list[int]] = [[] for _ in snapshot.nodes]
    there = pods.node >= 0
    width = len(snapshot.workloads)
    pairs, numbers = np.unique(pods.node[there] * width + pods.workload[there], return_counts=True)
    for pair, number in zip(pairs.tolist(), numbers.tolist(), strict=True):
        node, workload = divmod(pair, width)
        found[node] += (workload, number)
    return found


def _keys(snapshot: PlacementSnapshot) -> list[Json]:
    """Topology keys that make columns: those of constraints first, the usual ones, then other labels of few values."""
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
    """Return the constraint of its kind whose skew is furthest above maxSkew; ``None`` if none is above it."""
    found = snapshot.spreads.get(snapshot.workloads[row].key, ())
    above = [each for each in found if each.hard == hard and each.skew > each.max_skew]
    if not above:
        return None
    worst = max(above, key=lambda each: each.skew - each.max_skew)
    return {"key": worst.topology_key, "skew": worst.skew, "maxSkew": worst.max_skew}


def _spreads(snapshot: PlacementSnapshot, row: int, keys: list[Json]) -> list[Json]:
    """Return the constraints over the map's columns, so that choosing a workload needs no further answer."""
    numbers = {each["key"]: number for number, each in enumerate(keys) if len(each["values"]) <= _MOST_COLUMNS}
    return [
        {
            "key": numbers[each.topology_key],
            "hard": each.hard,
            "maxSkew": each.max_skew,
            "minimum": each.minimum,
            "pods": _counts(each, keys[numbers[each.topology_key]]["values"]),
        }
        for each in snapshot.spreads.get(snapshot.workloads[row].key, ())
        if each.topology_key in numbers
    ]


def _counts(constraint: ConstraintArithmetic, values: list[str]) -> list[int]:
    """Return value → matching pods, −1 if the value is not a domain of this constraint."""
    there = {each.name: each.matching for each in constraint.domains}
    return [there.get(each, -1) for each in values]
