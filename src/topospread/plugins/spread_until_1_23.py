"""How topology spread counted and scored in older versions: whole domains (1.19 to 1.23) and plain sums (1.18).

Source: plugins/podtopologyspread/filtering.go of 1.19 to 1.23, scoring.go of 1.18. What holds since then is in
`domain_counts` and `pod_topology_spread`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topospread.cluster.arrays import Bools, Codes, Ints, Rows, grown
from topospread.cluster.nodes import LabelColumn

from .domain_counts import DomainCounts, MatchingPods
from .interface import MAX_NODE_SCORE, Scope, length

if TYPE_CHECKING:
    from .spread_counts import Spread


class WholeDomainCounts(DomainCounts):
    """Domains exist where a node takes part; what counts is every matching pod in them, on whatever node."""

    def __init__(self, column: LabelColumn, pods: MatchingPods, taking_part: Bools) -> None:
        super().__init__(column, pods, taking_part)
        self._counted: Codes = column.codes.copy()
        rows = np.flatnonzero(self._counted >= 0)
        weights = pods.per_node[rows]
        counts = np.bincount(self._counted[rows], weights=weights, minlength=len(column.values))
        self._recount(counts.astype(np.int64))

    def add(self, row: int, delta: int) -> int:
        """Count a matching pod on a node; the code of the domain it counts in, −1 for none."""
        code = int(self._counted[row]) if row < len(self._counted) else -1
        if code >= 0:
            self._change(code, delta)
        return code

    def set_member(self, row: int, taking_part: bool) -> tuple[int, int]:
        """Put a row where it belongs; its pods go to the domain of its label, whether or not it takes part."""
        self._counted = grown(self._counted, len(self._column.codes), -1)
        self.make_room()
        before, after = int(self._counted[row]), int(self._column.codes[row])
        if before != after:
            pods = int(self.pods.per_node[row])
            for code, delta in ((before, -pods), (after, pods)):
                if code >= 0:
                    self._change(code, delta)
            self._counted[row] = after
        existed, exists = super().set_member(row, taking_part)
        return (before, after) if before != after else (existed, exists)

    def at(self, codes: Codes) -> Ints:
        """Counts of the domains with these codes, 0 for a domain that does not exist."""
        counts = super().at(codes)
        return np.where(self.nodes[codes] > 0, counts, 0) if len(self.nodes) else counts

    def at_few(self, codes: Sequence[int]) -> list[int]:
        """`at`, for a handful of domains."""
        counts: list[int] = self.at(np.array(codes, dtype=np.int32)).tolist()
        return counts

    def _moving(self, row: int) -> int:
        """Pods do not move with their node's membership here."""
        return 0


class PlainSum:
    """The Score extension point of 1.18: matching pods, added up over the soft constraints."""

    scope = Scope.CLUSTER

    def __init__(self, spread: Spread) -> None:
        self._spread = spread
        self._keys = [each.constraint.topology_key for each in spread.soft]

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """``Σ count``, 0 for nodes that lack a key, int64[rows]."""
        total = np.zeros(length(rows), dtype=np.int64)
        for each in self._spread.soft:
            assert each.counts is not None
            total += each.counts.at(each.column.codes[rows])
        return np.where(self._spread.has_keys(self._keys, rows), total, 0)

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """``100 · (sum − raw) / (sum − lowest)`` ; nodes that lack a key get 0, or 100 where all are equal."""
        scored = self._spread.has_keys(self._keys, rows)
        if not scored.any():
            return np.zeros(len(raw), dtype=np.int64)
        total, lowest = int(raw[scored].sum()), int(raw[scored].min())
        if total == lowest:
            return np.full(len(raw), MAX_NODE_SCORE, dtype=np.int64)
        points = MAX_NODE_SCORE * ((total - raw) / (total - lowest))
        return np.where(scored, points, 0.0).astype(np.int64)
