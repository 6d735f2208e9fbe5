"""Feasibility of nodes that are nominated for other pods: the pod must fit together with these pods.

Source: pkg/scheduler/framework/runtime/framework.go (``RunFilterPluginsWithNominatedPods``).
"""

from __future__ import annotations

from collections.abc import Mapping

from topospread.cluster import Cluster, PodClass
from topospread.cluster.cluster import PodKey
from topospread.plugins.interface import Scope, Status

from .dry_run import DryRun
from .view import View

Beside = Mapping[PodKey, PodClass]
"""Pods for which one node is nominated."""


def nominated_beside(pod: str, pod_class: PodClass, cluster: Cluster) -> dict[int, Beside]:
    """Return row → other pods of the same or a higher priority for which the node is nominated."""
    found = ((row, nominated_for_others(pod, pod_class, cluster, row)) for row in cluster.nominated)
    return {row: others for row, others in found if others}


def nominated_for_others(pod: str, pod_class: PodClass, cluster: Cluster, row: int) -> Beside:
    """Return the other pods of the same or a higher priority for which one node is nominated."""
    promised, least = cluster.nominated.get(row), pod_class.priority
    if not promised:
        return {}
    return {key: each for key, each in promised.items() if key != pod and each.priority >= least}


def blocked_by_nominated(pod: str, view: View) -> list[int]:
    """Return the rows where the pod does not fit together with the node's nominated pods."""
    beside = nominated_beside(pod, view.pod_class, view.cluster)
    return [
        row for row, others in beside.items() if not view.node_local.open[row] or rejection_beside(view, row, others)
    ]


def rejection_beside(view: View, row: int, others: Beside) -> tuple[str, Status] | None:
    """Return the first plugin that rejects a node after its nominated pods are added, and its status.

    Return ``None`` if no plugin does. A rejection is cached until the node or its usage changes if its plugin reads
    only summed usage, and the plugins before it read only the node.
    """
    cluster = view.cluster
    promised = (cluster.nodes.nodes[row], cluster.nodes.state(row), tuple(each.key for each in others.values()))
    known = view.beside.get(row)
    if known is not None and known[0] == promised:
        return known[1]
    with DryRun(view, row) as dry_run:
        for key, each in others.items():
            dry_run.add(key, each)
        if dry_run.passes():
            return None
        if view.plugins.rejected is not None:
            return view.plugins.rejected
        rejecting, code = dry_run.rejecting()
        found = rejecting.plugin, rejecting.filter.status(code)
    filters = view.plugins.filters
    if all(each.filter.scope <= Scope.USAGE for each in filters[: filters.index(rejecting) + 1]):
        view.beside[row] = (promised, found)
    return found
