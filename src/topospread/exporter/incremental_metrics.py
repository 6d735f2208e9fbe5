"""Update workloads' metrics after node changes without counting their pods again.

Most workloads have no pods on a changed node. Only empty domains of their constraints then appear or disappear. If
the global minimum may change, the workload is evaluated again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.api.node_selection import NodeSelector
from topospread.api.pod import PodSpec
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools
from topospread.plugins.node_inclusion import Inclusion
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.status.result import MOST_NAMED, ConstraintStatus, WorkloadStatus

from .node_changes import NodeChanges


@dataclass(frozen=True, slots=True)
class NodesOfDomains:
    """The rule that selects a constraint's nodes and domains. Equal rules select the same nodes for all pods."""

    topology_key: str
    keys: tuple[str, ...]
    asked: bytes
    pod_class: PodClass = field(compare=False, repr=False)
    honors_affinity: bool = field(compare=False, repr=False)
    honors_taints: bool = field(compare=False, repr=False)
    comparison_operators: bool = field(compare=False, repr=False)

    def takes_part(self, nodes: NodeTable) -> Bools:
        """Return the nodes that count, bool[rows], like `CountedConstraint.takes_part`."""
        rows = slice(0, nodes.size)
        inclusion = Inclusion(self.pod_class, nodes, self.comparison_operators)
        found = inclusion(rows, honors_affinity=self.honors_affinity, honors_taints=self.honors_taints)
        for key in (*self.keys, self.topology_key):
            found &= nodes.labels(key).codes[rows] >= 0
        return found


def rules_of(spreads: Iterable[Spread]) -> tuple[NodesOfDomains, ...] | None:
    """Return the rules of a workload's constraints, hard ones first; None if its revisions have different rules."""
    every = tuple(spreads)
    if len(every) > 1:
        return None
    return tuple(_rule(each, spread) for spread in every for each in (*spread.hard, *spread.soft))


def _rule(counted: CountedConstraint, spread: Spread) -> NodesOfDomains:
    constraint, pod_class = counted.constraint, spread.pod_class
    spec: PodSpec = pod_class.pod.spec
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    required: NodeSelector | None = None
    if affinity is not None:
        required = affinity.required_during_scheduling_ignored_during_execution
    asked = (
        (spec.node_selector, required) if constraint.honors_affinity else None,
        spec.tolerations or () if constraint.honors_taints else None,
    )
    return NodesOfDomains(
        constraint.topology_key,
        tuple(counted.keys),
        msgspec.json.encode(asked),
        pod_class,
        constraint.honors_affinity,
        constraint.honors_taints,
        spread.rules.comparison_operators,
    )


class Moved(NamedTuple):
    """The changed domains of a rule.

    Attributes:
        went: domains that disappeared, by name.
        names: all current domains in order; empty if nothing changed.
    """

    changed: bool
    went: frozenset[str]
    names: Sequence[str]


class IncrementalMetrics:
    """Updates the metrics of workloads that have neither pods nor counted pods on the changed nodes."""

    def __init__(self, cluster: Cluster, changes: NodeChanges) -> None:
        self._nodes = cluster.nodes
        self._rows = changes.are(cluster)
        nodes = changes.were()
        made = Cluster()
        for each in nodes:
            made.add_node(each)
        self._were = made.nodes
        self._moved: dict[NodesOfDomains, Moved] = {}

    def of(self, figures: WorkloadStatus, rules: Sequence[NodesOfDomains]) -> WorkloadStatus | None:
        """Return the updated metrics, the same object if unchanged; None if the workload must be evaluated again."""
        moved = [self._of_rule(each) for each in rules]
        if not any(each.changed for each in moved):
            return figures
        if len(figures.constraints) != len(rules):
            return None
        found = [_carried(each, by) for each, by in zip(figures.constraints, moved, strict=True)]
        known = tuple(each for each in found if each is not None)
        return replace(figures, constraints=known) if len(known) == len(found) else None

    def _of_rule(self, rule: NodesOfDomains) -> Moved:
        known = self._moved.get(rule)
        if known is None:
            known = self._moved[rule] = self._found(rule)
        return known

    def _found(self, rule: NodesOfDomains) -> Moved:
        column, part = self._nodes.labels(rule.topology_key), rule.takes_part(self._nodes)
        now = Counter(column.values[column.codes.item(row)] for row in self._rows if part[row])
        old = self._were.labels(rule.topology_key)
        were = np.flatnonzero(rule.takes_part(self._were)).tolist()
        before = Counter(old.values[old.codes.item(row)] for row in were)
        values = now.keys() | before.keys()
        codes = column.codes[: self._nodes.size]
        there = {value: int(np.count_nonzero(part & (codes == column.code(value)))) for value in values}
        was = {value: there[value] - now[value] + before[value] for value in values}
        went = frozenset(each for each in values if was[each] and not there[each])
        if not went and all(was[each] for each in values if there[each]):
            return Moved(False, went, ())
        eligible = np.zeros(len(column.values), dtype=np.bool_)
        eligible[codes[part]] = True
        return Moved(True, went, [column.values[code] for code in column.by_name.tolist() if eligible[code]])


def _carried(known: ConstraintStatus, moved: Moved) -> ConstraintStatus | None:
    """Return a constraint's status after empty domains appeared or disappeared; None if its minimum may change."""
    if not moved.changed:
        return known
    holding = {each.name for each in known.domains}
    empty = len(moved.names) - len(holding)
    if not known.empty or empty <= 0 or not holding.isdisjoint(moved.went):
        return None
    names = islice((each for each in moved.names if each not in holding), MOST_NAMED)
    return replace(known, empty=empty, empty_names=tuple(names))
