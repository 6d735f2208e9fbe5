"""PodTopologySpread: pods of a group spread over the domains of node labels (plugins/podtopologyspread, KEP-895).

Filter (whenUnsatisfiable: DoNotSchedule): a node is rejected where

    matching pods in its domain + (1 if the pod matches its own selector) − global minimum > maxSkew

Score (ScheduleAnyway): Σ over constraints of (count · ln(domains + 2) + maxSkew − 1), rounded, fewer is better.
Which constraints are in force is in `spread_constraints`, how pods are counted in `domain_counts`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Codes, Ints, Rows
from topospread.config.args import PodTopologySpreadArgs

from .domain_counts import DomainCounts, MatchingPods
from .inclusion import Inclusion
from .interface import (
    MAX_NODE_SCORE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    Prepared,
    SameEverywhere,
    Scope,
    Score,
    Status,
    length,
)
from .pod_topology_spread_rules import PodTopologySpreadRules
from .resource_scoring import rounded
from .spread_constraints import Constraint, ConstraintsInForce
from .spread_until_1_23 import PlainSum, WholeDomainCounts

HOSTNAME = "kubernetes.io/hostname"
REASON = "node(s) didn't match pod topology spread constraints"
REASON_MISSING_LABEL = f"{REASON} (missing required label)"
_SKEW, _MISSING_LABEL = 1, 2
IGNORED = -(1 << 32)
"""Raw score of a node that is not scored."""
_FEW = 64
_GROUPED_BY_DOMAIN = 32
"""Up to so many domains, nodes are grouped by domain; above, by their domain's count."""


def skew_of(matching: Ints, counts_itself: int, minimum: int) -> Ints:
    """Skew of domains with so many matching pods, once the pod is there."""
    return matching + (counts_itself - minimum)


def minimum_in_force(counts: DomainCounts, min_domains: int) -> int:
    """The global minimum; 0 while there are fewer domains than minDomains."""
    return 0 if counts.domains < min_domains else counts.minimum


def normalizing_weight(domains: int) -> float:
    """The weight of a constraint in the score, by how many domains its key has among the scored nodes."""
    return math.log(domains + 2)


