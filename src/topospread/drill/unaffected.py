"""Prove that pods which topospread does not judge cannot change the harm of a drain.

Such a pod may get any node or none. The proof covers every such course, and every choice between feasible nodes:

- Pods move only if they are pending at first or evicted. Nodes are *roomy* if all these pods together cannot fill each
  of them, so that one of them accepts a pod in every course.
- A workload whose pods only need resources and at most one hard constraint is *always placed* if an admitted domain
  always has roomy nodes.
- Pending pods *always wait* if every node rejects them for a reason that no course changes.

If each moving workload is one of these two, every course ends with the same newly pending pods, and budgets block the
same evictions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topospread.cluster.arrays import Bools, Ints
from topospread.cluster.nodes import NON_ZERO_CPU, NON_ZERO_MEMORY
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.scheduling.view import View
from topospread.simulation.run import spread_of
from topospread.simulation.unknown import is_unjudged

from .drill_state import DrillState
from .pods import FollowedPod
from .result import StepOutcome
from .steps import Cordon, Drain, Step, Uncordon, Wait

_SPREAD, _FIT, _AFFINITY_OF_PODS = "PodTopologySpread", "NodeResourcesFit", "InterPodAffinity"
_CORDON, _TAINTS = "NodeUnschedulable", "TaintToleration"
_STATIC = {_CORDON, _TAINTS, "NodeAffinity", "NodeName"}
"""Filters that read only the pod's spec and the node."""


def is_unaffected(state: DrillState, steps: Sequence[Step], outcomes: Sequence[StepOutcome]) -> bool:
    """Return whether every node, or none, for the pods that are not judged leaves the harm of the drill as it is.

    Args:
        state: the state at the end of the drill, in which these pods got no node.
        steps: the steps.
        outcomes: their outcomes, and the beginning.
    """
    return (
        _is_one_drain(steps) and _Proof(state, outcomes, [isinstance(each, Drain) for each in steps].index(True)).holds
    )


def _is_one_drain(steps: Sequence[Step]) -> bool:
    """Return whether the steps are a single drain after any cordons and uncordons; nodes only close after it."""
    drains = [at for at, each in enumerate(steps) if isinstance(each, Drain)]
    uncordons = [at for at, each in enumerate(steps) if isinstance(each, Uncordon)]
    others = [each for each in steps if not isinstance(each, Cordon | Drain | Uncordon | Wait)]
    return len(drains) == 1 and not others and all(at < drains[0] for at in uncordons)


