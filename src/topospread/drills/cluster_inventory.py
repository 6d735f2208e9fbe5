"""The cluster of a drill as an inventory that controllers can look at anew; what they make of it is the planners'."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace as with_fields
from datetime import UTC, datetime

from msgspec.structs import replace

from topospread.api.inventory import Inventory
from topospread.api.pod import Pod, PodCondition, PodStatus
from topospread.api.policy import PodDisruptionBudgetStatus
from topospread.simulation.final_inventory import inventory_with
from topospread.simulation.run import Run
from topospread.workloads.removal import is_leaving
from topospread.workloads.timestamps import snapshot_time

from .pods import FollowedPod

_SOME_TIME = 1_767_225_600.0
"""When a drill begins where nothing in the input tells: the beginning of 2026."""


def begin_of(inventory: Inventory) -> float:
    """Return when a drill begins, in seconds since 1970: the time of the snapshot."""
    return snapshot_time(inventory.nodes, inventory.pods) or _SOME_TIME


def without_leaving(inventory: Inventory, down: Collection[str]) -> Inventory:
    """The cluster without pods that are about to be gone: terminating ones whose kubelet is there to end them."""
    pods = [each for each in inventory.pods if not (is_leaving(each) and each.spec.node_name not in down)]
    return inventory if len(pods) == len(inventory.pods) else with_fields(inventory, pods=pods)


def with_budgets_open(inventory: Inventory) -> Inventory:
    """The cluster with budgets whose statuses a drill keeps itself, from the first preemption on."""
    kept = PodDisruptionBudgetStatus(disruptions_allowed=0)
    return with_fields(
        inventory, pod_disruption_budgets=[replace(each, status=kept) for each in inventory.pod_disruption_budgets]
    )


def as_they_stand(run: Run, pods: Iterable[FollowedPod], times: Times, down: Collection[str]) -> Inventory:
    """Return the cluster's objects at this moment of the drill, as an API server would list them.

    Args:
        run: has the workloads and volumes.
        pods: the drill's pods.
        times: the present time of the drill.
        down: nodes whose kubelet is silent.
    """
    finished = [each for each in run.plan.inventory.pods if each.phase in ("Succeeded", "Failed")]
    nodes = [each for each in run.cluster.nodes.nodes if each is not None]
    return with_fields(inventory_with(run, [*finished, *(stored(each, times, down) for each in pods)]), nodes=nodes)


class Times:
    """Moments of a drill as objects carry them: seconds since 1970 when it began, and since then until now."""

    def __init__(self, begin: float, now: float) -> None:
        self.begin = begin
        self.seconds = begin + now
        self.now = self.text(now)

    def text(self, seconds: float) -> str:
        """A moment; what was before the drill began was just before."""
        return datetime.fromtimestamp(self.begin + max(seconds, -1), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def stored(each: FollowedPod, times: Times, down: Collection[str]) -> Pod:
    """A pod as an API server would have it."""
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
    """The pod with a uid."""
    return replace(pod, metadata=replace(pod.metadata, uid=uid))


def _status(each: FollowedPod, times: Times, down: Collection[str]) -> PodStatus:
    """Running and ready as a kubelet would say; what the input says of its own pods stays, as long as it is so."""
    given = each.pod.status
    is_own = each.queued is None and given is not None and given.phase
    if is_own and given is not None and each.node not in down and each.ready_since < 0:
        return given
    status = "False" if each.node in down else "True"
    ready = PodCondition(type="Ready", status=status, last_transition_time=times.text(each.ready_since))
    scheduled = PodCondition(type="PodScheduled", status="True")
    return replace(given or PodStatus(), phase="Running", nominated_node_name=None, conditions=[scheduled, ready])
