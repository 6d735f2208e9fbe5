"""PodTopologySpread: pods of a group spread over the domains of node labels (plugins/podtopologyspread, KEP-895).

Filter (whenUnsatisfiable: DoNotSchedule): a node is rejected where

    matching pods in its domain + (1 if the pod matches its own selector) − global minimum > maxSkew

Score (ScheduleAnyway): Σ over constraints of (count · ln(domains + 2) + maxSkew − 1), rounded, fewer is better.
How pods are counted is in `domain_counts`; where default constraints get their selector in `default_selector`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from topospread.api.labels import InvalidSelectorError, LabelSelector, Selector
from topospread.api.spread import TopologySpreadConstraint
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Codes, Ints, Rows
from topospread.config.args import DefaultConstraint, PodTopologySpreadArgs

from .default_selector import default_selector
from .domain_counts import DomainCounts, MatchingPods
from .inclusion import Inclusion
from .interface import (
    MAX_NODE_SCORE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    PluginError,
    Prepared,
    Scope,
    Status,
    length,
)
from .resource_scoring import rounded

HOSTNAME = "kubernetes.io/hostname"
REASON = "node(s) didn't match pod topology spread constraints"
REASON_MISSING_LABEL = f"{REASON} (missing required label)"
_SKEW, _MISSING_LABEL = 1, 2
IGNORED = -(1 << 32)
"""Raw score of a node that is not scored."""
_FEW = 64
_GROUPED_BY_DOMAIN = 32
"""Up to so many domains, nodes are grouped by domain; above, by their domain's count."""

Origin = Literal["pod", "profile", "system"]
WhenUnsatisfiable = Literal["DoNotSchedule", "ScheduleAnyway"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint as it is in force for a pod: selector compiled, matchLabelKeys merged, defaults filled in.

    Attributes:
        position: place in the pod's (or the default) list, from 0.
        origin: whether the pod brings it, the profile's defaultConstraints, or the built-in ones.
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    selector: Selector
    min_domains: int
    honors_affinity: bool
    honors_taints: bool
    position: int
    origin: Origin

    def counts_itself(self, pod_class: PodClass) -> int:
        """1 when the pod matches the constraint's selector, so that it adds to its domain, else 0."""
        return int(self.selector.matches(pod_class.labels))


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
        inclusion_policies: nodeAffinityPolicy and nodeTaintsPolicy mean something (1.25, on since 1.26).
        match_label_keys: matchLabelKeys means something (1.25, on since 1.27).
        min_domains: minDomains means something (1.24, on since 1.27).
        comparison_operators: tolerations may compare with Lt and Gt (1.35, off).
    """

    name = "PodTopologySpread"

    def __init__(
        self,
        args: PodTopologySpreadArgs | None = None,
        *,
        inclusion_policies: bool = True,
        match_label_keys: bool = True,
        min_domains: bool = True,
        comparison_operators: bool = False,
    ) -> None:
        self._args = args or PodTopologySpreadArgs()
        self._inclusion_policies = inclusion_policies
        self._match_label_keys = match_label_keys
        self._min_domains = min_domains
        self._comparison_operators = comparison_operators

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Counts for the constraints in force; nothing to say where there are none."""
        hard = self.constraints(pod_class, cluster, "DoNotSchedule")
        soft = self.constraints(pod_class, cluster, "ScheduleAnyway")
        if not hard and not soft:
            return Prepared()
        requires_all_keys = bool(pod_class.pod.spec.topology_spread_constraints) or self._args.defaulting_type == "List"
        inclusion = Inclusion(pod_class, cluster.nodes, self._comparison_operators)
        spread = Spread(inclusion, cluster, hard, soft, requires_all_keys)
        return Prepared(
            filter=HardConstraints(spread) if hard else None,
            score=SoftConstraints(spread) if soft else None,
            watcher=spread,
        )

    def constraints(self, pod_class: PodClass, cluster: Cluster, when: WhenUnsatisfiable) -> list[Constraint]:
        """The constraints of one kind that are in force for a pod: its own, or else the default ones.

        Raises:
            PluginError: a selector does not compile.
        """
        if own := pod_class.pod.spec.topology_spread_constraints:
            try:
                return [
                    self._compiled(
                        each, i, "pod", self._selector(each.label_selector, each.match_label_keys, pod_class)
                    )
                    for i, each in enumerate(own)
                    if each.when_unsatisfiable == when
                ]
            except InvalidSelectorError as error:
                kind = "hard" if when == "DoNotSchedule" else "soft"
                raise PluginError(f"obtaining pod's {kind} topology spread constraints: {error}") from error
        defaults = [(i, c) for i, c in enumerate(self._args.constraints_in_force) if c.when_unsatisfiable == when]
        if not defaults:
            return []
        selector = default_selector(pod_class, cluster.objects)
        if selector.empty:
            return []
        origin: Origin = "system" if self._args.defaulting_type == "System" else "profile"
        return [self._compiled(each, i, origin, selector) for i, each in defaults]

    def _selector(self, given: LabelSelector | None, keys: Sequence[str] | None, pod_class: PodClass) -> Selector:
        selector = Selector.from_label_selector(given)
        return selector.with_match_label_keys(keys, pod_class.labels) if self._match_label_keys else selector

    def _compiled(
        self, given: TopologySpreadConstraint | DefaultConstraint, position: int, origin: Origin, selector: Selector
    ) -> Constraint:
        policies = self._inclusion_policies
        return Constraint(
            topology_key=given.topology_key or "",
            when_unsatisfiable=given.when_unsatisfiable or "",
            max_skew=given.max_skew or 0,
            selector=selector,
            min_domains=1 if given.min_domains is None or not self._min_domains else given.min_domains,
            honors_affinity=not policies or (given.node_affinity_policy or "Honor") == "Honor",
            honors_taints=policies and given.node_taints_policy == "Honor",
            position=position,
            origin=origin,
        )


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
        requires_all_keys: bool,
    ) -> None:
        self.inclusion = inclusion
        self.pod_class = pod_class = inclusion.pod_class
        self.nodes: NodeTable = cluster.nodes
        self.requires_all_keys = requires_all_keys
        self._pods: dict[Selector, MatchingPods] = {}
        for each in (*hard, *soft):
            if each.selector not in self._pods:
                self._pods[each.selector] = MatchingPods(cluster, (pod_class.namespace,), each.selector)
        self.hard = [CountedConstraint(each, self, [c.topology_key for c in hard]) for each in hard]
        soft_keys = [c.topology_key for c in soft] if requires_all_keys else []
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
        if constraint.when_unsatisfiable == "DoNotSchedule" or constraint.topology_key != HOSTNAME:
            everything = slice(0, spread.nodes.size)
            self.counts = DomainCounts(column, self.pods, self.takes_part(everything))

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
                result[codes < 0] = _MISSING_LABEL
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
        raw = rounded(total)
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
