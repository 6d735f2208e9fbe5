"""The counts behind the spread constraints of one pod class. They belong to the cluster: classes share them.

What the counts decide is in `pod_topology_spread`.
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
from .interface import Listener, length
from .node_inclusion import Inclusion
from .pod_topology_spread_rules import PodTopologySpreadRules
from .spread_constraints import Constraint

# Pods by domain where nodes need no key: nodes without it count together with those whose value is empty. Source:
# plugins/podtopologyspread/scoring.go: under the built-in defaults PreScore reads `node.Labels[key]`, "" for both,
# and Score looks only at nodes that have the label. What the counts decide is in `pod_topology_spread`.


class KeylessCounts(DomainCounts):
    """Counts of soft constraints that require no key; a domain still needs a node that has the label."""

    def __init__(self, pods: Selection, membership: Membership) -> None:
        super().__init__(pods, membership)
        member = membership.member
        self.beside = sum(
            count for row, count in pods.on_node.items() if row < len(member) and member.item(row) == WITHOUT_KEY
        )

    def add(self, row: int, delta: int) -> None:
        """Count a pod on a node."""
        member = self.membership.member
        if row < len(member) and member.item(row) == WITHOUT_KEY:
            self.beside += delta
        else:
            super().add(row, delta)

    def node_moved(self, membership: Membership, row: int, before: int, after: int) -> None:
        """Move the pods of a node to its new domain."""
        super().node_moved(membership, row, before, after)
        self.beside += self.pods.on_node.get(row, 0) * ((after == WITHOUT_KEY) - (before == WITHOUT_KEY))


CountsOf = Callable[[Selection, Membership, Callable[[], Membership]], DomainCounts]
"""Makes counts of pods by domain; the last argument gives every node's domain, whether or not it takes part."""


def taking_part(pods: Selection, membership: Membership, labelled: Callable[[], Membership]) -> DomainCounts:
    """Return counts over the nodes that take part."""
    return DomainCounts(pods, membership)


class SpreadSettings(msgspec.Struct, frozen=True):
    """The common settings of a pod's constraints.

    Attributes:
        requires_all_keys: nodes that lack the key of a soft constraint are not scored.
        hard_counts: how hard constraints count.
    """

    requires_all_keys: bool
    rules: PodTopologySpreadRules
    hard_counts: CountsOf = taking_part


class Spread:
    """The counts behind one pod class's constraints, hard and soft; the plugin's `Watcher`.

    The cluster keeps the counts up to date pod by pod. Nodes that change are read from the journal, by `on_nodes`.

    Attributes:
        hard, soft: constraints in force, each with its counts. A soft hostname constraint has no counts by domain: it
            is scored by the pods on the node itself.
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
        # Groups are of no use if the sum over all nodes counts, or the number of domains with feasible nodes.
        self._is_ungrouped = bool(self.soft) and not (
            rules.weighs_domains and all(each.counts is None or each.is_grouped_by_domain for each in self.soft)
        )

    def pods(self, selector: Selector) -> Selection:
        """Return the pods that count for a selector."""
        namespace, empty_counts = self.pod_class.namespace, self.rules.empty_selector_counts
        return matching_pods(self.cluster, namespace, selector, empty_counts=empty_counts)

    def key_set(self, keys: Sequence[str]) -> frozenset[str]:
        """Return the keys as a set, which is made once for the list that constraints share."""
        known = self._key_sets.get(id(keys))
        if known is None:
            known = self._key_sets[id(keys)] = (keys, frozenset(keys))
        return known[1]

    def codes(self, key: str, rows: Rows) -> Codes:
        """Domains of nodes, −1 where the key is missing."""
        codes: Codes = self.nodes.labels(key).codes[rows]
        return codes

    def has_keys(self, keys: Iterable[str], rows: Rows) -> Bools:
        """Return whether nodes have all of these keys."""
        result = np.ones(length(rows), dtype=np.bool_)
        for key in keys:
            result &= self.codes(key, rows) >= 0
        return result

    def concerned(self, since: int = 0) -> Iterable[PodClass]:
        """Return no class: the cluster counts the pods."""
        return ()

    def listener(self, pod_class: PodClass) -> Listener | None:
        """Return nothing: the cluster counts the pods."""

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return whether pods of a class count for a constraint."""
        return any(each.counts_pods_of(pod_class) for each in self._all)

    def on_nodes(self, rows: Collection[int]) -> None:
        """Count pods where their nodes now belong."""
        for each in self._all:
            if each.counts is not None:
                each.counts.catch_up()

    def assume(self, row: int, pod_class: PodClass, delta: int) -> bool:
        """Count a pod where AddPod and RemovePod differ from PreFilter. Return whether a count changed.

        AddPod and RemovePod ignore deletionTimestamp, and do not check whether the selector is empty
        (``updateWithPod``).
        """
        changed = False
        hard = {each.counts: each for each in self.hard if each.counts is not None}  # constraints may share counts
        for counts, each in hard.items():
            if each.matches_labels(pod_class) and not each.counts_pods_of(pod_class):
                counts.add(row, delta)
                changed = True
        return changed

    def columns(self) -> list[GroupColumn] | None:
        """Return columns by which nodes are grouped; ``None`` if all nodes have to be compared."""
        return None if self._is_ungrouped else [each.group_column() for each in self._all]


