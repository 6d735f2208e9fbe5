"""The inventory of the cluster after a simulation. Another simulation can start from it.

Objects look as if an API server had stored them: all have uids, placed pods are ready, workloads have the simulated
replicas, and claims have their volumes. New objects have no creation time, so they count as younger than all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace as with_fields
from typing import TypeVar

from msgspec.structs import replace

from topospread.admission.names import generated_uid
from topospread.api.device_claims import ResourceClaim
from topospread.api.inventory import Inventory, key_of
from topospread.api.kinds import KINDS
from topospread.api.meta import KubeObject
from topospread.api.pod import Pod, PodCondition, PodResourceClaimStatus, PodStatus
from topospread.api.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet
from topospread.cluster.cluster import pod_key
from topospread.cluster.objects import ClusterObjects
from topospread.controllers.planned import QueuedPod
from topospread.errors import Place

from .run import PodOutcome, Run

Object = TypeVar("Object", bound=KubeObject)
_HAVE_REPLICAS = (Deployment, ReplicaSet, ReplicationController, StatefulSet)


def inventory_after(run: Run) -> Inventory:
    """Return the inventory after a run.

    It lacks pods that were not created, were removed or were evicted, and claims that are assumed but not bound.
    PodDisruptionBudgets have no status, so that the next simulation computes it.
    """
    return inventory_with(run, _pods(run))


def inventory_with(run: Run, pods: Iterable[Pod]) -> Inventory:
    """Return the inventory after a run, with these pods instead of the run's."""
    objects = run.cluster.objects
    inventory = run.plan.inventory
    claims = [each for key, each in objects.persistent_volume_claims.items() if key not in objects.assumed_claims]
    after = with_fields(
        inventory,
        pods=list(pods),
        persistent_volume_claims=claims,
        persistent_volumes=list(objects.persistent_volumes.values()),
        resource_claims=[_of_stored_pods(each) for each in objects.resource_claims.values()],
        read_from=None,
        pod_disruption_budgets=[replace(each, status=None) for each in inventory.pod_disruption_budgets],
        configurations=[],
        skipped=Counter(),
        warnings=[],
        notes=[],
        # Workloads keep their order. The files do not have the stored objects.
        places={key: Place(object=f"{key[0]} {'/'.join(filter(None, key[1:]))}") for key in inventory.places},
    )
    replicas = {key_of(each): each.replicas for each in run.plan.workloads}
    for kind, how in KINDS.items():
        items = getattr(after, how.attribute)
        setattr(after, how.attribute, [_stored(kind, _scaled(kind, each, replicas)) for each in items])
    return after


def _scaled(kind: str, item: Object, replicas: dict[tuple[str, str, str], int]) -> Object:
    wanted = replicas.get((kind, item.namespace, item.name))
    if wanted is None or not isinstance(item, _HAVE_REPLICAS):
        return item
    return replace(item, spec=replace(item.spec, replicas=wanted))


def _stored(kind: str, item: Object) -> Object:
    if item.metadata.uid:
        return item
    uid = generated_uid(kind, item.namespace, item.name)
    return replace(item, metadata=replace(item.metadata, uid=uid))


def _of_stored_pods(claim: ResourceClaim) -> ResourceClaim:
    """Return a claim whose references to its users and owner have the uids that `_stored` gives to them."""

    def uid(known: str, name: str) -> str:
        return generated_uid("Pod", claim.namespace, name) if known == pod_key(claim.namespace, name) else known

    users = [replace(each, uid=uid(each.uid, each.name)) for each in claim.status.reserved_for or ()]
    owners = [replace(each, uid=uid(each.uid, each.name)) for each in claim.metadata.owner_references or ()]
    status = replace(claim.status, reserved_for=users or None)
    return replace(claim, status=status, metadata=replace(claim.metadata, owner_references=owners or None))


def _pods(run: Run) -> Iterable[Pod]:
    """Yield all existing pods, those from before the run first."""
    gone = {pod_key(pod.namespace, pod.name) for pod in run.plan.removed}
    gone |= {f"{each.namespace}/{each.name}" for each in run.evictions}
    before = (*run.plan.inventory.pods, *run.plan.bound)
    pods = {key: pod for pod in before if (key := pod_key(pod.namespace, pod.name)) not in gone}
    queue = [(each, run.outcomes[id(each)]) for each in run.queue]
    for queued, outcome in queue:
        if not outcome.evicted and not _is_not_created(queued, outcome):
            key = pod_key(queued.namespace, queued.name)
            pod = _as_it_is(queued, outcome, run.cluster.nominated_node(key))
            pods[key] = _with_claims(pod, run.cluster.objects) if pod.spec.resource_claims else pod
    for queued in run.plan.gated:
        pods[pod_key(queued.namespace, queued.name)] = _named(queued)
    return pods.values()


def _is_not_created(queued: QueuedPod, outcome: PodOutcome) -> bool:
    """Return whether the pod's StatefulSet has not created it, because its predecessor is pending."""
    return queued.after is not None and outcome.pending and outcome.verdict is None


def _as_it_is(queued: QueuedPod, outcome: PodOutcome, nominated: str) -> Pod:
    """Return a queued pod as Running on its node, or pending with its ``nominated`` node."""
    pod = _named(queued)
    node = outcome.placement.node
    if node is None:
        return replace(pod, status=replace(pod.status or PodStatus(), nominated_node_name=nominated or None))
    ready = [PodCondition(type=each, status="True") for each in ("PodScheduled", "Ready")]
    status = replace(pod.status or PodStatus(), phase="Running", nominated_node_name=None, conditions=ready)
    return replace(pod, spec=replace(pod.spec, node_name=node), status=status)


def _with_claims(pod: Pod, objects: ClusterObjects) -> Pod:
    """Return a pod with the names of the claims that were generated for it."""
    known = {each.name for each in (pod.status.resource_claim_statuses or ())} if pod.status is not None else set()
    made = [
        PodResourceClaimStatus(name=each.name, resource_claim_name=f"{pod.name}-{each.name}")
        for each in pod.spec.resource_claims or ()
        if each.name not in known and (pod.namespace, f"{pod.name}-{each.name}") in objects.resource_claims
    ]
    status = pod.status or PodStatus()
    return replace(
        pod, status=replace(status, resource_claim_statuses=[*(status.resource_claim_statuses or ()), *made] or None)
    )


def _named(queued: QueuedPod) -> Pod:
    pod = queued.pod
    if pod.spec.unjudged_admission or pod.spec.refused_admission:
        pod = replace(pod, spec=replace(pod.spec, unjudged_admission=None, refused_admission=None))
    metadata = replace(pod.metadata, name=queued.name, namespace=queued.namespace, generate_name=None)
    status = pod.status or PodStatus()
    return replace(pod, metadata=metadata, status=replace(status, phase=status.phase or "Pending"))
