"""NodeUnschedulable: cordoned nodes take only pods that tolerate the taint (plugins/nodeunschedulable)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from topospread.api.taints import UNSCHEDULABLE_TAINT, untolerated
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.config.version_rules import gated

from .interface import UNRESOLVABLE, Prepared, Scope, Status

REASON = "node(s) were unschedulable"


@dataclass(frozen=True, slots=True)
class NodeUnschedulableRules:
    """What is not the same in every Kubernetes version."""

    comparison_operators: bool = gated("TaintTolerationComparisonOperators")


class NodeUnschedulable:
    """Rejects nodes with ``spec.unschedulable`` unless the pod tolerates ``node.kubernetes.io/unschedulable``."""

    name = "NodeUnschedulable"

    def __init__(self, rules: NodeUnschedulableRules | None = None) -> None:
        self._comparison_operators = (rules or NodeUnschedulableRules()).comparison_operators

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Nothing to say about a pod that tolerates cordoned nodes."""
        tolerations = pod_class.pod.spec.tolerations or ()
        if not untolerated([UNSCHEDULABLE_TAINT], tolerations, comparison_operators=self._comparison_operators):
            return Prepared()
        return Prepared(filter=_Cordoned(cluster.nodes))


class _Cordoned:
    scope = Scope.NODE

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes

    def filter(self, rows: Rows) -> Ints:
        return self._nodes.unschedulable[rows].astype(np.int64)

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (REASON,))