class _Proof:
    def __init__(self, state: DrillState, outcomes: Sequence[StepOutcome], drain: int) -> None:
        """``drain``: index of the drain; the outcomes up to this index are before it."""
        self._drain = drain
        self._state, self._cluster = state, state.cluster
        self._outcomes = outcomes
        events = [event for each in outcomes for event in each.events]
        self._evicted = {
            (pod.namespace, pod.workload) for each in events if each.kind == "evicted" for pod in each.pods
        }
        self._nodes = {
            kind: {name for each in events if each.kind == kind for name in each.nodes}
            for kind in ("cordoned", "uncordoned")
        }
        self._moving = [each for each in state.pods.by_key.values() if each.queued is not None and not each.terminating]
        row_of = self._cluster.nodes.row_of
        self._rows: Ints = np.fromiter(row_of.values(), np.int64, len(row_of))

    @property
    def holds(self) -> bool:
        state, unjudged = self._state, [self._unjudged(each) for each in (self._outcomes[0], self._outcomes[-1])]
        if (
            unjudged[0] != unjudged[1]
            or state.queue.groups is not None
            or any(each.is_refused for each in self._moving)
        ):
            return False
        open_ = [each for each in self._moving if each.key in unjudged[0]]
        if len(open_) != len(unjudged[0]) or not all(map(self._waits, open_)) or self._may_preempt():
            return False
        if self._nodes["cordoned"] & (self._nodes["uncordoned"] | state.down):
            return False
        if any(each.workload is None for each in self._moving) or any(map(state.health.budgets_of, open_)):
            return False
        judged: dict[int, list[FollowedPod]] = {}
        for each in self._moving:
            if each not in open_:
                judged.setdefault(id(each.workload), []).append(each)
        left = [pods for pods in judged.values() if not self._always_wait(pods)]
        # In another course, a pod placed before the drain may be on the drained node. Its budget may block the drain.
        if any(self._is_early(pods) and any(map(state.health.budgets_of, pods)) for pods in left):
            return False
        moving = [*open_, *(each for pods in left for each in pods)]
        return not any(map(_has_affinity, moving)) and all(self._are_always_placed(pods, moving) for pods in left)

    @staticmethod
    def _unjudged(outcome: StepOutcome) -> set[str]:
        return {f"{each.namespace}/{pod}" for each in outcome.pending if is_unjudged(each) for pod in each.pods}

    def _waits(self, pod: FollowedPod) -> bool:
        """Return whether kube-scheduler itself has found no node for an unjudged pod, and no step moves its workload.

        So it is not on the node that is drained. A pod that kube-scheduler has not tried may be there.
        """
        found = (pod.pod.status.conditions if pod.pod.status else None) or ()
        rejected = any(
            (each.type, each.status, each.reason) == ("PodScheduled", "False", "Unschedulable") for each in found
        )
        return rejected and not self._is_evicted(pod)

    def _is_evicted(self, pod: FollowedPod) -> bool:
        """Return whether a pod of its workload is evicted."""
        return (pod.namespace, _owner(pod)) in self._evicted

    def _is_early(self, pods: Sequence[FollowedPod]) -> bool:
        """Return whether pods of a workload are pending at first, or are placed before the drain."""
        before = self._outcomes[: self._drain + 1]
        placed = (pod for each in before for event in each.events if event.kind == "placed" for pod in event.pods)
        early = {(each.namespace, each.workload) for each in self._outcomes[0].pending}
        early |= {(pod.namespace, pod.workload) for pod in placed}
        return any((each.namespace, _owner(each)) in early for each in pods)

    def _may_preempt(self) -> bool:
        placed = [each for each in self._state.pods.by_key.values() if each.node]
        least = min((self._cluster.shared_class(each.pod).priority for each in placed), default=0)
        return any(self._cluster.shared_class(each.pod).priority > least for each in self._moving)

    def _view(self, pods: Sequence[FollowedPod]) -> View | None:
        """Return the view of a workload's pods if they are equal and only filters reject them.

        No hard constraint may count moving pods of another workload.
        """
        classes = {self._cluster.shared_class(each.pod) for each in pods}
        view = self._state.run.scheduler.view(next(iter(classes)))
        plugins, selects = view.plugins, [each.constraint.selector.matches for each in _hard(view)]
        is_plain = plugins.rejected is None and plugins.narrowed is None and not plugins.unjudged and len(classes) == 1
        others = (each for each in self._moving if each.workload is not pods[0].workload)
        counts = any(one.namespace == pods[0].namespace and any(it(one.labels) for it in selects) for one in others)
        return view if is_plain and not counts else None

    def _always_wait(self, pods: Sequence[FollowedPod]) -> bool:
        """Return whether every node rejects a workload's pending pods in every course."""
        view = self._view(pods)
        if view is None or any(each.node for each in pods) or self._is_evicted(pods[0]):
            return False
        nodes, honors = self._cluster.nodes, any(each.constraint.honors_taints for each in _hard(view))
        closed = np.array([nodes.names[row] in self._nodes["cordoned"] for row in self._rows.tolist()], dtype=np.bool_)
        lasting = np.zeros(len(self._rows), dtype=np.bool_)
        for each in view.plugins.filters:
            if each.plugin in _STATIC or (each.plugin == _SPREAD and not honors):
                # The drained node was open before.
                may_last = ~closed if each.plugin in (_CORDON, _TAINTS) else True
                lasting |= (each.filter.filter(self._rows) != 0) & may_last
        for name, amount in view.pod_class.request.items():
            column = nodes.resources.get(name)
            lasting |= amount > (nodes.allocatable[self._rows, column] if column is not None else 0)
        return bool(lasting.all())

    def _are_always_placed(self, pods: Sequence[FollowedPod], moving: Sequence[FollowedPod]) -> bool:
        """Return whether all of a workload's pods find nodes in every course."""
        view = self._view(pods)
        if view is None or view.pod_class.volumes or not all(each.node for each in pods):
            return False
        admits = np.ones(len(self._rows), dtype=np.bool_)
        for each in view.plugins.filters:
            if each.plugin not in {*_STATIC, _FIT, _SPREAD, _AFFINITY_OF_PODS}:
                return False
            if each.plugin not in (_FIT, _SPREAD):
                admits &= each.filter.filter(self._rows) == 0
        names = [self._cluster.nodes.names[row] for row in self._rows.tolist()]
        if not _hard(view):
            return self._are_roomy(admits, pods[0], moving)
        if len(_hard(view)) > 1:
            return False
        (own,) = (each for each in spread_of(self._state.run.scheduler, view.pod_class) if each.hard)
        if not own.counts_itself or own.lacks_domains:
            return False
        domains = {name: self._state.node(name).labels.get(own.topology_key) for name in names}
        of_row = np.array([domains[name] or "" for name in names], dtype=object)
        # Count the pods that never move. The moving pods may be in any domain that admits them, or pending.
        at = [domains[each.node] for each in pods]
        fixed = {each.name: each.matching - at.count(each.name) for each in own.domains}
        roomy = {name for name in fixed if self._are_roomy(admits & (of_row == name), pods[0], moving)}
        closed = [number for name, number in fixed.items() if name not in roomy]
        open_ = [number for name, number in fixed.items() if name in roomy]
        # If a pod is pending, each roomy domain exceeds the emptiest other one by maxSkew: too few pods exist for that.
        room = len(open_) * (min(closed, default=0) + own.max_skew)
        return bool(open_) and (not closed or sum(open_) + len(pods) <= room)

    def _are_roomy(self, which: Bools, pod: FollowedPod, moving: Sequence[FollowedPod]) -> bool:
        """Return whether moving pods cannot fill all of these nodes, so that one always has room for the pod.

        A pod that fills a node takes a share of all moving pods' requests for a resource. Shares of one resource add up
        to 1 at most.
        """
        nodes = self._cluster.nodes
        taken = {id(each): self._cluster.shared_class(each.pod).taken(nodes) for each in moving}
        used, row_of = nodes.used[self._rows], {row: at for at, row in enumerate(self._rows.tolist())}
        for each in moving:
            if each.node:
                used[row_of[nodes.row_of[each.node]]] -= taken[id(each)]
        others: Ints = np.zeros(used.shape[1], dtype=np.int64)
        for each in moving:
            others += taken[id(each)] if each is not pod else 0
        asked = [at for at in np.flatnonzero(taken[id(pod)]).tolist() if at not in (NON_ZERO_CPU, NON_ZERO_MEMORY)]
        left: Ints = (nodes.allocatable[self._rows] - used - taken[id(pod)])[which]
        left = left[(left[:, asked] >= 0).all(axis=1)]
        fills = [at for at in asked if (left[:, at] < others[at]).any()]
        if not fills:
            return bool(len(left))
        shares = np.min([left[:, at] / others[at] for at in fills], axis=0)
        return float(shares.sum()) > len(fills)


def _hard(view: View) -> Sequence[CountedConstraint]:
    prepared = view.plugins.prepared.get(_SPREAD)
    return prepared.watcher.hard if prepared is not None and isinstance(prepared.watcher, Spread) else ()


def _owner(pod: FollowedPod) -> str:
    return f"{pod.workload.kind}/{pod.workload.name}" if pod.workload is not None else ""


def _has_affinity(pod: FollowedPod) -> bool:
    affinity = pod.pod.spec.affinity
    return affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)
