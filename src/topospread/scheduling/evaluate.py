"""Every node under every plugin: the verdict. The fast way to the chosen node alone is in `cycle`."""

from __future__ import annotations

import numpy as np

from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints
from topospread.cluster.cluster import PodKey
from topospread.plugins.interface import UNRESOLVABLE, PluginError, Status
from topospread.plugins.pod_topology_spread import PodTopologySpread
from topospread.plugins.spread_arithmetic import spread_arithmetic

from .framework import Framework, Judges
from .trial import Trial
from .verdict import RejectionList, Verdict
from .view import View, points_of

LEFT_OUT_BY_PRE_FILTER = "PreFilterResult"
"""In place of a plugin, for nodes that PreFilter did not leave."""


def verdict_of(pod: str, view: View, framework: Framework) -> Verdict:
    """The verdict on a pod ``namespace/name``, from a view that is up to date."""
    nodes = view.cluster.nodes
    rows = np.flatnonzero(nodes.alive[: nodes.size])
    names = tuple(nodes.names[row] for row in rows)
    rejections = RejectionList()
    blame = _blame(view.judges, rows, view, rejections)
    _blame_beside_nominated(pod, view, rows, blame, rejections)
    points: dict[str, Ints] = {}
    feasible = rows[blame < 0]
    if len(feasible):
        points = {each.plugin: each.weight * points_of(each, feasible) for each in view.judges.scores}
    rejected = None if framework.rules.counts_pre_filter else view.judges.rejected
    spread = framework.plugins.get("PodTopologySpread")
    return Verdict(
        pod=pod,
        nodes=names,
        blame=blame,
        rejections=tuple(rejections.rejections),
        points=points,
        pre_filter=", ".join(rejected[1].reasons) if rejected else "",
        arithmetic=spread_arithmetic(spread, view.pod_class, view.cluster)
        if isinstance(spread, PodTopologySpread)
        else (),
    )


def failed_verdict(pod: str, view_error: PluginError, names: tuple[str, ...]) -> Verdict:
    """The verdict on a pod that a plugin cannot judge: no node is feasible, none is rejected."""
    return Verdict(
        pod=pod, nodes=names, blame=np.zeros(len(names), dtype=np.int64), rejections=(), error=str(view_error)
    )


def nominated_beside(pod: str, pod_class: PodClass, cluster: Cluster) -> dict[int, dict[PodKey, PodClass]]:
    """Nodes promised to other pods of the same or a higher priority: row → those pods."""
    found = {}
    for row, pods in cluster.nominated.items():
        others = {key: each for key, each in pods.items() if key != pod and each.priority >= pod_class.priority}
        if others:
            found[row] = others
    return found


def blocked_by_nominated(pod: str, view: View) -> list[int]:
    """Rows where the pod does not fit beside the pods that the node is promised to."""
    blocked = []
    for row, others in nominated_beside(pod, view.pod_class, view.cluster).items():
        with Trial(view, row) as trial:
            for key, each in others.items():
                trial.add(key, each)
            if not trial.passes():
                blocked.append(row)
    return blocked


def _blame_beside_nominated(pod: str, view: View, rows: Ints, blame: Ints, rejections: RejectionList) -> None:
    """Where a node is promised to others, what the filters say with those there goes first.

    Source: ``RunFilterPluginsWithNominatedPods``: with them, and if that passes, without.
    """
    if view.judges.rejected is not None:
        return
    for row, others in nominated_beside(pod, view.pod_class, view.cluster).items():
        position = np.flatnonzero(rows == row)
        if blame[position[0]] >= 0 and rejections.rejections[blame[position[0]]].plugin == LEFT_OUT_BY_PRE_FILTER:
            continue
        with Trial(view, row) as trial:
            for key, each in others.items():
                trial.add(key, each)
            if not trial.passes():
                blame[position] = _blame(view.judges, rows[position], view, rejections)


def _blame(judges: Judges, rows: Ints, view: View, rejections: RejectionList) -> Ints:
    """For each node the number of the first rejection, −1 where there is none, int64[rows]."""
    blame = np.full(len(rows), -1, dtype=np.int64)
    if judges.rejected is not None:
        blame[:] = rejections.number(*judges.rejected)
        return blame
    if judges.narrowed is not None:
        row_of = view.cluster.nodes.row_of
        kept = [row_of[name] for name in judges.narrowed if name in row_of]
        reason = f"node(s) didn't satisfy plugin(s) [{' '.join(judges.narrowing)}]"
        status = Status(UNRESOLVABLE, (reason,) if judges.names_left_out else ())
        blame[~np.isin(rows, kept)] = rejections.number(LEFT_OUT_BY_PRE_FILTER, status)
    for each in judges.filters:
        left = np.flatnonzero(blame < 0)
        if not len(left):
            break
        codes = each.filter.filter(rows[left])
        for code in np.unique(codes[codes != 0]).tolist():
            blame[left[codes == code]] = rejections.number(each.plugin, each.filter.status(code))
    return blame
