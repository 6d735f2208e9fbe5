"""Compute the pods that each workload, and all workloads together, lose when a domain fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from heapq import nsmallest

import msgspec
import numpy as np

from topospread.api.well_known_labels import HOSTNAME, ZONE
from topospread.cluster import Cluster

from .members import OF_THEIR_NODE, Members
from .result import DomainRisk, LargeLoss, Loss, WorkloadStatus

WELL_KNOWN = (ZONE, HOSTNAME)
"""Topology keys that are examined in addition to the constraints' keys, if nodes have them."""


def keys_at_risk(workloads: Iterable[WorkloadStatus], cluster: Cluster) -> tuple[str, ...]:
    """Return zone, hostname and the keys of constraints, if nodes have them."""
    keys = dict.fromkeys(WELL_KNOWN)
    for workload in workloads:
        keys.update((each.topology_key, None) for each in workload.constraints)
    return tuple(key for key in keys if is_on_nodes(key, cluster))


def is_on_nodes(key: str, cluster: Cluster) -> bool:
    """Return whether a node has a label of this key."""
    return cluster.nodes.labels(key).missing < len(cluster.nodes)


def losses(
    kind: str, members: Members, keys: Iterable[str], cluster: Cluster, most: int | None = None
) -> tuple[Loss, ...]:
    """Return the workload's lost pods for the failure of each domain, by key, largest loss first.

    ``most``: maximum number of domains for each key; None for all.
    """
    if kind in OF_THEIR_NODE:
        return ()
    by_row = members.by_row
    rows, existing = np.array(list(by_row), dtype=np.intp), sum(by_row.values())
    found: list[Loss] = []
    for key in keys:
        column = cluster.nodes.labels(key)
        lost: dict[int, int] = {}
        for code, pods in zip(column.codes[rows].tolist(), by_row.values(), strict=True):
            lost[code] = lost.get(code, 0) + pods
        lost.pop(-1, None)
        sizes = ((-pods, column.values[code]) for code, pods in lost.items())
        largest_first = sorted(sizes) if most is None else nsmallest(most, sizes)
        found += [Loss(key, name, -pods, existing) for pods, name in largest_first]
    return tuple(found)


class _Sum(msgspec.Struct):
    """The losses of all workloads if a domain fails."""

    pods: int = 0
    workloads: int = 0
    loses_all: list[str] = []
    loses_most: list[LargeLoss] = []
    single: int = 0

    def add(self, workload: WorkloadStatus, loss: Loss) -> None:
        name = f"{workload.namespace}/{workload.name}"
        self.pods += loss.lost
        self.workloads += 1
        if loss.of == 1:
            self.single += 1
        elif loss.lost == loss.of:
            self.loses_all.append(name)
        elif loss.lost * 2 > loss.of:
            self.loses_most.append(LargeLoss(name, loss.lost, loss.of))


def domains_at_risk(
    workloads: Iterable[WorkloadStatus], keys: Sequence[str], cluster: Cluster
) -> tuple[DomainRisk, ...]:
    """Return the risk of each domain with pods, by topology key, then by the workloads that lose most pods."""
    sums: dict[tuple[str, str], _Sum] = {}
    for workload in workloads:
        for loss in workload.losses:
            sums.setdefault((loss.topology_key, loss.domain), _Sum()).add(workload, loss)
    nodes = {key: _nodes_by_domain(cluster, key) for key in keys}
    risks = [
        DomainRisk(
            topology_key=key,
            name=name,
            nodes=nodes[key][name],
            pods=each.pods,
            workloads=each.workloads,
            loses_all=tuple(sorted(each.loses_all)),
            loses_most=tuple(sorted(each.loses_most, key=lambda one: (-one.lost / one.of, one.workload))),
            single=each.single,
        )
        for (key, name), each in sums.items()
    ]
    order = {key: position for position, key in enumerate(keys)}

    def badness(risk: DomainRisk) -> tuple[object, ...]:
        return (order[risk.topology_key], -len(risk.loses_all), -len(risk.loses_most), -risk.pods, risk.name)

    return tuple(sorted(risks, key=badness))


def _nodes_by_domain(cluster: Cluster, key: str) -> Counter[str]:
    column = cluster.nodes.labels(key)
    codes = column.codes[: cluster.nodes.size][cluster.nodes.alive[: cluster.nodes.size]]
    return Counter(column.values[code] for code in codes.tolist() if code >= 0)
