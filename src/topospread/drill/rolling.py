"""Continue rollouts of Deployments, StatefulSets and DaemonSets step by step, like their controllers.

`workloads.rolling`, `workloads.rolling_stateful_set` and `workloads.rolling_daemon_set` decide which pods are replaced.
`rollouts` starts rollouts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from msgspec.structs import replace

from topospread.api.inventory import ObjectKey, key_of
from topospread.api.rollout import strategy_of, strategy_of_daemon_set, strategy_of_stateful_set
from topospread.api.workload import DaemonSet, Deployment, StatefulSet
from topospread.controllers.daemon_set import target_node
from topospread.controllers.planned import Workload
from topospread.controllers.rolling import (
    OnNode,
    Ordinal,
    RolloutStatus,
    nodes_to_replace,
    ordinals_to_replace,
    to_create,
    to_remove,
)

from .drill_state import REPLACED, DrillState
from .pods import FollowedPod
from .replacement_pods import is_of
from .result import DrillRollout


def template_item(state: DrillState, key: ObjectKey) -> Deployment | StatefulSet | DaemonSet | None:
    """Return the current object whose template is rolled out."""
    inventory = state.run.plan.inventory
    items: Iterable[Deployment | StatefulSet | DaemonSet]
    match key[0]:
        case "Deployment":
            items = inventory.deployments
        case "StatefulSet":
            items = inventory.stateful_sets
        case _:
            items = inventory.daemon_sets
    return next((each for each in items if (each.namespace, each.name) == key[1:]), None)


def go_on(state: DrillState, key: ObjectKey) -> bool:
    """Take the next step of a rollout. Return False if the rollout has no further step."""
    workload, item = state.workload(key), template_item(state, key)
    if workload is None or item is None:
        return False
    pods = RolledPods(state, workload)
    match item:
        case Deployment():
            return not item.spec.paused and _deployment_goes_on(state, pods, item)
        case StatefulSet():
            return _stateful_set_goes_on(state, pods, item)
        case _:
            return _daemon_set_goes_on(state, pods, item)


def rollout_state(state: DrillState, key: ObjectKey) -> DrillRollout | None:
    """Return the progress of a rollout; None if its workload is deleted."""
    workload, item = state.workload(key), template_item(state, key)
    if workload is None or item is None:
        return None
    pods = RolledPods(state, workload)
    if isinstance(item, Deployment):
        status = pods.status
        return DrillRollout(*key, status.new_available, status.replicas, status.old, status.is_over)
    there = pods.every
    meant = workload.replicas
    if isinstance(item, StatefulSet):
        strategy = strategy_of_stateful_set(item, workload.replicas)
        first = _start(item) + (strategy.partition if strategy else meant)
        there = [each for each in there if first <= each.ordinal]
        meant = max(meant - strategy.partition, 0) if strategy else 0
    elif strategy_of_daemon_set(item, meant) is None:
        there, meant = [], 0
    updated = sum(pods.is_new(each) and state.is_ready(each) for each in there)
    old = sum(not pods.is_new(each) for each in there)
    return DrillRollout(*key, min(updated, meant), meant, old, over=not old and updated >= meant)


@dataclass(slots=True)
class RolledPods:
    """The pods of a rollout by revision, without terminating pods."""

    state: DrillState
    workload: Workload

    @property
    def all(self) -> list[FollowedPod]:
        """All pods, including terminating ones."""
        return self.state.pods.of(key_of(self.workload))

    @property
    def every(self) -> list[FollowedPod]:
        """New and old pods, without terminating pods."""
        return [each for each in self.all if not each.terminating]

    def is_new(self, pod: FollowedPod) -> bool:
        """Return whether a pod has the new revision."""
        template = self.workload.template
        if template is None:
            return False
        if pod.compared is None or pod.compared[0] is not template:
            pod.compared = template, is_of(pod.pod, template, self.workload.kind)
        return pod.compared[1]

    @property
    def status(self) -> RolloutStatus:
        """The number of pods in each state."""
        counts = {(new, ready): 0 for new in (True, False) for ready in (True, False)}
        for each in self.every:
            counts[self.is_new(each), self.state.is_ready(each)] += 1
        return RolloutStatus(
            self.workload.replicas, counts[True, True], counts[True, False], counts[False, True], counts[False, False]
        )


def _deployment_goes_on(state: DrillState, pods: RolledPods, item: Deployment) -> bool:
    workload, status = pods.workload, pods.status
    strategy = strategy_of(replace(item, spec=replace(item.spec, replicas=workload.replicas)))
    if strategy is None:
        return _recreate(state, pods)
    created = to_create(status, strategy)
    if created:
        state.create(workload, created)
        return True
    number = sum(to_remove(status, strategy))
    if not number:
        return False
    every = pods.every
    order = state.in_order_of_removal([each for each in every if not pods.is_new(each)], every)
    return state.delete(order[:number], REPLACED, replaced=False)


def _recreate(state: DrillState, pods: RolledPods) -> bool:
    """Delete all old pods, then create new ones after the old have disappeared
    (pkg/controller/deployment/recreate.go)."""
    old = [each for each in pods.all if not pods.is_new(each)]
    running = [each for each in old if not each.terminating]
    if running:
        return state.delete(running, REPLACED, replaced=False)
    missing = pods.workload.replicas - len(pods.every)
    if old or missing <= 0:
        return False
    state.create(pods.workload, missing)
    return True


def _stateful_set_goes_on(state: DrillState, pods: RolledPods, item: StatefulSet) -> bool:
    strategy = strategy_of_stateful_set(item, pods.workload.replicas)
    if strategy is None:
        return False
    by_ordinal = {each.ordinal: each for each in pods.all}
    start = _start(item)
    there = [by_ordinal.get(start + place) for place in range(pods.workload.replicas)]
    places = ordinals_to_replace(
        [
            None if each is None else Ordinal(pods.is_new(each), state.is_ready(each), each.terminating)
            for each in there
        ],
        strategy,
        in_order=item.spec.pod_management_policy != "Parallel",
        at_once=state.gates.enabled("MaxUnavailableStatefulSet"),
    )
    return state.delete([each for place in places if (each := there[place]) is not None], REPLACED)


def _daemon_set_goes_on(state: DrillState, pods: RolledPods, item: DaemonSet) -> bool:
    strategy = strategy_of_daemon_set(item, pods.workload.replicas)
    if strategy is None:
        return False
    new: dict[str, FollowedPod] = {}
    old: dict[str, FollowedPod] = {}
    nodes: dict[str, OnNode] = {}
    for each in state.draws.order(sorted(pods.all, key=lambda each: each.key)):
        name = target_node(each.pod) or each.node
        if not each.terminating:
            (new if pods.is_new(each) else old)[name] = each
        nodes[name] = OnNode(
            state.is_ready(new[name]) if name in new else None, state.is_ready(old[name]) if name in old else None
        )
    empty = pods.workload.replicas - len(nodes)
    nodes |= {f"without a pod {number}": OnNode() for number in range(empty)}
    going, coming = nodes_to_replace(nodes, strategy)
    state.create_on(pods.workload, coming)
    gone = state.delete([old[name] for name in going], REPLACED, replaced=not strategy.max_surge)
    return gone or bool(coming)


def _start(item: StatefulSet) -> int:
    return (item.spec.ordinals.start if item.spec.ordinals else 0) or 0
