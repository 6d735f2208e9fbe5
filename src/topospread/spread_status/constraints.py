"""The constraints of a workload as they stand: what each counts, domain by domain; whom it would let in is not asked.

The numbers are PodTopologySpread's own counts, so that a cluster of thousands of hostnames costs arrays, not objects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from topospread.api.labels import Selector
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools
from topospread.plugins.interface import PluginError
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import Domains, arithmetic_of
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.scheduling.cycle import Scheduler
from topospread.simulation.counted import CountedPods, PodOwners
from topospread.workloads.planned import Workload

from .members import Members
from .result import MOST_NAMED, ConstraintStatus, DomainPods, LeftOutNodes

Whose = Callable[[Selector, Bools, int], CountedPods]
"""Whose pods a selector counts on nodes that take part, so many in all."""

_REVISIONS = {"Deployment": "pod-template-hash", "StatefulSet": "controller-revision-hash"}
"""Kind → the label that tells its revisions apart."""


def constraints_of(
    scheduler: Scheduler, workload: Workload, members: Members, owners: PodOwners
) -> tuple[tuple[ConstraintStatus, ...], str]:
    """The constraints in force, hard ones first, and what is wrong with them where they cannot be judged.

    Those of older pods that are still there stand behind those of the newest, where they differ in anything.
    """
    found: list[ConstraintStatus] = []
    problem = ""
    for revision, pod_class in _revisions(scheduler.cluster, workload, members):
        try:
            stated = _stated(scheduler, pod_class, partial(owners.counted, workload))
        except PluginError as error:
            problem = str(error)
            continue
        known = {replace(each, revision="") for each in found}
        found += [replace(each, revision=revision) for each in stated if each not in known]
    return tuple(found), problem


def _revisions(cluster: Cluster, workload: Workload, members: Members) -> list[tuple[str, PodClass]]:
    """A class of the newest pods, and one of each older revision that has pods on nodes."""
    label = _REVISIONS.get(workload.kind, "")
    newest = cluster.shared_class(workload.template) if workload.template is not None else None
    if newest is None:
        return [("", each) for each in list(members.classes)[:1]]
    found = {newest.labels.get(label, ""): newest}
    for each in members.classes if label else ():
        found.setdefault(each.labels.get(label, ""), each)
    (_, first), *older = found.items()
    return [("", first), *older]


def _stated(scheduler: Scheduler, pod_class: PodClass, whose: Whose) -> list[ConstraintStatus]:
    plugin = scheduler.framework_of(pod_class).plugins.get("PodTopologySpread")
    if not isinstance(plugin, PodTopologySpread):
        return []
    spread = plugin.prepare(pod_class, scheduler.cluster).watcher
    if not isinstance(spread, Spread):
        return []
    return [_constraint(each, spread, whose) for each in (*spread.hard, *spread.soft)]


def _constraint(counted: CountedConstraint, spread: Spread, whose: Whose) -> ConstraintStatus:
    arithmetic = arithmetic_of(counted, spread)
    domains = arithmetic.domains
    assert isinstance(domains, Domains), "of a cluster they are columns"
    holding, empty = np.flatnonzero(domains.matching > 0), np.flatnonzero(domains.matching == 0)
    matching, nodes = domains.matching[holding], domains.nodes[holding]
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
        domains=tuple(map(DomainPods, domains.names_at(holding), matching.tolist(), nodes.tolist())),
        empty=len(empty),
        empty_names=tuple(domains.names_at(empty[:MOST_NAMED])),
        left_out=tuple(
            LeftOutNodes(each.reason, len(each.nodes), each.nodes[:MOST_NAMED]) for each in arithmetic.left_out
        ),
        counted=whose(
            counted.constraint.selector, counted.takes_part(slice(0, spread.nodes.size)), int(matching.sum())
        ),
    )
