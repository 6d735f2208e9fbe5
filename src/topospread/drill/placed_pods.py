"""Start a drill with pods on given nodes, to replay the counterexample of a promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from msgspec.structs import replace as with_fields

from topospread.api.inventory import Inventory, ObjectKey
from topospread.api.meta import ObjectMeta
from topospread.scheduling.cycle import Placement
from topospread.simulation.run import PodOutcome, note_placed

from .drill_state import DrillState
from .pods import FollowedPod


def place_first(state: DrillState, placed: Iterable[tuple[str, str]]) -> None:
    """Place pods one after another on their nodes, before kube-scheduler places the other pods.

    Pods of DaemonSets are placed before them. If a node is not feasible, kube-scheduler places the pod elsewhere.

    Args:
        state: a drill that has not begun.
        placed: workload, ``NAMESPACE/KIND/NAME``, and node of each pod.
    """
    waiting: dict[str, list[FollowedPod]] = {}
    for pod in state.pods.waiting.values():
        if pod.workload is not None and not pod.is_refused:
            waiting.setdefault(f"{pod.namespace}/{pod.workload.kind}/{pod.workload.name}", []).append(pod)
    for pods in waiting.values():
        if pods[0].workload is not None and pods[0].workload.kind == "DaemonSet":
            for pod in pods:
                _place(state, pod)
    for workload, node in placed:
        if pods := waiting.get(workload, []):
            _place(state, pods.pop(0), node)
    state.queue.leave_out({id(each.queued) for each in state.pods.by_key.values() if each.queued and each.node})


def _place(state: DrillState, pod: FollowedPod, node: str = "") -> None:
    feasible = state.run.scheduler.verdict(pod.pod, pod.name).feasible
    if feasible:
        bind_free(state, pod, node if node in feasible else feasible[0])
        take_from_queue(state, pod)


def bind_free(state: DrillState, pod: FollowedPod, node: str) -> None:
    """Bind a pod that has no node, with its volumes."""
    free = with_fields(pod.pod, spec=with_fields(pod.pod.spec, node_name=""))
    pod_class, row = state.cluster.shared_class(free), state.cluster.nodes.row_of[node]
    state.run.scheduler.bind(pod.key, pod_class, row)
    if pod_class.volumes:
        state.run.scheduler.reserve(pod_class, row)


def take_from_queue(state: DrillState, pod: FollowedPod) -> None:
    """Record that a pending pod was bound outside of kube-scheduler's queue."""
    queued = pod.queued
    assert queued is not None, "a pending pod is queued"
    state.queue.withdrawn(queued)
    node = state.cluster.nodes.names[state.cluster.placed[pod.key]]
    state.run.outcomes[id(queued)] = PodOutcome(Placement(pod.key, node))
    note_placed(state.run, queued, pod.key)
    state.collect()


def without_pods_of(inventory: Inventory, key: ObjectKey) -> Inventory:
    """Return the inventory without the pods and ReplicaSets of a workload."""
    owned = [each for each in inventory.replica_sets if _is_owned(each.metadata, {key})]
    owners = {key, *(("ReplicaSet", each.namespace, each.name) for each in owned)}
    return replace(
        inventory,
        pods=[each for each in inventory.pods if not _is_owned(each.metadata, owners)],
        replica_sets=[each for each in inventory.replica_sets if each not in owned],
    )


def _is_owned(metadata: ObjectMeta, owners: set[ObjectKey]) -> bool:
    owner = metadata.controller
    return owner is not None and (owner.kind, metadata.namespace or "", owner.name) in owners
