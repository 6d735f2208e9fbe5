"""NodeUnschedulable rejects cordoned nodes unless the pod tolerates the taint (plugins/nodeunschedulable)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.node import Node
from topospread.api.node_selection import Toleration
from topospread.api.pod import Pod
from topospread.api.taints import UNSCHEDULABLE_TAINT, untolerated
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.config.version_rules import gated

from .cluster_event import ADD, NODE_TAINT, POD_TOLERATION, ClusterEvent, Registration
from .interface import UNRESOLVABLE, Prepared, Scope, Status

REASON = "node(s) were unschedulable"


@dataclass(frozen=True, slots=True)
class NodeUnschedulableRules:
    """The differences between Kubernetes versions."""

    comparison_operators: bool = gated("TaintTolerationComparisonOperators")


class NodeUnschedulable:
    """Rejects nodes with ``spec.unschedulable`` unless the pod tolerates ``node.kubernetes.io/unschedulable``."""

    name = "NodeUnschedulable"

    def __init__(self, rules: NodeUnschedulableRules | None = None) -> None:
        self._comparison_operators = (rules or NodeUnschedulableRules()).comparison_operators

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter; skip it for a pod that tolerates cordoned nodes."""
        if self._tolerated(pod_class.pod.spec.tolerations or ()):
            return Prepared()
        return Prepared(filter=_Cordoned(cluster.nodes))

    def _tolerated(self, tolerations: Iterable[Toleration]) -> bool:
        return not untolerated([UNSCHEDULABLE_TAINT], tolerations, comparison_operators=self._comparison_operators)

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for added or uncordoned nodes, and for new tolerations of the pod."""
        return (
            Registration(ClusterEvent("Node", ADD | NODE_TAINT), _after_node_change),
            Registration(
                ClusterEvent("TargetPod", POD_TOLERATION),
                lambda pod, old, new: self._tolerated(new.spec.tolerations or ()),
            ),
        )


def _after_node_change(pod: Pod, old: Node | None, new: Node) -> bool:
    return not new.spec.unschedulable and (old is None or bool(old.spec.unschedulable))


class _Cordoned:
    scope = Scope.NODE

    def __init__(self, nodes: NodeTable) -> None:
        self._nodes = nodes

    def filter(self, rows: Rows) -> Ints:
        return self._nodes.unschedulable[rows].astype(np.int64)

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (REASON,))
