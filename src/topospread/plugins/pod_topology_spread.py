"""PodTopologySpread spreads matching pods over the domains of node labels, such as zones (KEP-895).

Filter (whenUnsatisfiable: DoNotSchedule) rejects a node if

    matching pods in its domain + (1 if the pod matches its own selector) − global minimum > maxSkew

Score (ScheduleAnyway) is Σ over constraints of (count · ln(domains + 2) + maxSkew − 1), rounded; a lower sum is better.
`spread_constraints` finds the constraints of a pod, `spread_counts` counts the matching pods.
Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go and scoring.go.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from operator import add, attrgetter
from typing import TypeVar

import msgspec
import numpy as np

from topospread.api.well_known_labels import HOSTNAME
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools, Codes, Floats, Ints, Rows
from topospread.cluster.nodes import LabelColumn
from topospread.config.args import PodTopologySpreadArgs

from .cluster_event import Registration
from .default_selector import SelectorOf, default_selector, looked_up
from .domain_counts import DomainCounts, pods_on
from .interface import (
    MAX_NODE_SCORE,
    UNRESOLVABLE,
    UNSCHEDULABLE,
    ConstantScore,
    PluginError,
    Prepared,
    Scope,
    Score,
    Status,
    length,
)
from .node_inclusion import Inclusion
from .pod_topology_spread_rules import PodTopologySpreadRules
from .resource_scoring import rounded, rounded_each
from .spread_constraints import ConstraintsInForce
from .spread_counts import CountedConstraint, CountsOf, Spread, SpreadSettings, taking_part
from .spread_requeueing import spread_registrations
from .without_pre_filter import FailingScore

REASON = "node(s) didn't match pod topology spread constraints"
REASON_MISSING_LABEL = f"{REASON} (missing required label)"
_SKEW, _MISSING_LABEL = 1, 2
IGNORED = -(1 << 32)
"""Raw score of a node that Score ignores because it lacks a topology key."""
_FEW = 64
_MISSING: Callable[[LabelColumn], int] = attrgetter("missing")

Amount = TypeVar("Amount", int, Ints)
"""One number, or an array of numbers."""


def skew_of(matching: Amount, counts_itself: int, minimum: int) -> Amount:
    """Return the skew of domains if the pod is placed there: matching pods + counts_itself − global minimum."""
    return matching + (counts_itself - minimum)


def lacks_domains(domains: int, min_domains: int) -> bool:
    """Return whether fewer than ``minDomains`` domains are eligible. The global minimum is 0 then."""
    return 0 < domains < min_domains


def minimum_in_force(domains: int, fewest: int, min_domains: int) -> int:
    """Return the global minimum: ``fewest``, or 0 if fewer than ``min_domains`` domains are eligible.

    ``fewest``: lowest number of matching pods of an eligible domain.
    """
    return 0 if lacks_domains(domains, min_domains) else fewest


def minimum_of(counted: CountedConstraint) -> int:
    """Return the global minimum for the current counts of a constraint."""
    counts = counted.counts or counted.counts_by_domain()
    domains = counts.domains + counted.tainted_domains if counted.may_be_tainted else counts.domains
    return 0 if lacks_domains(domains, counted.constraint.min_domains) else counts.minimum


def weight_and_more(domains: int, max_skew: int) -> tuple[float, int]:
    """Return the weight of each matching pod in a soft constraint's score, and the constant that is added.

    Args:
        domains: number of domains among the scored nodes.
        max_skew: ``maxSkew`` of the constraint.

    Returns:
        ``ln(domains + 2), maxSkew − 1`` (scoring.go, ``topologyNormalizingWeight`` and ``scoreForCount``).
    """
    return math.log(domains + 2), max_skew - 1


def points_among(raw: Amount, lowest: int, highest: int) -> Amount:
    """Return scores from 0 to 100 for raw scores: the lowest raw score gets 100. ``highest`` must not be 0."""
    return MAX_NODE_SCORE * (highest + lowest - raw) // highest


class PodTopologySpread:
    """The plugin that spreads pods over the domains of topology keys.

    Args:
        args: default constraints for pods without constraints of their own.
        rules: differences between Kubernetes versions.
        methods: counting and scoring methods; old versions use others.
    """

    name = "PodTopologySpread"

    def __init__(
        self,
        args: PodTopologySpreadArgs | None = None,
        rules: PodTopologySpreadRules | None = None,
        methods: SpreadMethods | None = None,
    ) -> None:
        self._args = args or PodTopologySpreadArgs()
        self._rules = rules or PodTopologySpreadRules()
        self._methods = methods or SpreadMethods()
        self._constraints = ConstraintsInForce(self._args, self._rules, self._methods.selector_of)

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Count matching pods for the constraints of the class; skip the plugin without constraints."""
        hard = self._constraints(pod_class, cluster, "DoNotSchedule")
        everywhere: Score | None = ConstantScore(MAX_NODE_SCORE) if self._rules.scores_without_constraints else None
        try:
            soft = self._constraints(pod_class, cluster, "ScheduleAnyway")
        except PluginError as error:  # PreScore fails only if a node is feasible
            soft, everywhere = [], FailingScore(str(error))
        reads = () if pod_class.pod.spec.topology_spread_constraints else looked_up(pod_class)
        if not hard and not soft:
            return Prepared(score=everywhere, reads=reads)
        requires_all_keys = bool(pod_class.pod.spec.topology_spread_constraints) or self._args.defaulting_type == "List"
        inclusion = Inclusion(pod_class, cluster.nodes, self._rules.comparison_operators)
        settings = SpreadSettings(requires_all_keys, self._rules, self._methods.hard_counts)
        spread = Spread(inclusion, cluster, hard, soft, settings)
        return Prepared(
            filter=HardConstraints(spread) if hard else None,
            score=self._methods.soft_score(spread) if soft else everywhere,
            watcher=spread,
            counts_own_nodes=any(each.honors_affinity for each in hard),
            reads=reads,
        )

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for events of counted pods, of nodes, and of the pod's own labels and tolerations."""
        return spread_registrations(cluster, self._constraints, counts_nominated=self._rules.counts_nominated)


