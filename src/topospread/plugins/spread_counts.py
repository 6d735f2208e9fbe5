"""The counts behind the spread constraints of one pod class, kept up to date pod by pod and node by node.

What the counts decide is in `pod_topology_spread`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Codes, Ints, Rows

from .domain_counts import DomainCounts, MatchingPods
from .interface import Listener, length
from .keyless_counts import KeylessCounts
from .node_inclusion import Inclusion
from .pod_topology_spread_rules import PodTopologySpreadRules
from .spread_constraints import Constraint

HOSTNAME = "kubernetes.io/hostname"
_GROUPED_BY_DOMAIN = 32
"""Up to so many domains, nodes are grouped by domain; above, by their domain's count."""


class SpreadSettings(msgspec.Struct, frozen=True):
    """What the constraints of a pod have in common.

    Attributes:
        requires_all_keys: nodes that lack the key of a soft constraint are not scored.
        hard_counts: how hard constraints count.
    """

    requires_all_keys: bool
    rules: PodTopologySpreadRules
    hard_counts: type[DomainCounts] = DomainCounts


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
        self._having: dict[int, Bools] | None = {}  # while constraints are made, which share their keys
        self.requires_all_keys = settings.requires_all_keys
        self.hard_counts = settings.hard_counts
        self._pods: dict[Selector, MatchingPods] = {}
        for each in (*hard, *soft):
            if each.selector not in self._pods:
                self._pods[each.selector] = MatchingPods(
                    cluster, pod_class.namespace, each.selector, empty_counts=rules.empty_selector_counts
                )
        hard_keys = [c.topology_key for c in hard]
        self.hard = [CountedConstraint(each, self, hard_keys) for each in hard]
        soft_keys = [c.topology_key for c in soft] if self.requires_all_keys else []
        self.soft = [CountedConstraint(each, self, soft_keys) for each in soft]
        self._having = None
        self._all = (*self.hard, *self.soft)
        self._by_node = any(each.counts is None for each in self.soft)
        # The sum over all nodes counts, or how many domains have feasible nodes: nothing groups nodes then.
        self._ungrouped = bool(self.soft) and not (
            rules.weighs_domains and all(each.counts is None or each.grouped_by_domain for each in self.soft)
        )

    def pods(self, constraint: Constraint) -> MatchingPods:
        """The pods that match a constraint's selector."""
        return self._pods[constraint.selector]

    def codes(self, key: str, rows: Rows) -> Codes:
        """Domains of nodes, −1 where the key is missing."""
        codes: Codes = self.nodes.labels(key).codes[rows]
        return codes

    def has_keys(self, keys: Iterable[str], rows: Rows) -> Bools:
        """Return whether nodes have all of these keys."""
        if self._having is not None and id(keys) in self._having:
            return self._having[id(keys)]
        result = np.ones(length(rows), dtype=np.bool_)
        for key in keys:
            result &= self.codes(key, rows) >= 0
        if self._having is not None:
            self._having[id(keys)] = result
        return result

    def concerned(self) -> Iterable[PodClass]:
        """Classes that some selector matches."""
        return {each for pods in self._pods.values() for each in pods.classes}

    def listener(self, pod_class: PodClass) -> Listener | None:
        """Counts pods of a class that a selector matches; the rows of their domain, where the count groups them."""
        pods = [each for each in self._pods.values() if each.matches(pod_class)]
        if not pods:
            return None
        counts = [(each, each.counts) for each in self._all if each.counts is not None and each.pods in pods]
        by_node = self._by_node

        def count(row: int, delta: int) -> Iterable[int]:
            for matching in pods:
                matching.add(row, delta)
            touched: Iterable[int] = (row,) if by_node else ()
            for each, domains in counts:
                code = domains.add(row, delta)
                if code >= 0 and each.grouped_by_count:
                    touched = {*touched, *each.column.rows(code)}
            return touched

        return count

    def on_node(self, row: int) -> Iterable[int]:
        """Count the node's pods where it now belongs; it, and rows of domains whose count groups them."""
        touched = {row}
        only = np.array([row], dtype=np.int64)
        for pods in self._pods.values():
            pods.on_node(row)
        for each in self._all:
            if each.counts is not None:
                codes = each.counts.set_member(row, bool(each.takes_part(only)[0]))
                if each.grouped_by_count and codes[0] != codes[1]:
                    touched = touched.union(*(each.column.rows(code) for code in codes if code >= 0))
        return touched

    def counts_as_before(self, row: int) -> bool:
        """Whether a node that changed is counted for hard constraints where it was; asked before `on_node`."""
        only = np.array([row], dtype=np.int64)
        for each in self.hard:
            counts = each.counts
            if type(counts) is not DomainCounts or row >= len(counts.member):
                return False
            code = each.column.codes.item(row) if each.takes_part(only)[0] else -1
            if counts.member.item(row) != code:
                return False
        return True

    def assume(self, row: int, pod_class: PodClass, delta: int) -> None:
        """PreFilter's AddPod and RemovePod where they count otherwise than PreFilter itself does.

        They look neither at deletionTimestamp nor at whether the selector is empty (``updateWithPod``).
        """
        for each in self.hard:
            if each.counts is not None and each.pods.matches_labels(pod_class) and not each.pods.matches(pod_class):
                each.counts.add(row, delta)

    def groups(self, rows: Rows) -> list[Ints] | None:
        """By domain where there are few, by the domain's count where there are many."""
        return None if self._ungrouped else [each.groups(rows) for each in self._all]

    def group(self, row: int) -> tuple[int, ...]:
        """The same of one node."""
        return tuple([each.group(row) for each in self._all])


