"""NodeResourcesFit: the node has room for what the pod requests; points by strategy (plugins/noderesources/fit.go)."""

from __future__ import annotations

import numpy as np

from topospread.api.requests import fit_scoring_requests, is_extended_resource
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.nodes import PODS
from topospread.config.args import NodeResourcesFitArgs

from .interface import UNRESOLVABLE, UNSCHEDULABLE, Prepared, Scope, Status
from .resource_scoring import ResourceReader, StrategyScore, scorer_of

TOO_MANY_PODS = "Too many pods"
_UNRESOLVABLE_BIT = 1 << 62
_FIRST_RESOURCES = ("cpu", "memory", "ephemeral-storage")


class NodeResourcesFit:
    """Filter: pods, cpu, memory, ephemeral storage, extended resources. Score: the strategy of its arguments.

    ``tells_unresolvable``: a request above the node's whole capacity is UnschedulableAndUnresolvable (since 1.30).
    """

    name = "NodeResourcesFit"

    def __init__(self, args: NodeResourcesFitArgs | None = None, *, tells_unresolvable: bool = True) -> None:
        self._args = args or NodeResourcesFitArgs()
        self._tells_unresolvable = tells_unresolvable

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Both extension points, always: even a pod without requests takes one of the node's pods."""
        strategy = self._args.scoring_strategy
        requests = fit_scoring_requests(pod_class.pod, pod_class.rules)
        reader = ResourceReader(strategy.resources, requests, cluster.nodes, non_zero=True)
        checked = {name: amount for name, amount in pod_class.request.items() if amount > 0 and not self._ignores(name)}
        return Prepared(
            filter=_Room(checked, cluster.nodes, tells_unresolvable=self._tells_unresolvable),
            score=StrategyScore(reader, scorer_of(strategy)),
        )

    def _ignores(self, name: str) -> bool:
        if not is_extended_resource(name):
            return False
        group = name.split("/", maxsplit=1)[0]
        return name in self._args.ignored_resources or group in self._args.ignored_resource_groups


class _Room:
    """Codes are a bit for each resource that is short: pods first, then cpu, memory, storage, extended ones."""

    scope = Scope.USAGE

    def __init__(self, requests: dict[str, int], nodes: NodeTable, *, tells_unresolvable: bool) -> None:
        names = [name for name in _FIRST_RESOURCES if name in requests]
        names += sorted(set(requests) - set(names))
        self._nodes = nodes
        self._tells_unresolvable = tells_unresolvable
        self._names = names
        self._columns = [nodes.resource(name) for name in names]
        self._amounts = np.array([requests[name] for name in names], dtype=np.int64)
        self._bits = np.left_shift(2, np.arange(len(names), dtype=np.int64))

    def filter(self, rows: Rows) -> Ints:
        allocatable = self._nodes.allocatable
        used = self._nodes.used
        codes = (used[rows, PODS] + 1 > allocatable[rows, PODS]).astype(np.int64)
        for column, amount, bit in zip(self._columns, self._amounts, self._bits, strict=True):
            capacity = allocatable[rows, column]
            short = amount > capacity - used[rows, column]
            codes |= np.where(short, bit, 0)
            if self._tells_unresolvable:
                codes |= np.where(short & (amount > capacity), _UNRESOLVABLE_BIT, 0)
        return codes

    def status(self, code: int) -> Status:
        reasons = [TOO_MANY_PODS] if code & 1 else []
        reasons += [f"Insufficient {name}" for i, name in enumerate(self._names) if code & (2 << i)]
        return Status(UNRESOLVABLE if code & _UNRESOLVABLE_BIT else UNSCHEDULABLE, tuple(reasons))

    def shortages(self, row: int) -> list[tuple[str, int, int, int]]:
        """What is short on one node: (resource, requested, used, allocatable), for explanations."""
        result = []
        used, allocatable = self._nodes.used[row], self._nodes.allocatable[row]
        if used[PODS] + 1 > allocatable[PODS]:
            result.append(("pods", 1, int(used[PODS]), int(allocatable[PODS])))
        for name, column, amount in zip(self._names, self._columns, self._amounts, strict=True):
            if amount > allocatable[column] - used[column]:
                result.append((name, int(amount), int(used[column]), int(allocatable[column])))
        return result
