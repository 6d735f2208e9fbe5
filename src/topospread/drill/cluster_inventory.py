"""Convert a drill's current state to an inventory, from which controllers plan again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace as with_fields

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.pod import Pod, PodCondition, PodStatus
from topospread.api.policy import PodDisruptionBudgetStatus
from topospread.api.timestamps import snapshot_time, timestamp
from topospread.controllers.removal import is_leaving
from topospread.simulation.final_inventory import inventory_with
from topospread.simulation.run import Run

from .pods import FollowedPod

_SOME_TIME = 1_767_225_600.0
"""Start time of drills whose input has no time: the beginning of 2026."""


def begin_of(inventory: Inventory) -> float:
    """Return the start time of a drill in Unix seconds: the time of the snapshot."""
    return snapshot_time(inventory.nodes, inventory.pods) or _SOME_TIME


def without_leaving(inventory: Inventory, down: Collection[str]) -> Inventory:
    """Return the cluster without terminating pods on healthy nodes, because their kubelet will end them."""
    pods = [each for each in inventory.pods if not (is_leaving(each) and each.spec.node_name not in down)]
    return inventory if len(pods) == len(inventory.pods) else with_fields(inventory, pods=pods)


def with_budgets_open(inventory: Inventory) -> Inventory:
    """Return the cluster with budget statuses that allow no eviction yet; `Health` computes them during the drill."""
    kept = PodDisruptionBudgetStatus(disruptions_allowed=0)
    return with_fields(
        inventory, pod_disruption_budgets=[replace(each, status=kept) for each in inventory.pod_disruption_budgets]
    )


def as_they_stand(run: Run, pods: Iterable[FollowedPod], times: Times, down: Collection[str]) -> Inventory:
    """Return the cluster's objects at this moment of the drill, as an API server would list them.

    Args:
        run: the simulation, with workloads and volumes.
        pods: the drill's pods.
        times: the drill's times.
        down: nodes that are NotReady.
    """
    finished = [each for each in run.plan.inventory.pods if each.phase in ("Succeeded", "Failed")]
    nodes = [each for each in run.cluster.nodes.nodes if each is not None]
    return with_fields(inventory_with(run, [*finished, *(stored(each, times, down) for each in pods)]), nodes=nodes)


class Times:
    """Converts drill times to timestamps. Holds the drill's start in Unix seconds, and the seconds since then."""

    def __init__(self, begin: float, now: float) -> None:
        self.begin = begin
        self.seconds = begin + now
        self.now = self.text(now)

    def text(self, seconds: float) -> str:
        """Return a drill time as a timestamp. Times before the start become one moment before it."""
        return timestamp(self.begin + max(seconds, -1))


def stored(each: FollowedPod, times: Times, down: Collection[str]) -> Pod:
    """Return a pod as the API server would store it."""
    pod = each.pod
    metadata = replace(
        pod.metadata,
        name=each.name,
        namespace=each.namespace,
        generate_name=None,
        creation_timestamp=pod.metadata.creation_timestamp or times.text(each.created),
        deletion_timestamp=times.now if each.terminating else None,
    )
    if not each.node:
        return replace(pod, metadata=metadata, status=replace(pod.status or PodStatus(), phase=pod.phase or "Pending"))
    return replace(
        pod, metadata=metadata, spec=replace(pod.spec, node_name=each.node), status=_status(each, times, down)
    )


def with_uid(pod: Pod, uid: str) -> Pod:
    """Return the pod with this uid."""
    return replace(pod, metadata=replace(pod.metadata, uid=uid))


def _status(each: FollowedPod, times: Times, down: Collection[str]) -> PodStatus:
    """Return a running and ready status. Pods of the input keep their status while it is true."""
    given = each.pod.status
    is_own = each.queued is None and given is not None and given.phase
    if is_own and given is not None and each.node not in down and each.ready_since < 0:
        return given
    status = "False" if each.node in down else "True"
    ready = PodCondition(type="Ready", status=status, last_transition_time=times.text(each.ready_since))
    scheduled = PodCondition(type="PodScheduled", status="True")
    return replace(given or PodStatus(), phase="Running", nominated_node_name=None, conditions=[scheduled, ready])
