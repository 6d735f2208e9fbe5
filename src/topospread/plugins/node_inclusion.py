"""The nodes that a spread constraint includes: nodeAffinityPolicy and nodeTaintsPolicy (KEP-3094).

Source: plugins/podtopologyspread/common.go (``matchNodeInclusionPolicies``).
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec
import numpy as np

from topospread.api.taints import untolerated
from topospread.cluster import NodeTable, PodClass
from topospread.cluster.arrays import Bools, Rows

from .interface import length
from .node_matching import required_mask

_ENCODER = msgspec.json.Encoder(order="deterministic")


class Inclusion:
    """A function that returns which nodes the two policies include, for one pod class."""

    def __init__(self, pod_class: PodClass, nodes: NodeTable, comparison_operators: bool) -> None:
        self.pod_class = pod_class
        self._affinity = required_mask(pod_class.pod.spec, nodes)
        self.nodes = nodes
        self._tolerations = pod_class.pod.spec.tolerations or []
        self._comparison_operators = comparison_operators
        self._tolerated: Bools = np.zeros(0, dtype=np.bool_)

    def key(self, *, honors_affinity: bool, honors_taints: bool) -> Hashable:
        """Return a key that is equal for pods whose policies include the same nodes."""
        spec = self.pod_class.pod.spec
        required = spec.affinity and spec.affinity.node_affinity
        required_terms = required and required.required_during_scheduling_ignored_during_execution
        affinity = _ENCODER.encode((spec.node_selector, required_terms)) if honors_affinity else b""
        tolerations = _ENCODER.encode(self._tolerations) if honors_taints else b""
        return honors_affinity, affinity, honors_taints, tolerations, self._comparison_operators

    def matches_affinity(self, rows: Rows) -> Bools:
        """Return which nodes match the pod's nodeSelector and required node affinity, bool[rows]."""
        return np.ones(length(rows), dtype=np.bool_) if self._affinity is None else self._affinity(rows)

    def tolerated(self, rows: Rows) -> Bools:
        """Return which nodes have no NoSchedule or NoExecute taint that the pod does not tolerate, bool[rows]."""
        sets = self.nodes.taint_sets
        known = len(self._tolerated)
        if known < len(sets):
            more = [
                not untolerated(each, self._tolerations, comparison_operators=self._comparison_operators)
                for each in sets[known:]
            ]
            self._tolerated = np.concatenate([self._tolerated, np.array(more, dtype=np.bool_)])
        result: Bools = self._tolerated[self.nodes.taints[rows]]
        return result

    def __call__(self, rows: Rows, *, honors_affinity: bool, honors_taints: bool) -> Bools:
        """Return which nodes the policies include, bool[rows]."""
        result = self.nodes.alive[rows].copy()
        if honors_affinity:
            result &= self.matches_affinity(rows)
        if honors_taints:
            result &= self.tolerated(rows)
        return result