def _distinct(codes: Codes) -> int:
    if len(codes) <= _FEW:  # a set is faster than an array for a few codes
        return len(set(codes.tolist()))
    return int(np.count_nonzero(np.bincount(codes + 1)))


class HardConstraints:
    """The Filter extension point. The first constraint that rejects decides the code: `_SKEW` or `_MISSING_LABEL`."""

    scope = Scope.CLUSTER

    def __init__(self, spread: Spread) -> None:
        self.spread = spread
        self._missing_label = _MISSING_LABEL if spread.rules.reports_missing_label else _SKEW

    def filter(self, rows: Rows) -> Ints:
        """Return the code of the first constraint that rejects each node, int64[rows]."""
        result = np.zeros(length(rows), dtype=np.int64)
        for each in reversed(self.spread.hard):  # the first constraint is last, so it overwrites the others' codes
            codes = each.column.codes[rows]
            assert each.counts is not None
            skew = skew_of(each.counts.at(codes), each.counts_itself, minimum_of(each))
            result[skew > each.constraint.max_skew] = _SKEW
            if each.column.missing:
                result[codes < 0] = self._missing_label
        return result

    def takes_again(self, rows: Rows) -> Bools:
        """Return which nodes accept a pod of this class again after one such pod is removed from them, bool[rows].

        If a constraint counts the pod, the removal takes one pod from the domain. That lowers the global minimum only
        if the domain then has the fewest pods; its skew with the new pod is then 1.
        """
        result = np.ones(length(rows), dtype=np.bool_)
        for each in self.spread.hard:
            codes, counts = each.column.codes[rows], each.counts
            assert counts is not None
            skew = skew_of(counts.at(codes), each.counts_itself, minimum_of(each))
            if type(counts) is DomainCounts and each.counts_pods_of(self.spread.pod_class):
                skew -= counts.member[rows] >= 0
            result &= (skew <= each.constraint.max_skew) & (codes >= 0)
        return result

    def rejected_domains(self) -> tuple[bytes, ...]:
        """Return for each constraint whether its skew rejects each domain, as the bytes of bool[domain codes]."""
        found = []
        for each in self.spread.hard:
            assert each.counts is not None
            each.counts.make_room()
            skew = skew_of(each.counts.counts, each.counts_itself, minimum_of(each))
            found.append((skew > each.constraint.max_skew).tobytes())
        return tuple(found)

    def first_to_reject(self, rows: Rows) -> list[CountedConstraint]:
        """Return the constraints that are the first to reject at least one of the nodes, in their order."""
        found: list[CountedConstraint] = []
        left = np.ones(length(rows), dtype=np.bool_)
        for each in self.spread.hard:
            codes = each.column.codes[rows]
            assert each.counts is not None
            skew = skew_of(each.counts.at(codes), each.counts_itself, minimum_of(each))
            rejects = left & ((skew > each.constraint.max_skew) | (codes < 0))
            if rejects.any():
                found.append(each)
            left &= ~rejects
        return found

    def filter_each(self, rows: Sequence[int]) -> list[int]:
        """Return the codes of `filter`, computed node by node."""
        result = [0] * len(rows)
        for each in reversed(self.spread.hard):
            assert each.counts is not None
            codes = list(map(each.column.codes.item, rows))
            room = each.constraint.max_skew - skew_of(0, each.counts_itself, minimum_of(each))
            for i, matching in enumerate(each.counts.at_each(codes)):
                if codes[i] < 0:
                    result[i] = self._missing_label
                elif matching > room:
                    result[i] = _SKEW
        return result

    def status(self, code: int) -> Status:
        """Return the status of a code. Preemption can reduce a skew but cannot add a missing label."""
        if code == _MISSING_LABEL:
            return Status(UNRESOLVABLE, (REASON_MISSING_LABEL,))
        return Status(UNSCHEDULABLE, (REASON,))


