"""The verdict on a pod: every plugin's answer on every node. `node_search` is faster and finds only the chosen node."""

from __future__ import annotations

from collections.abc import Collection

import msgspec
import numpy as np

from topospread.cluster.arrays import Ints, distinct
from topospread.plugins.dynamic_resources.claims import ON_ADDED_NODE
from topospread.plugins.interface import UNRESOLVABLE, CanFail, NotJudgedError, PluginError, Status, offers
from topospread.plugins.spread_arithmetic import arithmetic_as_counted
from topospread.plugins.spread_counts import Spread

from .framework import Framework, PreparedPlugins
from .nominated_pods import nominated_beside, rejection_beside
from .own_rejections import OwnRejections
from .verdict import LEFT_OUT_BY_PRE_FILTER, Rejection, RejectionList, Verdict
from .view import View


def verdict_of(pod: str, view: View, framework: Framework, within: Ints | None = None) -> Verdict:
    """Return the verdict on a pod ``namespace/name`` from a current view. ``within``: rows to evaluate; all if None."""
    rows, names = view.cluster.nodes.there
    if within is not None:
        rows, names = within, tuple(map(view.cluster.nodes.names.__getitem__, within.tolist()))
    rejections = RejectionList(pod)
    blame = _blame_beside_nominated(pod, view, rows, rejections, view.node_local.rejections)
    points: dict[str, Ints] = {}
    feasible = rows[blame < 0]
    if len(feasible):
        points = {each.plugin: each.points(feasible) for each in view.plugins.scores}
    rejected = None if framework.rules.counts_pre_filter else view.plugins.rejected
    spread = view.plugins.prepared.get("PodTopologySpread")
    unjudged = view.plugins.unjudged
    may_fit = len(feasible) or any(ON_ADDED_NODE in each.reasons for each in rejections.rejections)
    if may_fit and not len(feasible):
        unjudged = (*unjudged, NotJudgedError("addedDevices", "spec.resourceClaims", "resource claims", ON_ADDED_NODE))
    return Verdict(
        pod=pod,
        nodes=names,
        blame=blame,
        rejections=tuple(rejections.rejections),
        points=points,
        pre_filter=", ".join(rejected[1].of(pod)) if rejected else "",
        because=rejected[1].because if rejected else "" if len(feasible) else _because(view, rejections),
        arithmetic=arithmetic_as_counted(spread.watcher) if spread and isinstance(spread.watcher, Spread) else (),
        narrowing=view.plugins.narrowing,
        unjudged=unjudged,
        error="; ".join(map(str, unjudged)) if may_fit or any(each.changes_pod for each in unjudged) else "",
    )


def _because(view: View, rejections: RejectionList) -> str:
    """Return the filters' explanations that hold for all nodes."""
    rejecting = {each.plugin for each in rejections.rejections}
    told = (getattr(each.filter, "shortage", None) for each in view.plugins.filters if each.plugin in rejecting)
    return "; ".join(words for each in told if each is not None and (words := each()))


def rejection_on(row: int, pod: str, view: View) -> Rejection | None:
    """Return why one node rejects a pod ``namespace/name``; ``None`` if it does not. The view must be up to date.

    Raises:
        PluginError: if a plugin fails on the node.
    """
    rejections = RejectionList(pod)
    blame = _blame_beside_nominated(pod, view, np.array([row], dtype=np.int64), rejections)
    return rejections.rejections[blame[0]] if blame[0] >= 0 else None


def failed_verdict(pod: str, view_error: PluginError, names: tuple[str, ...]) -> Verdict:
    """Return the verdict on a pod for which a plugin failed: no node is feasible, and none is rejected."""
    return Verdict(
        pod=pod,
        nodes=names,
        blame=np.zeros(len(names), dtype=np.int64),
        rejections=(),
        unjudged=(view_error,) if isinstance(view_error, NotJudgedError) else (),
        error=str(view_error),
    )


class FilterFailure(msgspec.Struct, frozen=True):
    """The error of a plugin on a node; ``place``: index of the node in the evaluated rows."""

    place: int
    error: PluginError


