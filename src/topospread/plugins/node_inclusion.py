"""Which nodes take part in a spread constraint's counts: nodeAffinityPolicy and nodeTaintsPolicy (KEP-3094).

Source: plugins/podtopologyspread/common.go (``matchNodeInclusionPolicies``).
"""

from __future__ import annotations

import numpy as np

from topospread.api.taints import untolerated
from topospread.cluster import NodeTable, PodClass
from topospread.cluster.arrays import Bools, Rows

from .interface import length
from .node_matching import required_mask


class Inclusion:
    """Which nodes take part in counting, by the policies (``matchNodeInclusionPolicies``)."""

    def __init__(self, pod_class: PodClass, nodes: NodeTable, comparison_operators: bool) -> None:
        self.pod_class = pod_class
        self._affinity = required_mask(pod_class.pod.spec, nodes)
        self._nodes = nodes
        self._tolerations = pod_class.pod.spec.tolerations or []
        self._comparison_operators = comparison_operators
        self._tolerated: Bools = np.zeros(0, dtype=np.bool_)

    def matches_affinity(self, rows: Rows) -> Bools:
        """Nodes that match the pod's nodeSelector and required node affinity."""
        return np.ones(length(rows), dtype=np.bool_) if self._affinity is None else self._affinity(rows)

    def tolerated(self, rows: Rows) -> Bools:
        """Nodes without a NoSchedule or NoExecute taint that the pod does not tolerate."""
        sets = self._nodes.taint_sets
        known = len(self._tolerated)
        if known < len(sets):
            more = [
                not untolerated(each, self._tolerations, comparison_operators=self._comparison_operators)
                for each in sets[known:]
            ]
            self._tolerated = np.concatenate([self._tolerated, np.array(more, dtype=np.bool_)])
        result: Bools = self._tolerated[self._nodes.taints[rows]]
        return result

    def __call__(self, rows: Rows, *, honors_affinity: bool, honors_taints: bool) -> Bools:
        """Nodes that the policies include, bool[rows]."""
        result = self._nodes.alive[rows].copy()
        if honors_affinity:
            result &= self.matches_affinity(rows)
        if honors_taints:
            result &= self.tolerated(rows)
        return result
