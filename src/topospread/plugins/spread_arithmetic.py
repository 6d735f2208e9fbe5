"""The counts of topology spread as data for explanations: pods of each domain, global minimum and skew.

`pod_topology_spread` uses the same counts and formulas.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import eq
from typing import overload

import msgspec
import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Codes, Ints
from topospread.cluster.nodes import LabelColumn

from .domain_counts import DomainCounts
from .pod_topology_spread import PodTopologySpread, lacks_domains, minimum_of, skew_of
from .spread_constraints import Constraint, Origin
from .spread_counts import CountedConstraint, Spread


class Domain(msgspec.Struct, frozen=True):
    """One value of a topology key.

    Attributes:
        matching: matching pods on the included nodes of the domain.
        nodes: number of included nodes. The domain is eligible if this is above 0.
        skew: skew of the domain if the pod is placed in it.
        allowed: whether the constraint allows the pod in this domain; always True for ScheduleAnyway.
    """

    name: str
    matching: int
    nodes: int
    skew: int
    allowed: bool


class Domains(Sequence[Domain]):
    """Domains in the order of their names, stored as columns because a hostname can have thousands of domains.

    Attributes:
        codes: code of each domain in the key's column, int32[domains]; shared, do not change it.
        nodes: number of included nodes of each domain, int32[domains]; shared, do not change it.
        holding: indexes into ``codes`` of the domains with matching pods, ascending, int32[domains with pods].
        pods: number of matching pods of the domains in ``holding``, int32[domains with pods].
    """

    __slots__ = ("_highest", "_names", "_skew_of_none", "codes", "holding", "nodes", "pods")

    def __init__(self, column: LabelColumn, counts: DomainCounts, skew_of_none: int, highest: int | None) -> None:
        """Store the counts.

        Args:
            skew_of_none: skew of a domain without matching pods.
            highest: highest allowed skew; ``None`` allows any.
        """
        self._names = column.values
        self._skew_of_none = skew_of_none
        self._highest = highest
        self.codes, self.nodes, indexes = counts.membership.by_name()
        # Stored sparsely: for hostname, most domains have no matching pod.
        self.holding = np.zeros(0, dtype=np.int32)
        if counts.without_key:
            self.holding = np.flatnonzero(counts.at(self.codes)).astype(np.int32)
        elif counts.pods.on_node:
            counts.make_room()
            found = indexes[counts.counts.nonzero()[0]]
            self.holding = np.sort(found[found >= 0])
        self.pods = counts.at(self.codes[self.holding]).astype(np.int32)

    def __len__(self) -> int:
        return len(self.codes)

    @overload
    def __getitem__(self, index: int) -> Domain: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Domain, ...]: ...

    def __getitem__(self, index: int | slice) -> Domain | tuple[Domain, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        return self._domain(int(self.codes[index]), int(self.matching[index]), int(self.nodes[index]))

    def __iter__(self) -> Iterator[Domain]:
        return map(self._domain, self.codes.tolist(), self.matching.tolist(), self.nodes.tolist())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Domains({list(self)!r})"

    @property
    def matching(self) -> Codes:
        """Number of matching pods of each domain, int32[domains]."""
        matching = np.zeros(len(self.codes), dtype=np.int32)
        matching[self.holding] = self.pods
        return matching

    @property
    def names(self) -> list[str]:
        """Names of the domains, in order."""
        return self.names_at(slice(None))

    def names_at(self, which: slice | Ints | Codes) -> list[str]:
        """Return the names of the domains at some indexes."""
        return [self._names[code] for code in self.codes[which].tolist()]

    def same_as(self, other: Sequence[Domain]) -> bool:
        """Return whether the other domains have the same names. Codes are compared, which is faster."""
        return isinstance(other, Domains) and self._names is other._names and np.array_equal(self.codes, other.codes)

    def _domain(self, code: int, matching: int, nodes: int) -> Domain:
        skew = self._skew_of_none + matching
        return Domain(self._names[code], matching, nodes, skew, self._highest is None or skew <= self._highest)


class LeftOut(msgspec.Struct, frozen=True):
    """The nodes that a constraint excludes for one reason."""

    reason: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class ConstraintArithmetic:
    """The counts of one constraint.

    Attributes:
        position: index in the list that the constraint is from.
        origin: ``pod``, ``profile`` or ``system``.
        counts_itself: 1 if the pod matches the constraint's own selector, else 0.
        min_domains: ``minDomains``, or 1 if the constraint has none or the version ignores the field.
        tainted_domains: number of domains without included nodes that count for ``min_domains`` (KEP-5980, preview).
        domains: domains with at least one included node, in the order of their names.
        minimum: global minimum: lowest number of matching pods of a domain, or 0 with fewer than ``min_domains``
            domains.
        left_out: excluded nodes by reason.
        selects: the parsed selector; ``selector`` is its text.
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    position: int
    origin: Origin
    selector: str
    counts_itself: int
    min_domains: int
    domains: Sequence[Domain]
    minimum: int
    left_out: tuple[LeftOut, ...]
    selects: Selector | None = field(default=None, compare=False, repr=False)
    tainted_domains: int = 0

    @property
    def hard(self) -> bool:
        """True if the constraint is DoNotSchedule."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def skew(self) -> int:
        """Current skew: the largest count of a domain minus the global minimum."""
        domains = self.domains
        counts = domains.pods if isinstance(domains, Domains) else counts_of(domains)
        return int(counts.max(initial=0)) - self.minimum

    @property
    def pods_by_domain(self) -> dict[str, int]:
        """Number of matching pods of each domain that has any."""
        domains = self.domains
        if isinstance(domains, Domains):
            return dict(zip(domains.names_at(domains.holding), domains.pods.tolist(), strict=True))
        return {domain.name: domain.matching for domain in domains if domain.matching}

    @property
    def lacks_domains(self) -> bool:
        """True if there are fewer domains than ``min_domains``, so that the global minimum is 0."""
        return lacks_domains(len(self.domains) + self.tainted_domains, self.min_domains)

    @cached_property
    def fewest(self) -> int:
        """Smallest count of a domain, even if minDomains sets the global minimum to 0."""
        counts = counts_of(self.domains)
        return int(counts.min()) if len(counts) else 0

    @cached_property
    def minimum_domains(self) -> tuple[str, ...]:
        """Names of the domains with the smallest count."""
        fewest, domains = self.fewest, self.domains
        if isinstance(domains, Domains):
            return tuple(domains.names_at(np.flatnonzero(domains.matching == fewest)))
        return tuple(domain.name for domain in domains if domain.matching == fewest)


def counts_of(domains: Sequence[Domain]) -> Codes:
    """Return the number of matching pods of each domain, int32[domains]."""
    if isinstance(domains, Domains):
        return domains.matching
    return np.array([domain.matching for domain in domains], dtype=np.int32)


def spread_arithmetic(
    plugin: PodTopologySpread, pod_class: PodClass, cluster: Cluster
) -> tuple[ConstraintArithmetic, ...]:
    """Return the counts of every constraint of a pod class, hard constraints first.

    Raises:
        PluginError: if a selector is invalid.
    """
    prepared = plugin.prepare(pod_class, cluster)
    if not isinstance(prepared.watcher, Spread):
        return ()
    return arithmetic_as_counted(prepared.watcher)


def arithmetic_as_counted(spread: Spread, *, names_left_out: bool = True) -> tuple[ConstraintArithmetic, ...]:
    """Return the current counts as data. Later changes of the cluster do not change the result.

    Args:
        names_left_out: whether to find the excluded nodes, which takes time on large clusters.
    """
    excluded: LeftOutOf | None = {} if names_left_out else None
    return tuple(_arithmetic_of(each, spread, excluded) for each in (*spread.hard, *spread.soft))


LeftOutOf = dict[tuple[tuple[str, ...], bool, bool], tuple[LeftOut, ...]]
"""Cache for the constraints of one pod: (label keys, honors_affinity, honors_taints) → excluded nodes."""


def _arithmetic_of(counted: CountedConstraint, spread: Spread, excluded: LeftOutOf | None) -> ConstraintArithmetic:
    """Return the counts of one constraint as data.

    ``excluded``: cache of excluded nodes; None leaves ``left_out`` empty.
    """
    constraint = counted.constraint
    column = spread.nodes.labels(constraint.topology_key)
    counts = counted.counts_by_domain()
    minimum = minimum_of(counted)
    taking_no_part: tuple[LeftOut, ...] = ()
    if excluded is not None and not counts.membership.is_of_all_nodes:
        policies = tuple(counted.keys), constraint.honors_affinity, constraint.honors_taints
        if policies not in excluded:
            excluded[policies] = left_out(constraint, counted.keys, spread)
        taking_no_part = excluded[policies]
    highest = constraint.max_skew if constraint.when_unsatisfiable == "DoNotSchedule" else None
    return ConstraintArithmetic(
        topology_key=constraint.topology_key,
        when_unsatisfiable=constraint.when_unsatisfiable,
        max_skew=constraint.max_skew,
        position=constraint.position,
        origin=constraint.origin,
        selector=constraint.selector.without_repeats(),
        counts_itself=counted.counts_itself,
        min_domains=constraint.min_domains,
        domains=Domains(column, counts, skew_of(0, counted.counts_itself, minimum), highest),
        minimum=minimum,
        left_out=taking_no_part,
        selects=constraint.selector,
        tainted_domains=counted.tainted_domains,
    )


def left_out(constraint: Constraint, keys: Sequence[str], spread: Spread) -> tuple[LeftOut, ...]:
    """Return the nodes that a constraint excludes, each under the first reason that applies."""
    everything = slice(0, spread.nodes.size)
    left = spread.nodes.alive[everything].copy()
    found = []
    tests = [(f"no label {key}", spread.has_keys([key], everything)) for key in dict.fromkeys(keys)]
    if constraint.honors_affinity:
        tests.append(("nodeAffinityPolicy: Honor", spread.inclusion.matches_affinity(everything)))
    if constraint.honors_taints:
        tests.append(("nodeTaintsPolicy: Honor", spread.inclusion.tolerated(everything)))
    for reason, passes in tests:
        out = left & ~passes
        left &= passes
        names = tuple(sorted(spread.nodes.names[row] for row in np.flatnonzero(out)))
        if names:
            found.append(LeftOut(reason, names))
    return tuple(found)
