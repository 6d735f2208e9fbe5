"""Count the pods in each domain for the constraints of a workload.

The counts are PodTopologySpread's own arrays, which stay small even with thousands of hostnames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import repeat
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from topospread.api.labels import Selector
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools
from topospread.controllers.planned import Workload
from topospread.plugins.interface import PluginError, Prepared
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import ConstraintArithmetic, Domains, arithmetic_as_counted
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.scheduling.cycle import Scheduler
from topospread.simulation.counted import CountedPods, PodOwners

from .members import Members
from .result import MOST_NAMED, ConstraintStatus, DomainPods, UncountedNodes

Whose = Callable[[Selector, Bools, int], CountedPods]
"""Function (selector, nodes, total) → the owners of the counted pods."""

_REVISIONS = {"Deployment": "pod-template-hash", "StatefulSet": "controller-revision-hash"}
"""Kind → label that distinguishes its revisions."""


class CountedSpreads(NamedTuple):
    """The counts for the constraints of a workload.

    Attributes:
        of: counts by revision: the newest ("") first, then older revisions with placed pods.
        problem: why the constraints cannot be evaluated; "" if they can.
        prepared: class → its prepared state of PodTopologySpread.
    """

    of: tuple[tuple[str, Spread], ...]
    problem: str
    prepared: Mapping[PodClass, Prepared]


def spreads_of(scheduler: Scheduler, workload: Workload, members: Members) -> CountedSpreads:
    """Return the counts for the constraints of a workload's pods, by revision."""
    found: list[tuple[str, Spread]] = []
    known: dict[PodClass, Prepared] = {}
    problem = ""
    for revision, pod_class in _revisions(scheduler.cluster, workload, members):
        try:
            plugin = scheduler.framework_of(pod_class).plugins.get(PodTopologySpread.name)
            prepared = plugin.prepare(pod_class, scheduler.cluster) if isinstance(plugin, PodTopologySpread) else None
        except PluginError as error:
            problem = str(error)
            continue
        if prepared is not None:
            known[pod_class] = prepared
            if isinstance(prepared.watcher, Spread):
                found.append((revision, prepared.watcher))
    return CountedSpreads(tuple(found), problem, known)


def constraints_of(
    spreads: CountedSpreads, workload: Workload, owners: PodOwners | None
) -> tuple[ConstraintStatus, ...]:
    """Return the constraints in force, hard constraints first.

    Constraints of older revisions that differ come last. If ``owners`` is None, the owners of counted pods, the numbers
    of nodes and the excluded nodes are left out, because the exporter does not show them.
    """
    whose = partial(owners.counted, workload) if owners is not None else None
    found: list[ConstraintStatus] = []
    for revision, spread in spreads.of:
        known = [replace(each, revision="") for each in found]
        arithmetic = arithmetic_as_counted(spread, names_left_out=whose is not None)
        counted = zip((*spread.hard, *spread.soft), arithmetic, strict=True)
        stated = [_constraint(*each, spread, whose) for each in counted]
        found += [replace(each, revision=revision) for each in stated if each not in known]
    return tuple(found)


def _revisions(cluster: Cluster, workload: Workload, members: Members) -> list[tuple[str, PodClass]]:
    """Return a class of the newest pods, and one of each older revision with placed pods."""
    label = _REVISIONS.get(workload.kind, "")
    newest = cluster.shared_class(workload.template) if workload.template is not None else None
    if newest is None:
        return [("", each) for each in list(members.classes)[:1]]
    found = {newest.labels.get(label, ""): newest}
    for each in members.classes if label else ():
        found.setdefault(each.labels.get(label, ""), each)
    (_, first), *older = found.items()
    return [("", first), *older]


def _constraint(
    counted: CountedConstraint, arithmetic: ConstraintArithmetic, spread: Spread, whose: Whose | None
) -> ConstraintStatus:
    domains = arithmetic.domains
    assert isinstance(domains, Domains), "of a cluster they are columns"
    holding, matching = domains.holding, domains.pods
    is_empty = np.ones(min(len(domains), len(holding) + MOST_NAMED), dtype=np.bool_)
    is_empty[holding[holding < len(is_empty)]] = False
    nodes = repeat(0) if whose is None else domains.nodes[holding].tolist()
    return ConstraintStatus(
        topology_key=arithmetic.topology_key,
        when_unsatisfiable=arithmetic.when_unsatisfiable,
        max_skew=arithmetic.max_skew,
        min_domains=arithmetic.min_domains,
        position=arithmetic.position,
        origin=arithmetic.origin,
        selector=arithmetic.selector,
        counts_itself=arithmetic.counts_itself,
        minimum=arithmetic.minimum,
        skew=arithmetic.skew,
        domains=tuple(map(DomainPods, domains.names_at(holding), matching.tolist(), nodes)),
        empty=len(domains) - len(holding),
        empty_names=tuple(domains.names_at(is_empty.nonzero()[0][:MOST_NAMED])),
        left_out=tuple(
            UncountedNodes(each.reason, len(each.nodes), each.nodes[:MOST_NAMED]) for each in arithmetic.left_out
        ),
        counted={}
        if whose is None
        else whose(counted.constraint.selector, counted.takes_part(slice(0, spread.nodes.size)), int(matching.sum())),
    )
