"""NodeName rejects nodes other than ``spec.nodeName`` (plugins/nodename/node_name.go)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.config.version_rules import by_version, since

from .cluster_event import ADD, ClusterEvent, Registration
from .interface import UNRESOLVABLE, Prepared, Scope, Status, numbers


@dataclass(frozen=True, slots=True)
class NodeNameRules:
    """The differences between Kubernetes versions."""

    narrows: bool = since(
        "1.37",
        "A pod with nodeName is tried on that node alone, in PreFilter before all other plugins; "
        "the reason on other nodes is `node(s) didn't satisfy plugin(s) [NodeName]`.",
    )
    reason: str = by_version(
        {"1.18": "node(s) didn't match the requested hostname", "1.21": "node(s) didn't match the requested node name"},
        {"1.21": "The reason is `node(s) didn't match the requested node name`; before, `... hostname`."},
    )


class NodeName:
    """Rejects nodes other than ``spec.nodeName``."""

    name = "NodeName"

    def __init__(self, rules: NodeNameRules | None = None) -> None:
        self._rules = rules or NodeNameRules()

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter; skip pods that name no node."""
        node_name = pod_class.node_name
        if not node_name:
            return Prepared()
        narrowed = frozenset({node_name}) if self._rules.narrows else None
        return Prepared(filter=_NamedNode(node_name, self._rules.reason, cluster.nodes), narrowed=narrowed)

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for added nodes."""
        return (Registration(ClusterEvent("Node", ADD)),)


class _NamedNode:
    scope = Scope.NODE

    def __init__(self, node_name: str, reason: str, nodes: NodeTable) -> None:
        self._node_name = node_name
        self._reason = reason
        self._nodes = nodes

    def filter(self, rows: Rows) -> Ints:
        others: Bools = numbers(rows) != self._nodes.row_of.get(self._node_name, -1)
        return others.astype(np.int64)

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (self._reason,))
