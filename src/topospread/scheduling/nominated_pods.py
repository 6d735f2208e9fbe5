"""Nodes that are promised to other pods: whether a pod fits beside those. Who is promised what stands in the cluster.

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
"""The pods to which a node is promised."""


def nominated_beside(pod: str, pod_class: PodClass, cluster: Cluster) -> dict[int, Beside]:
    """Nodes promised to other pods of the same or a higher priority: row → those pods."""
    found = ((row, promised_to_others(pod, pod_class, cluster, row)) for row in cluster.nominated)
    return {row: others for row, others in found if others}


def promised_to_others(pod: str, pod_class: PodClass, cluster: Cluster, row: int) -> Beside:
    """The other pods of the same or a higher priority that one node is promised to."""
    promised, least = cluster.nominated.get(row), pod_class.priority
    if not promised:
        return {}
    return {key: each for key, each in promised.items() if key != pod and each.priority >= least}


def blocked_by_nominated(pod: str, view: View) -> list[int]:
    """Rows where the pod does not fit beside the pods that the node is promised to."""
    beside = nominated_beside(pod, view.pod_class, view.cluster)
    return [
        row for row, others in beside.items() if not view.node_local.open[row] or rejection_beside(view, row, others)
    ]


def rejection_beside(view: View, row: int, others: Beside) -> tuple[str, Status] | None:
    """Return the first plugin that rejects a node once the pods nominated for it are added; ``None`` if none does.

    Where a plugin does that looks at what the node has and its pods use in sum, and those before it at the node alone,
    that is remembered: it stays so as long as the node is as it is.
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