class SoftPart(msgspec.Struct, frozen=True):
    """The part of the nodes' raw scores that one soft constraint adds.

    Attributes:
        domains: number of domains among the scored nodes.
        weight: raw score of one matching pod.
        codes: domain of each node, int32[rows].
        matching: matching pods in each node's domain, int64[rows]; arbitrary for a node without the key.
        points: raw score that the constraint adds, float64[rows].
    """

    counted: CountedConstraint
    domains: int
    weight: float
    codes: Codes
    matching: Ints
    points: Floats


class SoftConstraints:
    """The Score extension point: fewer matching pods in a node's domains score higher."""

    scope = Scope.CLUSTER
    on_bare_nodes = False
    """True if hostname constraints count no pods, because an extender returned node objects, which have no pods."""

    def __init__(self, spread: Spread) -> None:
        self.spread = spread
        self._keys = [each.constraint.topology_key for each in spread.soft] if spread.requires_all_keys else []
        self._required = [each.column for each in spread.soft] if spread.requires_all_keys else []

    def scored(self, rows: Rows) -> Bools | None:
        """Return which nodes Score does not ignore, bool[rows], or ``None`` if it ignores none.

        A node is ignored if it lacks the key of any constraint. The built-in default constraints ignore no node.
        """
        if not self._some_lack_keys():
            return None
        return self.spread.has_keys(self._keys, rows)

    def _some_lack_keys(self) -> bool:
        """Return whether Score ignores any node."""
        return any(map(_MISSING, self._required))

    def parts(self, rows: Rows, scored: Bools | None, nodes: Ints | None = None) -> Iterator[SoftPart]:
        """Yield each constraint's raw score: ``count · weight + maxSkew − 1``, or 0 on a node without its key."""
        for each, size in zip(self.spread.soft, self.sizes(rows, scored, nodes), strict=True):
            codes = each.column.codes[rows]
            if each.counts is not None:
                matching = each.counts.at(codes)
            else:
                matching = np.zeros(len(codes), dtype=np.int64) if self.on_bare_nodes else pods_on(each.pods, rows)
            weight, more = weight_and_more(size, each.constraint.max_skew)
            points = matching * weight + more
            if each.column.missing:
                points = np.where(codes >= 0, points, 0.0)
            yield SoftPart(each, size, weight, codes, matching, points)

    def score(self, rows: Rows, nodes: Ints | None = None) -> Ints:
        """Return the rounded sum over the constraints, `IGNORED` for ignored nodes, int64[rows]."""
        scored = self.scored(rows)
        total = np.zeros(length(rows), dtype=np.float64)
        for part in self.parts(rows, scored, nodes):
            total += part.points
        raw = rounded(total) if self.spread.rules.rounds_score else total.astype(np.int64)
        if scored is not None:
            raw[~scored] = IGNORED
        return raw

    def score_each(self, rows: Sequence[int], nodes: Sequence[int] | None = None) -> list[int]:
        """Return the scores of `score`, computed node by node."""
        if not self._some_lack_keys():
            return self._score_all(rows, nodes)
        scored = [
            min(codes) >= 0 for codes in zip(*(map(each.codes.item, rows) for each in self._required), strict=True)
        ]
        counted = None if nodes is None else list(compress(nodes, scored))
        raw = iter(self._score_all(list(compress(rows, scored)), counted))
        return [next(raw) if each else IGNORED for each in scored]

    def _score_all(self, rows: Sequence[int], nodes: Sequence[int] | None) -> list[int]:
        """Return the scores of nodes that Score does not ignore."""
        total = [0.0] * len(rows)
        for each in self.spread.soft:
            codes = list(map(each.column.codes.item, rows))
            some_lack = each.column.missing
            if each.constraint.topology_key == HOSTNAME:
                size = len(rows) if nodes is None else sum(nodes)
            else:
                size = len(set(each.joined_each(codes) if some_lack else codes))
            weight, more = weight_and_more(size, each.constraint.max_skew)
            points = [matching * weight + more for matching in each.matching_each(rows, codes)]
            if some_lack:
                points = [more if code >= 0 else 0.0 for code, more in zip(codes, points, strict=True)]
            total = list(map(add, total, points))
        return rounded_each(total) if self.spread.rules.rounds_score else list(map(int, total))

    def sizes(self, rows: Rows, scored: Bools | None, nodes: Ints | None = None) -> list[int]:
        """Return each constraint's number of domains among the scored nodes; for hostname, the number of nodes."""
        sizes = []
        for each in self.spread.soft:
            if each.constraint.topology_key == HOSTNAME:
                counted = np.ones(length(rows), dtype=np.int64) if nodes is None else nodes
                sizes.append(int(np.add.reduce(counted if scored is None else counted[scored])))
            else:
                codes = each.column.codes[rows]
                sizes.append(_distinct(each.joined(codes if scored is None else codes[scored])))
        return sizes

    def normalize(self, raw: Ints, rows: Rows) -> Ints:
        """Return ``100 · (highest + lowest − raw) // highest``; 100 if highest is 0, and 0 for ignored nodes."""
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
        return points_among(raw, lowest, highest)

    def normalize_each(self, raw: Sequence[int]) -> list[int]:
        """Return the scores of `normalize`, computed node by node."""
        lowest, highest = min(raw), max(raw)
        if lowest == IGNORED:
            scored = iter(self.normalize_each([each for each in raw if each != IGNORED]) if highest != IGNORED else ())
            return [0 if each == IGNORED else next(scored) for each in raw]
        if highest == 0:
            return [MAX_NODE_SCORE] * len(raw)
        both = highest + lowest
        return [MAX_NODE_SCORE * (both - each) // highest for each in raw]


class SpreadMethods(msgspec.Struct, frozen=True):
    """Functions that differ in old versions. The defaults are for 1.37; `old_versions` has the other functions.

    Attributes:
        hard_counts: factory of the counts behind DoNotSchedule constraints.
        soft_score: factory of the Score extension point.
        selector_of: function that returns the selector of default constraints.
    """

    hard_counts: CountsOf = taking_part
    soft_score: Callable[[Spread], Score] = SoftConstraints
    selector_of: SelectorOf = default_selector
