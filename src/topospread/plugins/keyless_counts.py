"""Matching pods by domain where no key is required: nodes without it count together with those whose value is empty.

Source: plugins/podtopologyspread/scoring.go: under the built-in defaults PreScore reads ``node.Labels[key]``, "" for
both, and Score asks of nodes that have the label alone. What the counts decide is in `pod_topology_spread`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topospread.cluster.arrays import Bools, Codes, Ints, grown
from topospread.cluster.nodes import LabelColumn

from .domain_counts import DomainCounts, MatchingPods


class KeylessCounts(DomainCounts):
    """Counts of soft constraints that nodes need no key for; a domain still needs a node that has the label."""

    def __init__(self, column: LabelColumn, pods: MatchingPods, taking_part: Bools) -> None:
        super().__init__(column, pods, taking_part)
        size = len(taking_part)
        self._keyless: Bools = np.zeros(len(column.codes), dtype=np.bool_)
        self._keyless[:size] = taking_part & (column.codes[:size] < 0)
        self._beside = int(pods.per_node[: len(self._keyless)][self._keyless].sum())

    def add(self, row: int, delta: int) -> int:
        """Count a matching pod on a node; the code of the domain it counts in, −1 for none."""
        code = super().add(row, delta)
        if code < 0 and row < len(self._keyless) and self._keyless.item(row):
            self._beside += delta
        return code

    def set_member(self, row: int, taking_part: bool) -> tuple[int, int]:
        """Put a row, as its node now is, where it belongs; its pods move along."""
        self._keyless = grown(self._keyless, len(self._column.codes), False)
        keyless = taking_part and int(self._column.codes[row]) < 0
        self._beside += int(self.pods.per_node[row]) * (keyless - bool(self._keyless[row]))
        self._keyless[row] = keyless
        return super().set_member(row, taking_part)

    def at(self, codes: Codes) -> Ints:
        """Counts of the domains with these codes, int64[codes]; −1 gives an arbitrary value."""
        counts = super().at(codes)
        if self._beside and (empty := self._column.code("")) >= 0:
            counts = counts + np.where(codes == empty, self._beside, 0)
        return counts

    def at_each(self, codes: Sequence[int]) -> list[int]:
        """`at`, for a handful of domains."""
        counts = super().at_each(codes)
        if self._beside and (empty := self._column.code("")) in codes and empty >= 0:
            return [n + self._beside if code == empty else n for n, code in zip(counts, codes, strict=True)]
        return counts
