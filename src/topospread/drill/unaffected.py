"""Prove that pods which topospread does not judge cannot change the harm of a drain or of a node failure.

Such a pod may get any node or none. The proof covers every such course, and every choice between feasible nodes:

- Pods move only if they are pending at first or evicted. A set of nodes is *roomy* for a pod if all moving pods
  together, judged or not, cannot fill all of its nodes, so that one of them has room at any time.
- A workload whose pods only need resources and at most one hard constraint is *always placed* if an admitted domain
  always has roomy nodes.
- Pending pods *always wait* if every node rejects them for a reason that no course changes.

If each moving workload is one of these two, every course ends with the same newly pending pods. Budgets block the same
evictions, because the pods that they select have the same nodes when the step begins, and their replacements are placed
at once. There is no proof if a moving pod may preempt or has pod affinity, or if a budget selects a pod without a
judgement.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topospread.cluster.arrays import Bools, Ints
from topospread.cluster.nodes import NON_ZERO_CPU, NON_ZERO_MEMORY
from topospread.cluster.pod_class import has_pod_affinity
from topospread.controllers.draining import treatment
from topospread.controllers.node_lifecycle import no_execute
from topospread.plugins.spread_arithmetic import ConstraintArithmetic
from topospread.plugins.spread_counts import CountedConstraint, Spread
from topospread.scheduling.view import View
from topospread.simulation.run import spread_of
from topospread.simulation.unknown import is_unjudged

from .drill_state import DrillState
from .pods import FollowedPod, owner_of
from .result import StepOutcome
from .steps import Drain, Fail, Step

_SPREAD, _FIT, _AFFINITY_OF_PODS = "PodTopologySpread", "NodeResourcesFit", "InterPodAffinity"
_CORDON, _TAINTS = "NodeUnschedulable", "TaintToleration"
_STATIC = {_CORDON, _TAINTS, "NodeAffinity", "NodeName"}
"""Filters that read only the pod's spec and the node."""


def is_unaffected(state: DrillState, steps: Sequence[Step], outcomes: Sequence[StepOutcome]) -> bool:
    """Return whether it is proved that the harm is the same whichever nodes, or none, the unjudged pods get.

    Args:
        state: the state at the end of the drill, in which these pods got no node.
        steps: the steps. Only a single drain or failure can be unaffected: after it, a pod may be on a node that
            another step drains.
        outcomes: their outcomes, and the beginning.
    """
    is_single = len(steps) == 1 and isinstance(steps[0], Drain | Fail)
    # A forced drain also deletes pods that no controller replaces.
    return is_single and not (isinstance(steps[0], Drain) and steps[0].forced) and _Proof(state, outcomes).holds