class PodTopologySpread:
    """Spreads pods of a group over the domains of topology keys.

    Args:
        args: default constraints for pods that bring none.
        rules: what is not the same in every Kubernetes version.
    """

    name = "PodTopologySpread"

    def __init__(self, args: PodTopologySpreadArgs | None = None, rules: PodTopologySpreadRules | None = None) -> None:
        self._args = args or PodTopologySpreadArgs()
        self._rules = rules or PodTopologySpreadRules()
        self._constraints = ConstraintsInForce(self._args, self._rules)

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Counts for the constraints in force; nothing to say where there are none."""
        hard = self._constraints(pod_class, cluster, "DoNotSchedule")
        soft = self._constraints(pod_class, cluster, "ScheduleAnyway")
        everywhere = SameEverywhere(MAX_NODE_SCORE) if self._rules.scores_without_constraints else None
        if not hard and not soft:
            return Prepared(score=everywhere)
        requires_all_keys = bool(pod_class.pod.spec.topology_spread_constraints) or self._args.defaulting_type == "List"
        inclusion = Inclusion(pod_class, cluster.nodes, self._rules.comparison_operators)
        spread = Spread(inclusion, cluster, hard, soft, SpreadSettings(requires_all_keys, self._rules))
        return Prepared(
            filter=HardConstraints(spread) if hard else None,
            score=self._score(spread) if soft else everywhere,
            watcher=spread,
        )

    def _score(self, spread: Spread) -> Score:
        return SoftConstraints(spread) if self._rules.weighs_domains else PlainSum(spread)


@dataclass(frozen=True, slots=True)
class SpreadSettings:
    """What the constraints of a pod have in common.

    Attributes:
        requires_all_keys: nodes that lack the key of a soft constraint are not scored.
    """

    requires_all_keys: bool
    rules: PodTopologySpreadRules


class Spread:
    """The counts behind one pod class's constraints, hard and soft; the plugin's `Watcher`.

    Attributes:
        hard, soft: constraints in force, each with its counts; a soft hostname constraint has none of its own:
            it is scored by the pods on the node itself.
    """

    layout = 0

    def __init__(
        self,
        inclusion: Inclusion,
        cluster: Cluster,
        hard: Sequence[Constraint],
        soft: Sequence[Constraint],
        settings: SpreadSettings,
    ) -> None:
        self.inclusion = inclusion
        self.rules = rules = settings.rules
        self.pod_class = pod_class = inclusion.pod_class
        self.nodes: NodeTable = cluster.nodes
        self.requires_all_keys = settings.requires_all_keys
        self._pods: dict[Selector, MatchingPods] = {}
        for each in (*hard, *soft):
            if each.selector not in self._pods:
                self._pods[each.selector] = MatchingPods(
                    cluster, (pod_class.namespace,), each.selector, empty_counts=rules.empty_selector_counts
                )
        self.hard = [CountedConstraint(each, self, [c.topology_key for c in hard]) for each in hard]
        soft_keys = [c.topology_key for c in soft] if self.requires_all_keys else []
        self.soft = [CountedConstraint(each, self, soft_keys) for each in soft]
        self._by_count = [each for each in self.hard if not each.grouped_by_domain]
        self._by_node = any(each.counts is None for each in self.soft)

    def pods(self, constraint: Constraint) -> MatchingPods:
        """The pods that match a constraint's selector."""
        return self._pods[constraint.selector]

    def codes(self, key: str, rows: Rows) -> Codes:
        """Domains of nodes, −1 where the key is missing."""
        codes: Codes = self.nodes.labels(key).codes[rows]
        return codes

    def has_keys(self, keys: Iterable[str], rows: Rows) -> Bools:
        """Whether nodes have all of these keys."""
        result = np.ones(length(rows), dtype=np.bool_)
        for key in keys:
            result &= self.codes(key, rows) >= 0
        return result

    def on_pod(self, row: int, pod_class: PodClass, delta: int) -> Iterable[int]:
        """Count the pod; the rows of its domain, where the count groups them."""
        touched: set[int] = set()
        for pods in self._pods.values():
            if not pods.on_pod(row, pod_class, delta):
                continue
            if self._by_node:
                touched.add(row)
            for each in (*self.hard, *self.soft):
                if each.pods is pods and each.counts is not None:
                    code = each.counts.add(row, delta)
                    if code >= 0 and each in self._by_count:
                        touched |= self.nodes.labels(each.constraint.topology_key).rows(code)
        return touched

    def on_node(self, row: int) -> Iterable[int]:
        """Count the node's pods where it now belongs; it, and rows of domains whose count groups them."""
        touched = {row}
        only = np.array([row], dtype=np.int64)
        for pods in self._pods.values():
            pods.on_node(row)
        for each in (*self.hard, *self.soft):
            if each.counts is not None:
                codes = each.counts.set_member(row, bool(each.takes_part(only)[0]))
                if each in self._by_count and codes[0] != codes[1]:
                    column = self.nodes.labels(each.constraint.topology_key)
                    touched = touched.union(*(column.rows(code) for code in codes if code >= 0))
        return touched

    def assume(self, row: int, pod_class: PodClass, delta: int) -> None:
        """PreFilter's AddPod and RemovePod where they count otherwise than PreFilter itself does.

        They look neither at deletionTimestamp nor at whether the selector is empty (``updateWithPod``).
        """
        for each in self.hard:
            if each.counts is not None and each.pods.matches_labels(pod_class) and not each.pods.matches(pod_class):
                each.counts.add(row, delta)

    def groups(self, rows: Rows) -> list[Ints] | None:
        """By domain where there are few, by the domain's count where there are many."""
        if self.soft and not self.rules.weighs_domains:
            return None  # the sum over all nodes counts
        columns: list[Ints] = []
        for each in self.hard:
            codes = self.codes(each.constraint.topology_key, rows)
            if each.grouped_by_domain or each.counts is None:
                columns.append(codes.astype(np.int64))
            else:
                columns.append(np.where(codes >= 0, each.counts.at(codes), -1))
        for each in self.soft:
            codes = self.codes(each.constraint.topology_key, rows)
            if each.counts is None:
                columns.append(np.where(codes >= 0, each.pods.per_node[rows], -1))
            elif each.grouped_by_domain:
                columns.append(codes.astype(np.int64))
            else:
                return None  # the score needs to know how many domains have feasible nodes
        return columns


def _distinct(codes: Codes) -> int:
    """How many different codes there are; few are counted without an array."""
    if len(codes) <= _FEW:
        return len(set(codes.tolist()))
    return int(np.count_nonzero(np.bincount(codes + 1)))


