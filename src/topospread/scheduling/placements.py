"""Placements of a pod group: sets of nodes that its topology constraint allows, and their scores.

Source: plugins topologyaware, podgrouppodscount and noderesources (``ScorePlacement``) of Kubernetes 1.37.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from topospread.api.requests import fit_scoring_requests
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.plugins.interface import MAX_NODE_SCORE, NotJudgedError
from topospread.plugins.resource_scoring import Demand, ResourceReader, most_allocated

from .framework import Framework

FIT, COUNT = "NodeResourcesFit", "PodGroupPodsCount"
_JUDGED = frozenset({FIT, COUNT})


class Assignment(NamedTuple):
    """A placement in which pods of the group find nodes.

    Attributes:
        rows: rows of the placement's nodes.
        pods: class of each pod that finds a node there.
        scheduled: number of the group's pods that already have nodes.
    """

    rows: Ints
    pods: Sequence[PodClass]
    scheduled: int


def placements_by(topology_key: str, cluster: Cluster, scheduled: Sequence[int]) -> dict[str, Ints]:
    """Return domain of a topology key → rows of its nodes. If pods of the group have nodes, return only their domain.

    ``scheduled``: rows of the nodes of the group's pods that have nodes.

    Raises:
        NotJudgedError: if these pods are in several domains, or outside of all domains.
    """
    rows, _ = cluster.nodes.there
    column = cluster.nodes.labels(topology_key)
    codes = column.codes[rows]
    held = {int(column.codes[row]) for row in scheduled}
    if len(held) > 1 or any(code < 0 for code in held):
        raise NotJudgedError("podGroups", "spec.schedulingGroup", f"a PodGroup whose pods share no {topology_key}")
    domains = held or {code for code in codes.tolist() if code >= 0}
    found = {str(column.values[code]): rows[codes == code] for code in domains}
    return {name: found[name] for name in sorted(found) if len(found[name])}


def scores(framework: Framework, cluster: Cluster, assignments: Sequence[Assignment]) -> list[int]:
    """Return the score of each placement (``RunPlacementScorePlugins``).

    Raises:
        NotJudgedError: if a plugin that topospread does not model scores placements.
    """
    totals = [0] * len(assignments)
    for plugin in framework.profile.plugins.get("placement_score", ()):
        if plugin.name not in _JUDGED:
            raise NotJudgedError("podGroups", "spec.schedulingGroup", f"the placement scores of {plugin.name}")
        if plugin.name == FIT:
            points = [_fit(framework, cluster, each) for each in assignments]
        else:
            counts = [each.scheduled + len(each.pods) for each in assignments]
            points = [count * MAX_NODE_SCORE // max(counts) for count in counts]
        totals = [total + plugin.weight * each for total, each in zip(totals, points, strict=True)]
    return totals


def _fit(framework: Framework, cluster: Cluster, assignment: Assignment) -> int:
    """Return NodeResourcesFit's score of a placement, computed from the summed resources of its nodes."""
    requests: Counter[str] = Counter()
    for pod_class in assignment.pods:
        requests.update(fit_scoring_requests(pod_class.pod, cluster.rules))
    resources = framework.profile.args.node_resources_fit.scoring_strategy.resources
    demands = []
    for each in ResourceReader(resources, requests, cluster.nodes)(assignment.rows):
        allocated = np.array([(each.allocated * (each.allocatable != 0)).sum()])
        requested = allocated + (each.requested - each.allocated)[:1]
        demands.append(Demand(each.weight, allocated, requested, np.array([each.allocatable.sum()])))
    return int(most_allocated(demands, 1)[0])
