"""Score of ScheduleAnyway constraints in 1.18: the plain number of matching pods.

Source: plugins/podtopologyspread/scoring.go of 1.18. `pod_topology_spread` has the later rule.
"""

from __future__ import annotations

import numpy as np

from topospread.cluster.arrays import Ints, Rows
from topospread.plugins.interface import MAX_NODE_SCORE, Scope, length
from topospread.plugins.spread_counts import Spread


class PlainSum:
    """The Score extension point of 1.18: number of matching pods, summed over the soft constraints."""

    scope = Scope.CLUSTER

    def __init__(self, spread: Spread) -> None:
        self._spread = spread
        self._keys = [each.constraint.topology_key for each in spread.soft]

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return the sum of counts over the constraints, 0 for nodes that lack a key, int64[rows]."""
        total = np.zeros(length(rows), dtype=np.int64)
        for each in self._spread.soft:
            assert each.counts is not None
            total += each.counts.at(each.column.codes[rows])
        return np.where(self._spread.has_keys(self._keys, rows), total, 0)

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return ``100 · (sum − raw) / (sum − lowest)``, int64[rows]; ``sum`` is over all nodes' raw scores.

        It is 100 if sum and lowest are equal, and 0 for a node that lacks a key.
        """
        scored = self._spread.has_keys(self._keys, rows)
        if not scored.any():
            return np.zeros(len(raw), dtype=np.int64)
        total, lowest = int(raw[scored].sum()), int(raw[scored].min())
        if total == lowest:
            return np.full(len(raw), MAX_NODE_SCORE, dtype=np.int64)
        points = MAX_NODE_SCORE * ((total - raw) / (total - lowest))
        return np.where(scored, points, 0.0).astype(np.int64)