class CountedConstraint:
    """A constraint with its counts by domain.

    Attributes:
        column: the label column of its key.
        pods: the pods that count, by node.
        counts: pods by domain; ``None`` for a soft hostname constraint.
        keys: keys a node must have to take part: the keys of all constraints of the same kind.
        counts_itself: 1 if the pod adds to its own domain.
        is_grouped_by_domain: whether nodes are grouped by domain, not by the domain's count.
        may_be_tainted: whether there may be ``tainted_domains``; asked first, as placements ask each time.
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
        """Domains that count for minDomains although every node has an untolerated taint: KEP-5980, not released.

        Such a domain holds a matching pod, terminating or not; an empty selector matches none. 0 where minDomains is
        met without these domains.
        """
        counts, constraint = self.counts, self.constraint
        if not (self.may_be_tainted and counts) or counts.domains >= constraint.min_domains:
            return 0
        rows = np.array(sorted({row for each in self.pods.classes for row in each.occupancy}), dtype=np.intp)
        but_for_taints = _Inclusive(replace(constraint, honors_taints=False), self._spread.inclusion, self.keys)
        codes = self.column.codes[rows[but_for_taints(rows)]]
        counts.make_room()
        return len(set(codes[counts.nodes[codes] == 0].tolist()))

    def counts_by_domain(self) -> DomainCounts:
        """Return pods by domain, for a soft hostname constraint, too."""
        return self.counts or self._counts(taking_part)

    def _counts(self, kind: CountsOf) -> DomainCounts:
        """Return counts that are shared with every class that counts the same pods on the same nodes."""
        constraint, spread = self.constraint, self._spread
        inclusion = spread.inclusion
        included = inclusion.key(honors_affinity=constraint.honors_affinity, honors_taints=constraint.honors_taints)
        key = (constraint.topology_key, spread.key_set(self.keys), included, spread.nodes.numbering)
        membership = spread.cluster.journal.shared(
            key, lambda: Membership(spread.cluster, self.column, _Inclusive(constraint, inclusion, self.keys))
        )
        return self.pods.shared((kind, membership), lambda: kind(self.pods, membership, self._labelled))

    def _labelled(self) -> Membership:
        """Return every node in the domain of its label."""
        spread = self._spread
        key = (self.constraint.topology_key, spread.nodes.numbering)
        return spread.cluster.journal.shared(
            key, lambda: Membership(spread.cluster, self.column, lambda rows: spread.nodes.alive[rows])
        )

    def matches_labels(self, pod_class: PodClass) -> bool:
        """Return whether the selector matches pods of a class, terminating or not, even if the selector is empty."""
        same_namespace = pod_class.namespace == self._spread.pod_class.namespace
        return same_namespace and self.constraint.selector.matches(pod_class.labels)

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        """Return whether pods of a class count."""
        if pod_class.label_set is None:  # the cluster no longer keeps the class
            return pod_class.counted and self.pods is not NO_PODS and self.matches_labels(pod_class)
        return pod_class.counted and pod_class.label_set in self.pods.sets

    def joined(self, codes: Codes) -> Codes:
        """The same codes, but nodes without the key and those whose value is empty, which are one domain, as −1."""
        empty = self.column.code("")
        return codes if empty < 0 or not self.column.missing else np.where(codes == empty, np.int32(-1), codes)

    def joined_each(self, codes: Sequence[int]) -> Sequence[int]:
        """`joined`, for a handful of nodes."""
        empty = self.column.code("")
        return codes if empty < 0 or not self.column.missing else [-1 if code == empty else code for code in codes]

    def takes_part(self, rows: Rows) -> Bools:
        """Return whether pods on the nodes count: all keys are there and the policies include the nodes."""
        return _Inclusive(self.constraint, self._spread.inclusion, self.keys)(rows)

    def matching_each(self, rows: Sequence[int], codes: Sequence[int]) -> list[int]:
        """Return the pods that count on nodes whose domains have these codes: the domain's, or the node's own."""
        if self.counts is None:
            return [self.pods.on_node.get(row, 0) for row in rows]
        return self.counts.at_each(codes)

    def group_column(self) -> GroupColumn:
        """Return what tells nodes apart: their domain, or the pods that count there."""
        if self.counts is None:
            return PodsOnNode(self.column, self.pods)
        return ByDomain(self.column) if self.is_grouped_by_domain else PodsInDomain(self.column, self.counts)


class _Inclusive:
    """The nodes that count for a constraint; it holds no view."""

    def __init__(self, constraint: Constraint, inclusion: Inclusion, keys: Sequence[str]) -> None:
        self._constraint = constraint
        self._inclusion = inclusion
        self._keys = keys

    def __call__(self, rows: Rows) -> Bools:
        constraint, inclusion = self._constraint, self._inclusion
        included = inclusion(rows, honors_affinity=constraint.honors_affinity, honors_taints=constraint.honors_taints)
        for key in self._keys:
            if not included.any():
                break  # a pod may have thousands of constraints whose keys no node has
            included &= inclusion.nodes.labels(key).codes[rows] >= 0
        return included


def _keyless(pods: Selection, membership: Membership, labelled: Callable[[], Membership]) -> DomainCounts:
    return KeylessCounts(pods, membership)