class CountedConstraint:
    """A constraint with its counts by domain.

    Attributes:
        column: the label column of its key.
        counts: matching pods by domain; ``None`` for a soft hostname constraint.
        keys: keys a node must have to take part: those of all constraints of the same kind.
        counts_itself: 1 when the pod adds to its own domain.
        grouped_by_count: whether nodes are grouped by what their domain counts, as there are many domains.
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
            self.counts = self._kind_of_counts(hard)(column, self.pods, self.takes_part(everything))
        self.grouped_by_count = hard and not self.grouped_by_domain

    def _kind_of_counts(self, hard: bool) -> type[DomainCounts]:
        if hard:
            return self._spread.hard_counts
        return DomainCounts if self.keys else KeylessCounts

    def joined(self, codes: Codes) -> Codes:
        """The same codes, but nodes without the key and those whose value is empty, which are one domain, as −1."""
        empty = self.column.code("")
        return codes if empty < 0 or not self.column.missing else np.where(codes == empty, np.int32(-1), codes)

    def joined_each(self, codes: Sequence[int]) -> Sequence[int]:
        """`joined`, for a handful of nodes."""
        empty = self.column.code("")
        return codes if empty < 0 or not self.column.missing else [-1 if code == empty else code for code in codes]

    def takes_part(self, rows: Rows) -> Bools:
        """Nodes whose pods count: all keys are there and the policies include them."""
        constraint = self.constraint
        included = self._spread.inclusion(
            rows, honors_affinity=constraint.honors_affinity, honors_taints=constraint.honors_taints
        )
        return self._spread.has_keys(self.keys, rows) & included

    def matching_each(self, rows: Sequence[int], codes: Sequence[int]) -> list[int]:
        """What counts on nodes whose domains have these codes: the domain's pods, or the node's own."""
        return list(map(self.pods.per_node.item, rows)) if self.counts is None else self.counts.at_each(codes)

    def groups(self, rows: Rows) -> Ints:
        """What tells nodes apart: their domain, or what counts there, −1 without the key, int64[rows]."""
        codes = self.column.codes[rows]
        if self.counts is None:
            return np.where(codes >= 0, self.pods.per_node[rows], -1)
        if self.grouped_by_domain:
            return codes.astype(np.int64)
        return np.where(codes >= 0, self.counts.at(codes), -1)

    def group(self, row: int) -> int:
        """The same of one node."""
        code: int = self.column.codes.item(row)
        if code < 0 or (self.counts is not None and self.grouped_by_domain):
            return code
        return self.pods.per_node.item(row) if self.counts is None else self.counts.at_each((code,))[0]