def first_failure(view: View, rows: Ints, blocked: Collection[int] = ()) -> FilterFailure | None:
    """Return the first node on which a plugin fails. kube-scheduler then places the pod on no node.

    Only volume plugins can fail on one node (`CanFail`). ``blocked``: rows that are infeasible because of the node's
    nominated pods.
    """
    filters = [each.filter for each in view.plugins.filters]
    if view.plugins.rejected is not None or not any(offers(each, CanFail) and each.may_fail for each in filters):
        return None
    failures: list[FilterFailure] = []
    left = np.flatnonzero(~np.isin(rows, list(blocked)))
    for each in filters:
        codes = each.filter(rows[left])
        for code in distinct(codes):
            try:
                each.status(code)
            except PluginError as error:
                failures.append(FilterFailure(int(left[codes == code][0]), error))
        left = left[codes == 0]
    return min(failures, key=lambda failure: failure.place, default=None)


def walkable(view: View) -> Ints:
    """Return the rows of the nodes that PreFilter does not exclude, int64[nodes]."""
    nodes = view.cluster.nodes
    narrowed = view.plugins.narrowed
    if narrowed is None:
        return np.flatnonzero(nodes.alive[: nodes.size])
    return np.array([nodes.row_of[name] for name in narrowed if name in nodes.row_of], dtype=np.int64)


def _blame_beside_nominated(
    pod: str, view: View, rows: Ints, rejections: RejectionList, own: OwnRejections | None = None
) -> Ints:
    """Return the index of each node's first rejection, −1 for a feasible node, int64[rows].

    Source: ``RunFilterPluginsWithNominatedPods``: filters run with nominated pods, and if they pass, without them.
    """
    beside = nominated_beside(pod, view.pod_class, view.cluster)
    if not beside:
        return _blame(view.plugins, rows, view, rejections, own)
    kept = walkable(view) if view.plugins.rejected is None else ()
    promised = np.isin(rows, [row for row in beside if row in kept])
    blame = np.full(len(rows), -1, dtype=np.int64)
    blame[~promised] = _blame(view.plugins, rows[~promised], view, rejections, own)
    for place in np.flatnonzero(promised).tolist():
        row = int(rows[place])
        found = rejection_beside(view, row, beside[row])
        if found is not None:
            blame[place] = rejections.number(*found)
        else:
            blame[place] = _blame(view.plugins, rows[place : place + 1], view, rejections)[0]
    return blame


def _blame(
    plugins: PreparedPlugins, rows: Ints, view: View, rejections: RejectionList, own: OwnRejections | None = None
) -> Ints:
    """Return the index of each node's first rejection in the list, −1 for a feasible node, int64[rows].

    ``own``: cached rejections by single-node filters; ``None`` if nominated pods were added to the nodes.
    """
    blame = np.full(len(rows), -1, dtype=np.int64)
    if plugins.rejected is not None:
        blame[:] = rejections.number(*plugins.rejected)
        return blame
    if plugins.narrowed is not None:
        row_of = view.cluster.nodes.row_of
        kept = [row_of[name] for name in plugins.narrowed if name in row_of]
        reason = f"node(s) didn't satisfy plugin(s) [{' '.join(plugins.narrowing)}]"
        status = Status(UNRESOLVABLE, (reason,) if plugins.names_left_out else ())
        blame[~np.isin(rows, kept)] = rejections.number(LEFT_OUT_BY_PRE_FILTER, status)
    left = np.flatnonzero(blame < 0)
    filters = plugins.filters
    if own is not None and own.come_first:
        own.catch_up()
        blame[left] = own.blame(rows[left], rejections)
        left = left[blame[left] < 0]
        filters = filters[own.filters :]
    for each in filters:
        if not len(left):
            break
        codes = each.filter.filter(rows[left])
        if codes.any():
            for code in distinct(codes):
                blame[left[codes == code]] = rejections.number(each.plugin, each.filter.status(code))
            left = left[codes == 0]
    return blame
