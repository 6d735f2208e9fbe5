"""The numbers behind topology spread, as data: what each constraint counts in each domain and what follows.

It states what `pod_topology_spread` decides, with its formulas; it decides nothing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from topospread.cluster import Cluster, PodClass

from .domain_counts import DomainCounts
from .pod_topology_spread import PodTopologySpread, minimum_in_force, skew_of
from .spread_constraints import Constraint, Origin
from .spread_counts import CountedConstraint, Spread


@dataclass(frozen=True, slots=True)
class Domain:
    """One value of a topology key.

    Attributes:
        matching: pods that the constraint's selector matches on nodes that take part.
        nodes: how many nodes of the domain take part; the domain is eligible when there is one.
        skew: what the constraint's skew would be with the pod placed here.
        allowed: whether the constraint lets the pod in; always True when it is ScheduleAnyway.
    """

    name: str
    matching: int
    nodes: int
    skew: int
    allowed: bool


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Nodes that take no part in a constraint's counts, and why."""

    reason: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConstraintArithmetic:
    """What one constraint counts.

    Attributes:
        position: place in the list it comes from, from 0.
        origin: pod, profile or system.
        counts_itself: 1 when the pod matches its own selector.
        min_domains: as it is in force, 1 when the constraint says nothing.
        domains: domains with nodes that take part, by name; ``minimum`` is over them.
        minimum: the global minimum in force, 0 while there are fewer domains than ``min_domains``.
        minimum_domains: the domains that hold the fewest.
        left_out: nodes that take no part.
    """

    topology_key: str
    when_unsatisfiable: str
    max_skew: int
    position: int
    origin: Origin
    selector: str
    counts_itself: int
    min_domains: int
    domains: tuple[Domain, ...]
    minimum: int
    minimum_domains: tuple[str, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def hard(self) -> bool:
        """DoNotSchedule."""
        return self.when_unsatisfiable == "DoNotSchedule"

    @property
    def skew(self) -> int:
        """The skew there is: the largest count of a domain minus the global minimum in force."""
        return max((domain.matching for domain in self.domains), default=0) - self.minimum

    def line(self, domain: Domain) -> str:
        """The sum for one domain: ``3 matching + 1 (self) − 1 (minimum, zone-b) = 3 > maxSkew 2``."""
        parts = f"{domain.matching} matching + {self.counts_itself} (self) − {self.minimum} ({self.minimum_words})"
        verdict = "≤" if domain.skew <= self.max_skew else ">"
        return f"{parts} = {domain.skew} {verdict} maxSkew {self.max_skew}"

    @property
    def minimum_words(self) -> str:
        """What the minimum is: ``minimum, zone-b`` or why it is 0."""
        if len(self.domains) < self.min_domains and self.domains:
            return f"minimum: {len(self.domains)} domains < minDomains {self.min_domains}"
        names = self.minimum_domains
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"minimum, {names[0]}{more}" if names else "minimum, no domain"


def spread_arithmetic(
    plugin: PodTopologySpread, pod_class: PodClass, cluster: Cluster
) -> tuple[ConstraintArithmetic, ...]:
    """The arithmetic of every constraint in force for pods of a class, hard ones first.

    Raises:
        PluginError: a selector does not compile.
    """
    prepared = plugin.prepare(pod_class, cluster)
    if not isinstance(prepared.watcher, Spread):
        return ()
    spread = prepared.watcher
    return tuple(arithmetic_of(each, spread) for each in (*spread.hard, *spread.soft))


def arithmetic_of(counted: CountedConstraint, spread: Spread) -> ConstraintArithmetic:
    """The arithmetic of one constraint from its counts."""
    constraint = counted.constraint
    column = spread.nodes.labels(constraint.topology_key)
    everything = slice(0, spread.nodes.size)
    taking_part = counted.takes_part(everything)
    counts = counted.counts or DomainCounts(column, counted.pods, taking_part)
    minimum = minimum_in_force(counts, constraint.min_domains)
    skews = skew_of(counts.at(np.arange(len(column.values), dtype=np.int32)), counted.counts_itself, minimum)
    hard = constraint.when_unsatisfiable == "DoNotSchedule"
    domains = tuple(
        Domain(name, int(counts.counts[code]), int(counts.nodes[code]), int(skews[code]), allowed)
        for name, code in sorted((name, code) for code, name in enumerate(column.values))
        if counts.nodes[code]
        for allowed in (not hard or bool(skews[code] <= constraint.max_skew),)
    )
    fewest = min((domain.matching for domain in domains), default=0)
    return ConstraintArithmetic(
        topology_key=constraint.topology_key,
        when_unsatisfiable=constraint.when_unsatisfiable,
        max_skew=constraint.max_skew,
        position=constraint.position,
        origin=constraint.origin,
        selector=str(constraint.selector),
        counts_itself=counted.counts_itself,
        min_domains=constraint.min_domains,
        domains=domains,
        minimum=minimum,
        minimum_domains=tuple(domain.name for domain in domains if domain.matching == fewest),
        left_out=left_out(constraint, counted.keys, spread),
    )


def left_out(constraint: Constraint, keys: Sequence[str], spread: Spread) -> tuple[LeftOut, ...]:
    """Nodes that take no part in a constraint, by the first reason that there is."""
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
