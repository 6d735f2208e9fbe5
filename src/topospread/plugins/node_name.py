"""NodeName: a pod that names its node runs there or nowhere (plugins/nodename/node_name.go)."""

from __future__ import annotations

import numpy as np

from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows

from .interface import UNRESOLVABLE, Prepared, Scope, Status, numbers

REASON = "node(s) didn't match the requested node name"


class NodeName:
    """Rejects nodes other than ``spec.nodeName``.

    ``narrows``: PreFilter leaves only that node; the others are not even tried (since 1.37).
    """

    name = "NodeName"

    def __init__(self, *, narrows: bool = True) -> None:
        self._narrows = narrows

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Nothing to say unless the pod names a node."""
        node_name = pod_class.node_name
        if not node_name:
            return Prepared()
        narrowed = frozenset({node_name}) if self._narrows else None
        return Prepared(filter=_NamedNode(node_name, cluster.nodes), narrowed=narrowed)


class _NamedNode:
    scope = Scope.NODE

    def __init__(self, node_name: str, nodes: NodeTable) -> None:
        self._node_name = node_name
        self._nodes = nodes

    def filter(self, rows: Rows) -> Ints:
        others: Bools = numbers(rows) != self._nodes.row_of.get(self._node_name, -1)
        return others.astype(np.int64)

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (REASON,))
