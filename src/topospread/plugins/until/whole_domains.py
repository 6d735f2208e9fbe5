"""Hard spread constraints that count every pod in a domain, on whatever node: 1.19 to 1.23.

Source: plugins/podtopologyspread/filtering.go of these versions. What holds since then is in `domain_counts`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topospread.cluster.arrays import Bools, Codes, Ints, grown
from topospread.cluster.nodes import LabelColumn
from topospread.plugins.domain_counts import DomainCounts, MatchingPods


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

    def at_each(self, codes: Sequence[int]) -> list[int]:
        """`at`, for a handful of domains."""
        counts: list[int] = self.at(np.array(codes, dtype=np.int32)).tolist()
        return counts

    def _moving(self, row: int) -> int:
        """Pods do not move with their node's membership here."""
        return 0
