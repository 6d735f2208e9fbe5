"""Verdicts: kube-scheduler's answer for a pod, node by node, as data. `evaluate` computes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np

from topospread.cluster.arrays import Ints
from topospread.plugins.interface import NotJudgedError, Status
from topospread.plugins.spread_arithmetic import ConstraintArithmetic

GANG = "GangScheduling"
"""The plugin that keeps a pod pending because of its group."""
EXTENDER = "Extender"
"""Plugin name of rejections by an extender (``framework.ExtenderName``)."""
LEFT_OUT_BY_PRE_FILTER = "PreFilterResult"
"""Plugin name of rejections of nodes that PreFilter left out."""


class Rejection(msgspec.Struct, frozen=True):
    """The first filter that rejects a node, with kube-scheduler's code and reasons.

    ``reasons`` is empty if kube-scheduler's message does not count the node (until 1.31: nodes that PreFilter
    excluded).
    """

    code: str
    plugin: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """The answer for one pod on all nodes: the rejection of each infeasible node, the scores of each feasible node.

    Attributes:
        pod: ``namespace/name``.
        nodes: names of all nodes, in the order of the arrays.
        blame: index into ``rejections`` for each node, −1 for a feasible node, int64[nodes].
        points: plugin → weighted points of the feasible nodes, int64[feasible].
        pre_filter: PreFilter's message for the whole pod; "" if it passes.
        because: an explanation that kube-scheduler's message lacks; "" without one.
        arithmetic: counts and skew of every spread constraint in force.
        error: kube-scheduler's error if the pod could not be judged.
        narrowing: plugins that excluded nodes at PreFilter.
        unjudged: parts of the pod that topospread does not model. ``error`` is also set if the modelled filters leave
            feasible nodes, because then these parts decide.
    """

    pod: str
    nodes: tuple[str, ...]
    blame: Ints
    rejections: tuple[Rejection, ...]
    points: dict[str, Ints] = field(default_factory=dict)
    pre_filter: str = ""
    because: str = ""
    arithmetic: tuple[ConstraintArithmetic, ...] = ()
    error: str = ""
    narrowing: tuple[str, ...] = ()
    unjudged: tuple[NotJudgedError, ...] = ()

    @cached_property
    def rejectors(self) -> frozenset[str]:
        """Plugins whose events may make the pending pod schedulable (``Diagnosis.UnschedulablePlugins``)."""
        named = {each.plugin for each in self.rejections if each.plugin and each.plugin != LEFT_OUT_BY_PRE_FILTER}
        return frozenset(named.union(self.narrowing))

    @cached_property
    def feasible(self) -> tuple[str, ...]:
        """Names of the feasible nodes, sorted."""
        return tuple(sorted(self.nodes[i] for i in np.flatnonzero(self.blame < 0)))

    @cached_property
    def rejected(self) -> dict[str, Rejection]:
        """Rejected node → rejection, for nodes that kube-scheduler's message counts; empty if ``error`` is set."""
        if self.error:
            return {}
        why = ((self.nodes[i], self.rejections[self.blame[i]]) for i in np.flatnonzero(self.blame >= 0).tolist())
        return {node: rejection for node, rejection in why if rejection.reasons}

    @property
    def counts(self) -> Counter[Rejection]:
        """Return the number of nodes for each reason in kube-scheduler's message, in order of the first such node."""
        found: Counter[Rejection] = Counter()
        if not self.error:
            blame = self.blame[self.blame >= 0]
            numbers, first, counts = np.unique(blame, return_index=True, return_counts=True)
            for i in np.argsort(first).tolist():
                rejection = self.rejections[numbers[i]]
                if rejection.reasons:
                    found[rejection] += int(counts[i])
        return found

    @cached_property
    def scores(self) -> dict[str, dict[str, int]]:
        """Feasible node → plugin → weighted points."""
        names = [self.nodes[i] for i in np.flatnonzero(self.blame < 0)]
        lists = {plugin: points.tolist() for plugin, points in self.points.items()}
        return {name: {plugin: each[i] for plugin, each in lists.items()} for i, name in enumerate(names)}

    @cached_property
    def total(self) -> dict[str, int]:
        """Feasible node → sum of its weighted points."""
        names = [self.nodes[i] for i in np.flatnonzero(self.blame < 0).tolist()]
        sums = np.sum([*self.points.values()], axis=0).tolist() if self.points else [0] * len(names)
        return dict(zip(names, sums, strict=True))

    @cached_property
    def best(self) -> tuple[str, ...]:
        """The feasible nodes with the highest total, sorted; kube-scheduler takes one of them."""
        highest = max(self.total.values(), default=0)
        return tuple(sorted(node for node, total in self.total.items() if total == highest))

    @cached_property
    def message(self) -> str:
        """kube-scheduler's message if no node is feasible, without the part on preemption; else "".

        Source: pkg/scheduler/framework/types.go, ``FitError``.
        """
        if not self.nodes:
            return "no nodes available to schedule pods"
        if self.error or np.any(self.blame < 0):
            return ""
        if self.pre_filter:
            return f"0/{len(self.nodes)} nodes are available: {self.pre_filter}."
        counts = np.bincount(self.blame, minlength=len(self.rejections)).tolist()
        return fit_message(len(self.nodes), self.rejections, counts)


def fit_message(nodes: int, rejections: Sequence[Rejection], counts: Sequence[int] | None = None) -> str:
    """Return ``0/5 nodes are available: …``, with the number of nodes for each reason, sorted as strings.

    ``counts``: number of nodes for each rejection, 1 by default.
    """
    reasons: Counter[str] = Counter()
    for rejection, count in zip(rejections, counts or [1] * len(rejections), strict=True):
        for reason in rejection.reasons:
            reasons[reason] += count
    parts = sorted(f"{count} {reason}" for reason, count in reasons.items() if count)
    head = f"0/{nodes} nodes are available:"
    return f"{head} {', '.join(parts)}." if parts else head


class RejectionList:
    """Collects the distinct rejections of a pod ``namespace/name`` and gives each an index."""

    def __init__(self, pod: str) -> None:
        self._pod = pod
        self.rejections: list[Rejection] = []
        self._index: dict[tuple[str, Status], int] = {}

    def number(self, plugin: str, status: Status) -> int:
        """Return the index of a rejection by a plugin; add it if it is new."""
        index = self._index.get((plugin, status))
        if index is None:
            index = self._index[plugin, status] = len(self.rejections)
            self.rejections.append(Rejection(status.code, plugin, status.of(self._pod)))
        return index
