"""The matching pods of each domain for the spread constraints of a pod class.

Classes with equal constraints share the counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from topospread.api.labels import Selector
from topospread.api.well_known_labels import HOSTNAME
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Codes, Rows
from topospread.cluster.selections import Selection

from .domain_counts import NO_PODS, DomainCounts, matching_pods
from .domain_membership import WITHOUT_KEY, Membership
from .group_columns import ByDomain, GroupColumn, PodsInDomain, PodsOnNode, is_grouped_by_domain
from .interface import length
from .node_inclusion import Inclusion
from .pod_topology_spread_rules import PodTopologySpreadRules
from .spread_constraints import Constraint


class KeylessCounts(DomainCounts):
    """Pods by domain for built-in default constraints, which do not require that nodes have the key.

    PreScore reads `node.Labels[key]`, so it counts pods on nodes without the key in the domain "". A domain exists only
    if a node has the label. Source: plugins/podtopologyspread/scoring.go.
    """

    def __init__(self, pods: Selection, membership: Membership) -> None:
        super().__init__(pods, membership)
        member = membership.member
        self.without_key = sum(
            count for row, count in pods.on_node.items() if row < len(member) and member.item(row) == WITHOUT_KEY
        )

    def add(self, row: int, delta: int) -> None:
        """Count one pod more (+1) or less (−1) on a node."""
        member = self.membership.member
        if row < len(member) and member.item(row) == WITHOUT_KEY:
            self.without_key += delta
        else:
            super().add(row, delta)

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        """Move the pods of a node to its new domain."""
        super().node_moved(membership, row, before, after)
        self.without_key += self.pods.on_node.get(row, 0) * ((after == WITHOUT_KEY) - (before == WITHOUT_KEY))


CountsOf = Callable[[Selection, Membership, Callable[[], Membership]], DomainCounts]
"""Factory of counts by domain. Its last argument returns the membership of all nodes, even if policies exclude them."""


def taking_part(pods: Selection, membership: Membership, labelled: Callable[[], Membership]) -> DomainCounts:
    """Return counts over the nodes that the constraint includes."""
    return DomainCounts(pods, membership)


class SpreadSettings(msgspec.Struct, frozen=True):
    """The settings that all constraints of a pod share.

    Attributes:
        requires_all_keys: whether Score ignores nodes that lack the key of any soft constraint.
        hard_counts: factory of the counts of hard constraints.
    """

    requires_all_keys: bool
    rules: PodTopologySpreadRules
    hard_counts: CountsOf = taking_part


class Spread:
    """The counts of the hard and soft constraints of one pod class. It is the plugin's `Watcher`.

    ``cluster.selections`` updates the counts with every pod. `on_nodes` updates them after changes of nodes.

    Attributes:
        hard, soft: constraints with their counts. A soft hostname constraint has no counts by domain, because its score
            reads the pods on each node.
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
        self.pod_class = inclusion.pod_class
        self.nodes: NodeTable = cluster.nodes
        self.requires_all_keys = settings.requires_all_keys
        self.hard_counts = settings.hard_counts
        self.cluster = cluster
        self._key_sets: dict[int, tuple[Sequence[str], frozenset[str]]] = {}
        hard_keys = [c.topology_key for c in hard]
        self.hard = [CountedConstraint(each, self, hard_keys) for each in hard]
        soft_keys = [c.topology_key for c in soft] if self.requires_all_keys else []
        self.soft = [CountedConstraint(each, self, soft_keys) for each in soft]
        self._all = (*self.hard, *self.soft)
        # Nodes cannot be grouped if the score depends on the sum over all nodes, or on the number of domains with
        # feasible nodes.
        self._is_ungrouped = bool(self.soft) and not (
            rules.weighs_domains and all(each.counts is None or each.is_grouped_by_domain for each in self.soft)
        )

    def pods(self, selector: Selector) -> Selection:
        """Return the pods of the namespace that a selector counts."""
        namespace, empty_counts = self.pod_class.namespace, self.rules.empty_selector_counts
        return matching_pods(self.cluster, namespace, selector, empty_counts=empty_counts)

    def key_set(self, keys: Sequence[str]) -> frozenset[str]:
        """Return the keys as a set. Constraints share a list of keys, so the set is cached by the list's id."""
        known = self._key_sets.get(id(keys))
        if known is None:
            known = self._key_sets[id(keys)] = (keys, frozenset(keys))
        return known[1]

    def codes(self, key: str, rows: Rows) -> Codes:
        """Return the domain codes of nodes, −1 for a node without the key, int32[rows]."""
        codes: Codes = self.nodes.labels(key).codes[rows]
        return codes

    def has_keys(self, keys: Iterable[str], rows: Rows) -> Bools:
        """Return whether each node has all keys, bool[rows]."""
        result = np.ones(length(rows), dtype=np.bool_)
        for key in keys:
            result &= self.codes(key, rows) >= 0
        return result

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return whether any constraint counts pods of the class."""
        return any(each.counts_pods_of(pod_class) for each in self._all)

    def on_nodes(self, rows: Collection[int]) -> None:
        """Move the pods of changed nodes to the nodes' current domains."""
        for each in self._all:
            if each.counts is not None:
                each.counts.catch_up()

    def assume(self, row: int, pod_class: PodClass, delta: int) -> bool:
        """Count a pod of a dry run that AddPod and RemovePod count, but not PreFilter. Return whether a count changed.

        These are terminating pods, and pods that an empty selector matches (``updateWithPod``).
        """
        changed = False
        hard = {each.counts: each for each in self.hard if each.counts is not None}  # constraints may share counts
        for counts, each in hard.items():
            if each.matches_labels(pod_class) and not each.counts_pods_of(pod_class):
                counts.add(row, delta)
                changed = True
        return changed

    def columns(self) -> list[GroupColumn] | None:
        """Return the columns that group nodes; ``None`` if nodes cannot be grouped."""
        return None if self._is_ungrouped else [each.group_column() for each in self._all]