class _Proof:
    def __init__(self, state: DrillState, outcomes: Sequence[StepOutcome]) -> None:
        self._state, self._cluster = state, state.cluster
        self._outcomes = first, _ = outcomes
        events = [event for each in outcomes for event in each.events]
        self._evicted, placed = (
            {(pod.namespace, pod.workload) for each in some if each.kind == kind for pod in each.pods}
            for some, kind in ((events, "evicted"), (first.events, "placed"))
        )
        self._early = placed | {(each.namespace, each.workload) for each in first.pending}
        """(namespace, workload) of pods that are pending at first, or placed before the step."""
        self._nodes = {
            kind: {name for each in events if each.kind == kind for name in each.nodes}
            for kind in ("cordoned", "down", "tainted")
        }
        pods = state.pods.by_key.values()
        self._moving = [each for each in pods if each.queued is not None and not each.terminating]
        self._leaving = [each for each in pods if each.terminating]
        self._unjudged, self._unjudged_at_end = map(_unjudged, outcomes)
        self._open = [each for each in self._moving if each.key in self._unjudged]
        row_of = self._cluster.nodes.row_of
        self._at = {name: at for at, name in enumerate(row_of)}
        """Name of a node → its position in ``_rows`` and in all arrays here."""
        self._rows: Ints = np.fromiter(row_of.values(), np.int64, len(row_of))

    @property
    def holds(self) -> bool:
        state, open_ = self._state, self._open
        if not self._is_simple or not all(map(self._waits, open_)):
            return False
        judged: dict[int, list[FollowedPod]] = {}
        for each in self._moving:
            if each.key not in self._unjudged:
                judged.setdefault(id(each.workload), []).append(each)
        waiting, left = list[FollowedPod](), list[list[FollowedPod]]()
        for pods in judged.values():
            if self._always_wait(pods):
                waiting += pods
            else:
                left.append(pods)
        # In another course, an early pod may be on the lost or drained node, where it changes what budgets allow.
        # A StatefulSet does not replace it there while the node is NotReady.
        early = [each for pods in left for each in pods if _key(each) in self._early]
        early += [each for each in self._leaving if each.queued is not None]
        # Only early pods can change why kube-scheduler has found no node for a pod that is not judged.
        owners = [each.workload for each in (*early, *(open_ if early else ()))]
        may_stay = any(state.successors.waits(each) for each in owners if each is not None)
        if (self._nodes["down"] and may_stay) or any(map(state.health.budgets_of, (*open_, *early))):
            return False
        unsure = (each for pods in left if self._has_other_domains(pods[0]) for each in pods)
        if self._may_preempt([*open_, *waiting, *early, *unsure]):
            return False
        moving = [*open_, *(each for pods in left for each in pods)]
        return not any(has_pod_affinity(each.pod) for each in moving) and all(
            self._are_always_placed(pods, moving) for pods in left
        )

    @property
    def _is_simple(self) -> bool:
        """True if no rule beyond those of the proof decides what moving pods do."""
        state, scheduler = self._state, self._state.run.scheduler
        is_known = state.queue.groups is None and scheduler.topology_labels is None and not self._may_differ()
        # With this gate, claims take resources of nodes that the pod does not request.
        is_known &= not state.run.options.in_force[0].enabled("DRANodeAllocatableResources")
        is_known &= self._unjudged == self._unjudged_at_end and len(self._open) == len(self._unjudged)
        # A pod that nothing recreates stops a drain.
        is_known &= not any(treatment(each.pod) == "refused" for each in self._open)
        judged = (each.workload for each in self._moving if each.key not in self._unjudged)
        is_known &= all(each is not None and each.template is not None for each in judged)
        is_known &= not any(each.is_refused for each in self._moving)
        return is_known and not self._nodes["cordoned"] & state.down and self._are_replaced()

    def _are_replaced(self) -> bool:
        """Return whether each evicted pod is replaced or terminating, so that constraints know which pods left."""
        if self._nodes["down"]:
            return True
        for namespace, owner in self._evicted:
            kind, _, name = owner.partition("/")
            workload = self._state.workload((kind, namespace, name))
            if workload is None or workload.template is None:
                return False
            there = [each for each in self._state.pods.of((kind, namespace, name)) if not each.terminating]
            if len(there) < workload.replicas:
                return False
        return True

    def _may_differ(self) -> bool:
        """Return whether an unjudged part may also change a pod, so that its requests and priority are unknown."""
        verdicts = (each.verdict for each in self._outcomes[0].pending if is_unjudged(each))
        return any(part.changes_pod for each in verdicts if each for part in each.unjudged)

    def _waits(self, pod: FollowedPod) -> bool:
        """Return whether kube-scheduler itself has found no node for an unjudged pod, and no step moves its workload.

        So it is not on the lost or drained node. A pod may be on that node if kube-scheduler's last attempt is unknown.
        """
        found = (pod.pod.status.conditions if pod.pod.status else None) or ()
        rejected = any(
            (each.type, each.status, each.reason) == ("PodScheduled", "False", "Unschedulable") for each in found
        )
        return rejected and _key(pod) not in self._evicted

    def _has_other_domains(self, pod: FollowedPod) -> bool:
        """Return whether domains of a constraint count while nodes are tainted one after another, but not at the end.

        In between, the pod may find no node.
        """
        view = self._state.run.scheduler.view(self._cluster.shared_class(pod.pod))
        return bool(self._nodes["down"]) and any(each.constraint.honors_taints for each in _hard(view))

    def _may_preempt(self, pods: Sequence[FollowedPod]) -> bool:
        placed = [each for each in self._state.pods.by_key.values() if each.node]
        least = min((self._cluster.shared_class(each.pod).priority for each in placed), default=0)
        return any(self._cluster.shared_class(each.pod).priority > least for each in pods)

    def _view(self, pods: Sequence[FollowedPod]) -> View | None:
        """Return the view of a workload's pods if they are equal and only filters reject them.

        No hard constraint may count moving or terminating pods of another workload.
        """
        classes = {self._cluster.shared_class(each.pod) for each in pods}
        view = self._state.run.scheduler.view(next(iter(classes)))
        plugins, selects = view.plugins, [each.constraint.selector.matches for each in _hard(view)]
        is_plain = plugins.rejected is None and plugins.narrowed is None and not plugins.unjudged and len(classes) == 1
        others = (each for each in (*self._moving, *self._leaving) if each.workload is not pods[0].workload)
        counts = any(one.namespace == pods[0].namespace and any(it(one.labels) for it in selects) for one in others)
        return view if is_plain and not counts else None

    def _always_wait(self, pods: Sequence[FollowedPod]) -> bool:
        """Return whether every node rejects a workload's pending pods in every course."""
        view = self._view(pods)
        if view is None or any(each.node for each in pods) or _key(pods[0]) in self._evicted:
            return False
        nodes, honors = self._cluster.nodes, any(each.constraint.honors_taints for each in _hard(view))
        closed = np.zeros(len(self._rows), dtype=np.bool_)
        closed[[self._at[name] for names in self._nodes.values() for name in names]] = True
        lasting = np.zeros(len(self._rows), dtype=np.bool_)
        for each in view.plugins.filters:
            if each.plugin in _STATIC or (each.plugin == _SPREAD and not honors):
                # The nodes of the step were open before.
                may_last = ~closed if each.plugin in (_CORDON, _TAINTS) else True
                lasting |= (each.filter.filter(self._rows) != 0) & may_last
        for name, amount in view.pod_class.request.items():
            column = nodes.resources.get(name)
            lasting |= amount > (nodes.allocatable[self._rows, column] if column is not None else 0)
        return bool(lasting.all())

    def _are_always_placed(self, pods: Sequence[FollowedPod], moving: Sequence[FollowedPod]) -> bool:
        """Return whether all of a workload's pods find nodes in every course."""
        view = self._view(pods)
        if view is None or view.pod_class.volumes:
            return False
        admits = np.ones(len(self._rows), dtype=np.bool_)
        for each in view.plugins.filters:
            if each.plugin not in {*_STATIC, _FIT, _SPREAD, _AFFINITY_OF_PODS}:
                return False
            if each.plugin not in (_FIT, _SPREAD):
                admits &= each.filter.filter(self._rows) == 0
        names = list(self._at)
        # A pod that tolerates such a node's taints is not ready there, or leaves it after a time.
        passing = any(names[at] in self._state.down or no_execute(self._state.node(names[at])) for at in _true(admits))
        if passing or not all(each.node and admits[self._at[each.node]] for each in pods):
            return False
        if not _hard(view):
            return self._are_roomy(admits, pods[0], moving)
        own, *others = (each for each in spread_of(self._state.run.scheduler, view.pod_class) if each.hard)
        return not others and self._always_has_a_domain(own, admits, pods, moving)

    def _always_has_a_domain(
        self, own: ConstraintArithmetic, admits: Bools, pods: Sequence[FollowedPod], moving: Sequence[FollowedPod]
    ) -> bool:
        """Return whether a domain of the only hard constraint accepts each pod of a workload in every course."""
        if not own.counts_itself or own.lacks_domains:
            return False
        domains = {name: self._state.node(name).labels.get(own.topology_key) for name in self._at}
        of_row = np.array([*domains.values()], dtype=object)
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
        used = nodes.used[self._rows]
        for each in moving:
            if each.node:
                used[self._at[each.node]] -= taken[id(each)]
        others: Ints = np.zeros(used.shape[1], dtype=np.int64)
        for each in moving:
            others += taken[id(each)] if each is not pod else 0
        asked = [at for at in _true(taken[id(pod)]) if at not in (NON_ZERO_CPU, NON_ZERO_MEMORY)]
        left: Ints = (nodes.allocatable[self._rows] - used - taken[id(pod)])[which]
        left = left[(left[:, asked] >= 0).all(axis=1)]
        fills = [at for at in asked if (left[:, at] < others[at]).any()]
        if not fills:
            return bool(len(left))
        shares = np.min([left[:, at] / others[at] for at in fills], axis=0)
        return float(shares.sum()) > len(fills)


def _unjudged(outcome: StepOutcome) -> set[str]:
    return {f"{each.namespace}/{pod}" for each in outcome.pending if is_unjudged(each) for pod in each.pods}


def _hard(view: View) -> Sequence[CountedConstraint]:
    prepared = view.plugins.prepared.get(_SPREAD)
    return prepared.watcher.hard if prepared is not None and isinstance(prepared.watcher, Spread) else ()


def _true(values: Bools | Ints) -> list[int]:
    """Return the positions of all values other than zero."""
    found: list[int] = np.flatnonzero(values).tolist()
    return found


def _key(pod: FollowedPod) -> tuple[str, str]:
    return pod.namespace, owner_of(pod)
