"""The columns that group nodes: nodes with equal values in all columns are equal for every cluster-wide plugin.

Pod classes share `ByDomain` columns. A count column belongs to one selector. It is 0 on nodes without counted pods,
which `topospread.scheduling.groups` relies on.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import isqrt
from typing import Protocol, runtime_checkable

import numpy as np

from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.nodes import LabelColumn
from topospread.cluster.selections import Selection

from .domain_counts import DomainCounts, pods_on

MISSING = -(1 << 62)
"""Value of a count on a node without the key."""
_FEW_DOMAINS = 32


class GroupColumn(Protocol):
    """A column with one integer for each node."""

    @property
    def key(self) -> Hashable:
        """A key that is equal for columns with the same values."""

    @property
    def is_fixed(self) -> bool:
        """True if a node's value changes only with the node itself, not with pods."""

    def values(self, rows: Rows) -> Ints:
        """Return the values of nodes, int64[rows]."""

    def value(self, row: int) -> int:
        """Return the value of one node."""


@runtime_checkable
class CountColumn(GroupColumn, Protocol):
    """A column that is 0 on most nodes, and `MISSING` on nodes that lack the label key of ``labels``."""

    @property
    def labels(self) -> LabelColumn:
        """Column of the label key that a node needs for a count."""

    @property
    def whole_domains(self) -> bool:
        """True if a node's value also depends on pods on other nodes of its domain."""

    def counted(self) -> Mapping[int, int]:
        """Return row → value for all nodes whose value is neither 0 nor `MISSING`; do not change it."""


def is_grouped_by_domain(labels: LabelColumn, nodes: int) -> bool:
    """Return whether nodes are grouped by their domain instead of by the number of pods in it.

    By domain, a search compares one node for each domain. By count, each placed pod moves all nodes of its domain to
    another group. So nodes are grouped by domain if there are few domains.
    """
    return len(labels.values) <= max(_FEW_DOMAINS, isqrt(nodes))


class ByDomain:
    """A column: the code of the node's domain, −1 without the key."""

    is_fixed = True

    def __init__(self, labels: LabelColumn) -> None:
        self.labels = labels
        self.key = ("domain", labels.key)

    def values(self, rows: Rows) -> Ints:
        """Return the values of nodes, int64[rows]."""
        return self.labels.codes[rows].astype(np.int64)

    def value(self, row: int) -> int:
        """Return the value of one node."""
        return self.labels.codes.item(row)


class HasKey:
    """A count column without counts: 0, or `MISSING` on nodes without the key."""

    is_fixed = True

    def __init__(self, labels: LabelColumn) -> None:
        self._labels = labels
        self.key = ("has", labels.key)

    def values(self, rows: Rows) -> Ints:
        """Return the values of nodes, int64[rows]."""
        return np.where(self._labels.codes[rows] >= 0, 0, MISSING)

    def value(self, row: int) -> int:
        """Return the value of one node."""
        return 0 if self._labels.codes.item(row) >= 0 else MISSING


class PodsOnNode:
    """A count column: number of the selection's pods on the node."""

    is_fixed = False
    whole_domains = False

    def __init__(self, labels: LabelColumn, pods: Selection) -> None:
        self.labels = labels
        self.key = ("pods", labels.key, pods)
        self._pods = pods

    def values(self, rows: Rows) -> Ints:
        """Return the values of nodes, int64[rows]."""
        return np.where(self.labels.codes[rows] >= 0, pods_on(self._pods, rows), MISSING)

    def value(self, row: int) -> int:
        """Return the value of one node."""
        return self._pods.on_node.get(row, 0) if self.labels.codes.item(row) >= 0 else MISSING

    def counted(self) -> Mapping[int, int]:
        """Return row → value for nodes with a count."""
        if not self.labels.missing:
            return self._pods.on_node
        code = self.labels.codes.item
        return {row: pods for row, pods in self._pods.on_node.items() if code(row) >= 0}


class PodsInDomain:
    """A count column: number of counted pods in the node's domain."""

    is_fixed = False
    whole_domains = True

    def __init__(self, labels: LabelColumn, counts: DomainCounts) -> None:
        self.labels = labels
        self.key = ("counts", counts)
        self._counts = counts

    def values(self, rows: Rows) -> Ints:
        """Return the values of nodes, int64[rows]."""
        codes = self.labels.codes[rows]
        return np.where(codes >= 0, self._counts.at(codes), MISSING)

    def value(self, row: int) -> int:
        """Return the value of one node."""
        code = self.labels.codes.item(row)
        return self._counts.at_each((code,))[0] if code >= 0 else MISSING

    def counted(self) -> Mapping[int, int]:
        """Return row → value for nodes with a count."""
        codes = np.flatnonzero(self._counts.counts).tolist()
        return in_domains(self.labels, codes, self._counts.at_each(codes))


def in_domains(labels: LabelColumn, codes: Sequence[int], values: Sequence[int]) -> dict[int, int]:
    """Return row → value for the nodes of some domains."""
    return {row: value for code, value in zip(codes, values, strict=True) for row in labels.rows(code)}