class CountedConstraint:
    """A constraint with its counts by domain.

    Attributes:
        column: label column of the topology key.
        pods: selection of the counted pods, with their number on each node.
        counts: number of counted pods by domain; ``None`` for a ScheduleAnyway constraint on hostname.
        keys: label keys that an included node must have: the topology keys of all hard, or of all soft, constraints.
        counts_itself: 1 if the pod matches the constraint's own selector, else 0.
        is_grouped_by_domain: whether nodes are grouped by domain instead of by the domain's count.
        may_be_tainted: whether ``tainted_domains`` can be above 0; a cheap check before it is computed.
    """

    def __init__(self, constraint: Constraint, spread: Spread, keys: Sequence[str]) -> None:
        self.constraint = constraint
        self.keys = keys
        self.pods = spread.pods(constraint.selector)
        self.counts_itself = constraint.counts_itself(spread.pod_class)
        self._spread = spread
        self.column = column = spread.nodes.labels(constraint.topology_key)
        self.is_grouped_by_domain = is_grouped_by_domain(column, spread.nodes.size)
        self.may_be_tainted = spread.rules.tainted_domains and constraint.honors_taints
        self.counts: DomainCounts | None = None
        if constraint.when_unsatisfiable == "DoNotSchedule":
            self.counts = self._counts(spread.hard_counts)
        elif constraint.topology_key != HOSTNAME or not spread.rules.weighs_domains:
            self.counts = self._counts(taking_part if keys else _keyless)

    @property
    def tainted_domains(self) -> int:
        """Number of domains that count for minDomains though the pod tolerates none of their nodes (KEP-5980 preview).

        Such a domain must have a matching pod, which may be terminating. The number is 0 if other domains meet
        minDomains.
        """
        counts, constraint = self.counts, self.constraint
        if not (self.may_be_tainted and counts) or counts.domains >= constraint.min_domains:
            return 0
        rows = np.array(sorted({row for each in self.pods.classes for row in each.occupancy}), dtype=np.intp)
        but_for_taints = _inclusive(replace(constraint, honors_taints=False), self._spread.inclusion, self.keys)
        codes = self.column.codes[rows[but_for_taints(rows)]]
        counts.make_room()
        return len(set(codes[counts.nodes[codes] == 0].tolist()))

    def counts_by_domain(self) -> DomainCounts:
        """Return the counts by domain, also for a soft hostname constraint."""
        return self.counts or self._counts(taking_part)

    def _counts(self, kind: CountsOf) -> DomainCounts:
        """Return the counts, shared by classes that count the same pods on the same nodes."""
        constraint, spread = self.constraint, self._spread
        inclusion = spread.inclusion
        included = inclusion.key(honors_affinity=constraint.honors_affinity, honors_taints=constraint.honors_taints)
        key = (constraint.topology_key, spread.key_set(self.keys), included, spread.nodes.numbering)
        membership = spread.cluster.journal.shared(
            key, lambda: Membership(spread.cluster, self.column, _inclusive(constraint, inclusion, self.keys))
        )
        return self.pods.shared((kind, membership), lambda: kind(self.pods, membership, self._labelled))

    def _labelled(self) -> Membership:
        """Return the membership of all nodes, even of nodes that the policies exclude."""
        spread = self._spread
        key = (self.constraint.topology_key, spread.nodes.numbering)
        return spread.cluster.journal.shared(
            key, lambda: Membership(spread.cluster, self.column, lambda rows: spread.nodes.alive[rows])
        )

    def matches_labels(self, pod_class: PodClass) -> bool:
        """Return whether the selector matches the labels, even of terminating pods; an empty selector matches all."""
        same_namespace = pod_class.namespace == self._spread.pod_class.namespace
        return same_namespace and self.constraint.selector.matches(pod_class.labels)

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return whether the constraint counts pods of the class."""
        if pod_class.label_set is None:  # the cluster dropped the class
            return pod_class.counted and self.pods is not NO_PODS and self.matches_labels(pod_class)
        return pod_class.counted and pod_class.label_set in self.pods.sets

    def joined(self, codes: Codes) -> Codes:
        """Return the codes with −1 in place of the code of "": in Score, a missing key and "" are one domain."""
        empty = self.column.code("")
        return codes if empty < 0 or not self.column.missing else np.where(codes == empty, np.int32(-1), codes)

    def joined_each(self, codes: Sequence[int]) -> Sequence[int]:
        """Return the codes of `joined` for a few nodes."""
        empty = self.column.code("")
        return codes if empty < 0 or not self.column.missing else [-1 if code == empty else code for code in codes]

    def takes_part(self, rows: Rows) -> Bools:
        """Return whether each node is included: it has all keys, and the policies include it, bool[rows]."""
        return _inclusive(self.constraint, self._spread.inclusion, self.keys)(rows)

    def matching_each(self, rows: Sequence[int], codes: Sequence[int]) -> list[int]:
        """Return the number of counted pods of each node's domain; for a soft hostname constraint, of each node."""
        if self.counts is None:
            return [self.pods.on_node.get(row, 0) for row in rows]
        return self.counts.at_each(codes)

    def group_column(self) -> GroupColumn:
        """Return the column that groups nodes: by domain, or by the number of counted pods."""
        if self.counts is None:
            return PodsOnNode(self.column, self.pods)
        return ByDomain(self.column) if self.is_grouped_by_domain else PodsInDomain(self.column, self.counts)


def _inclusive(constraint: Constraint, inclusion: Inclusion, keys: Sequence[str]) -> Callable[[Rows], Bools]:
    """Return a function that returns which rows a constraint includes. It stays valid when the node table grows."""

    def includes(rows: Rows) -> Bools:
        included = inclusion(rows, honors_affinity=constraint.honors_affinity, honors_taints=constraint.honors_taints)
        for key in keys:
            if not included.any():
                break  # for speed: a pod may have thousands of constraints whose keys no node has
            included &= inclusion.nodes.labels(key).codes[rows] >= 0
        return included

    return includes


def _keyless(pods: Selection, membership: Membership, labelled: Callable[[], Membership]) -> DomainCounts:
    return KeylessCounts(pods, membership)
