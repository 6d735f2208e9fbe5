"""Matching pods by domain where no key is required: nodes without it count together with those whose value is empty.

Source: plugins/podtopologyspread/scoring.go: under the built-in defaults PreScore reads ``node.Labels[key]``, "" for
both, and Score asks of nodes that have the label alone. What the counts decide is in `pod_topology_spread`.
"""

from __future__ import annotations

import numpy as np

from topospread.cluster.arrays import Bools, grown
from topospread.cluster.nodes import LabelColumn

from .domain_counts import DomainCounts, MatchingPods


class KeylessCounts(DomainCounts):
    """Counts of soft constraints that nodes need no key for; a domain still needs a node that has the label."""

    def __init__(self, column: LabelColumn, pods: MatchingPods, taking_part: Bools) -> None:
        super().__init__(column, pods, taking_part)
        size = len(taking_part)
        self._keyless: Bools = np.zeros(len(column.codes), dtype=np.bool_)
        self._keyless[:size] = taking_part & (column.codes[:size] < 0)
        self.beside = int(pods.per_node[: len(self._keyless)][self._keyless].sum())

    def _count_beside(self, row: int, delta: int) -> None:
        """A matching pod on a node that is in no domain counts where the node lacks the key."""
        if row < len(self._keyless) and self._keyless.item(row):
            self.beside += delta

    def set_member(self, row: int, taking_part: bool) -> tuple[int, int]:
        """Put a row, as its node now is, where it belongs; its pods move along."""
        self._keyless = grown(self._keyless, len(self._column.codes), False)
        keyless = taking_part and int(self._column.codes[row]) < 0
        self.beside += int(self.pods.per_node[row]) * (keyless - bool(self._keyless[row]))
        self._keyless[row] = keyless
        return super().set_member(row, taking_part)