class CountedConstraint:
    """A constraint with its counts by domain.

    Attributes:
        column: the label column of its key.
        counts: matching pods by domain; ``None`` for a soft hostname constraint.
        keys: keys a node must have to take part: those of all constraints of the same kind.
        counts_itself: 1 when the pod adds to its own domain.
    """

    def __init__(self, constraint: Constraint, spread: Spread, keys: Sequence[str]) -> None:
        self.constraint = constraint
        self.keys = keys
        self.pods = spread.pods(constraint)
        self.counts_itself = constraint.counts_itself(spread.pod_class)
        self._spread = spread
        self.column = column = spread.nodes.labels(constraint.topology_key)
        self.grouped_by_domain = len(column.values) <= _GROUPED_BY_DOMAIN
        self.counts: DomainCounts | None = None
        hard = constraint.when_unsatisfiable == "DoNotSchedule"
        if hard or constraint.topology_key != HOSTNAME or not spread.rules.weighs_domains:
            everything = slice(0, spread.nodes.size)
            counted = WholeDomainCounts if hard and spread.rules.counts_whole_domain else DomainCounts
            self.counts = counted(column, self.pods, self.takes_part(everything))

    def takes_part(self, rows: Rows) -> Bools:
        """Nodes whose pods count: all keys are there and the policies include them."""
        constraint = self.constraint
        included = self._spread.inclusion(
            rows, honors_affinity=constraint.honors_affinity, honors_taints=constraint.honors_taints
        )
        return self._spread.has_keys(self.keys, rows) & included


class HardConstraints:
    """The Filter extension point: codes say whether the skew or a missing label rejects first."""

    scope = Scope.CLUSTER

    def __init__(self, spread: Spread) -> None:
        self.spread = spread
        self._missing_label = _MISSING_LABEL if spread.rules.tells_missing_label else _SKEW

    def filter(self, rows: Rows) -> Ints:
        """Whether the skew or a missing label rejects, int64[rows]; the first constraint that rejects counts."""
        result = np.zeros(length(rows), dtype=np.int64)
        for each in reversed(self.spread.hard):
            codes = each.column.codes[rows]
            assert each.counts is not None
            minimum = minimum_in_force(each.counts, each.constraint.min_domains)
            skew = skew_of(each.counts.at(codes), each.counts_itself, minimum)
            result[skew > each.constraint.max_skew] = _SKEW
            if each.column.missing:
                result[codes < 0] = self._missing_label
        return result

    def status(self, code: int) -> Status:
        """Skew can be mended by evictions, a missing label cannot."""
        if code == _MISSING_LABEL:
            return Status(UNRESOLVABLE, (REASON_MISSING_LABEL,))
        return Status(UNSCHEDULABLE, (REASON,))


class SoftConstraints:
    """The Score extension point."""

    scope = Scope.CLUSTER

    def __init__(self, spread: Spread) -> None:
        self.spread = spread
        self._keys = [each.constraint.topology_key for each in spread.soft] if spread.requires_all_keys else []

    def scored(self, rows: Rows) -> Bools | None:
        """Nodes that are not ignored: a node without some key gets 0 (not under the system defaults).

        ``None`` stands for all, where every node has every key.
        """
        if not self._keys or not any(each.column.missing for each in self.spread.soft):
            return None
        return self.spread.has_keys(self._keys, rows)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """``Σ (count · weight + maxSkew − 1)`` rounded, `IGNORED` for ignored nodes, int64[rows]."""
        scored = self.scored(rows)
        total = np.zeros(length(rows), dtype=np.float64)
        for each, size in zip(self.spread.soft, self.sizes(rows, scored, nodes), strict=True):
            codes = each.column.codes[rows]
            matching = each.pods.per_node[rows] if each.counts is None else each.counts.at(codes)
            points = matching * normalizing_weight(size) + (each.constraint.max_skew - 1)
            total += np.where(codes >= 0, points, 0.0) if each.column.missing else points
        raw = rounded(total) if self.spread.rules.rounds_score else total.astype(np.int64)
        if scored is not None:
            raw[~scored] = IGNORED
        return raw

    def sizes(self, rows: Rows, scored: Bools | None, nodes: Ints | None = None) -> list[int]:
        """How many domains each constraint has among the scored nodes; for the hostname, how many nodes are scored."""
        sizes = []
        for each in self.spread.soft:
            if each.constraint.topology_key == HOSTNAME:
                counted = np.ones(length(rows), dtype=np.int64) if nodes is None else nodes
                sizes.append(int(np.add.reduce(counted if scored is None else counted[scored])))
            else:
                codes = each.column.codes[rows]
                sizes.append(_distinct(codes if scored is None else codes[scored]))
        return sizes

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """``100 · (highest + lowest − raw) // highest``; 100 when all are 0, 0 for ignored nodes."""
        lowest = int(np.minimum.reduce(raw))
        if lowest == IGNORED:
            scored = raw != IGNORED
            result = np.zeros(len(raw), dtype=np.int64)
            if scored.any():
                result[scored] = self.normalize(raw[scored], rows)
            return result
        highest = int(np.maximum.reduce(raw))
        if highest == 0:
            return np.full(len(raw), MAX_NODE_SCORE, dtype=np.int64)
        return MAX_NODE_SCORE * (highest + lowest - raw) // highest
