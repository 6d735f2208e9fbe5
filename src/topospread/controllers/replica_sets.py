"""Deployments, ReplicaSets and ReplicationControllers → pods; rollouts are not simulated.

Existing pods of any revision count as replicas; missing pods are created from the newest template. Sources:
pkg/controller/deployment/{sync,util/deployment_util}.go, pkg/controller/replicaset/replica_set.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from topospread.admission.names import generated_uid, replica_set_name
from topospread.api.labels import LabelSelector
from topospread.api.meta import ObjectMeta, OwnerReference
from topospread.api.pod import Pod, PodTemplateSpec
from topospread.api.timestamps import seconds
from topospread.api.workload import Deployment, ReplicaSet, ReplicaSetSpec, ReplicationController
from topospread.errors import UsageError
from topospread.whole_number import whole_number

from .controllers import Controller, controller, owner_reference
from .draft import Draft
from .planned import Workload
from .removal import is_active, related_pods, removal_order
from .revisions import TEMPLATE_HASH_LABEL, canonical, note_old_pods, note_other_revisions, revision_hash


def plan_replica_set(draft: Draft, owner: Controller, siblings: Sequence[Controller]) -> None:
    """Plan a ReplicaSet or ReplicationController that no Deployment of the input manages.

    ``siblings``: the ReplicaSets of its owner, itself included; empty without an owner.
    """
    item = owner.object
    if not isinstance(item, ReplicaSet | ReplicationController):
        raise TypeError(f"{owner.kind} is no ReplicaSet")
    active = [pod for pod in owner.pods if is_active(pod)]
    desired = draft.desired(owner, item.spec.replicas)
    if item.metadata.deletion_timestamp:
        desired = len(active)
    if not desired and not owner.pods and item.metadata.controller is not None:
        return  # an old revision, which an unread owner keeps for a rollback
    row = draft.row(owner.kind, owner.namespace, owner.name, desired)
    removed = _surplus(draft, [owner], siblings, len(active) - desired)
    _settle(draft, row, [owner], removed)
    _replicate(draft, row, owner, desired - len(active))
    note_other_revisions(row, row.existing)


def plan_deployment(draft: Draft, owner: Controller, replica_sets: Sequence[Controller]) -> None:
    """Plan a Deployment with the ReplicaSets that it owns.

    Raises:
        UsageError: if --scale names one of its ReplicaSets, which the Deployment would scale back.
    """
    item = owner.object
    if not isinstance(item, Deployment):
        raise TypeError(f"{owner.kind} is no Deployment")
    for each in replica_sets:
        if each.key in draft.scale:
            raise UsageError(f"replicaset/{each.name} is managed: scale deployment/{owner.name} instead")
    active = [pod for each in replica_sets for pod in each.pods if is_active(pod)]
    desired = draft.desired(owner, item.spec.replicas)
    row = draft.row(owner.kind, owner.namespace, owner.name, desired)
    # The ReplicaSet with the Deployment's template. If several match, because they differ only in fields that are not
    # read, take the highest revision.
    wanted = canonical(item.spec.template)
    alike = [each for each in replica_sets if canonical(each.template) == wanted]
    newest = max(alike, key=_age, default=None)
    in_use = [each for each in replica_sets if any(map(is_active, each.pods))]
    if item.metadata.deletion_timestamp:
        desired = row.replicas = len(active)
    elif item.spec.paused and newest is None:
        newest = _of_paused(row, in_use, replica_sets)
        desired = desired if newest else len(active)
    old = [each for each in in_use if each is not newest]
    note_old_pods(row, sum(sum(map(is_active, each.pods)) for each in old), changed=newest is None)
    missing = desired - len(active)
    if newest is None and not (item.spec.paused or item.metadata.deletion_timestamp):
        newest = _new_replica_set(draft, owner, item, max(missing, 0))
    removed: list[Pod] = []
    if len(in_use) <= 1 or _is_scaled(draft, owner, in_use, desired):
        removed = _surplus(draft, in_use, replica_sets, -missing)
    _settle(draft, row, replica_sets, removed)
    if newest is not None:
        _replicate(draft, row, newest, missing)


def _settle(draft: Draft, row: Workload, owners: Iterable[Controller], removed: Sequence[Pod]) -> None:
    gone = {id(pod) for pod in removed}
    draft.remove(removed)
    for each in owners:
        draft.keep(row, (pod for pod in each.pods if id(pod) not in gone))


def _replicate(draft: Draft, row: Workload, owner: Controller, missing: int) -> None:
    pod = draft.admitted(owner, owner.new_pod(), needed=missing > 0)
    row.template = pod
    draft.replicate(row, pod, max(missing, 0), owner.name)


def _age(each: Controller) -> tuple[int, float]:
    metadata = each.object.metadata
    revision = metadata.annotations.revision if metadata.annotations else None
    number = whole_number(revision) or 0
    return number, seconds(metadata.creation_timestamp) or 0.0


def _of_paused(row: Workload, in_use: Sequence[Controller], replica_sets: Sequence[Controller]) -> Controller | None:
    """Return the ReplicaSet that a paused Deployment scales (sync.go, ``scale``); ``None`` if several are in use.

    Also add a note that the Deployment is paused.
    """
    if not replica_sets:
        row.notes.append("it is paused and has no ReplicaSet yet: its pods are not created")
        return None
    row.notes.append("it is paused: pods of its newest template are not created")
    if len(in_use) > 1:
        return None
    return in_use[0] if in_use else max(replica_sets, key=_age)


def _is_scaled(draft: Draft, owner: Controller, in_use: Iterable[Controller], desired: int) -> bool:
    """Return whether the Deployment's replicas changed since its ReplicaSets were scaled (``isScalingEvent``)."""
    if owner.key in draft.scale:
        return True
    annotations = (each.object.metadata.annotations for each in in_use)
    seen = (each.desired_replicas for each in annotations if each is not None)
    return any(each is not None and each != str(desired) for each in seen)


def _surplus(draft: Draft, owners: Sequence[Controller], siblings: Sequence[Controller], surplus: int) -> list[Pod]:
    """Return the pods to remove, in proportion to the ReplicaSets' sizes. The largest ReplicaSet loses the remainder.

    ``siblings``: the ReplicaSets whose pods count as related (`related_pods`).

    Source: ``scale`` in sync.go, ``GetReplicaSetProportion``. The surge of a rollout is not considered.
    """
    if surplus <= 0:
        return []
    groups = [[pod for pod in each.pods if is_active(pod)] for each in owners]
    active = sum(map(len, groups))
    remaining = active - surplus
    order = sorted(range(len(groups)), key=lambda i: (-len(groups[i]), _age(owners[i]), owners[i].name))
    shares = dict.fromkeys(order, 0)
    left = surplus
    for rounding in (True, False):
        for i in order:
            size = len(groups[i])
            share = size - _rounded(size * remaining, active) if rounding else size - shares[i]
            shares[i] += min(share, left)
            left -= min(share, left)
    selectors = [each.selector for each in siblings]
    related = related_pods(draft.plan.inventory.pods, owners[0].namespace, selectors)
    now = draft.now
    return [pod for i in order for pod in removal_order(groups[i], related, now)[: shares[i]]]


def _rounded(numerator: int, denominator: int) -> int:
    """Return the quotient, halves rounded up."""
    return (2 * numerator + denominator) // (2 * denominator)


def _new_replica_set(draft: Draft, owner: Controller, item: Deployment, replicas: int) -> Controller:
    """Return the ReplicaSet that the Deployment controller would create, and add it to the inventory."""
    template_hash = revision_hash(item.spec.template)
    made = _made_replica_set(owner, item, replica_set_name(item.name, template_hash), template_hash)
    made = replace(made, spec=replace(made.spec, replicas=replicas))
    draft.plan.inventory.replica_sets.append(made)
    note = (
        "Names of ReplicaSets that do not exist yet are generated: the Deployment controller will give them another "
        "pod-template-hash"
    )
    if note not in draft.plan.notes:
        draft.plan.notes.append(note)
    return controller("ReplicaSet", made, owner.place)


def missing_replica_set(owner: Controller, reference: OwnerReference, pod: Pod) -> ReplicaSet | None:
    """Return a ReplicaSet that is missing from the input, made from a Deployment's template.

    Return ``None`` if the pod that references it does not show that the Deployment owns it.
    """
    template_hash = pod.labels.get(TEMPLATE_HASH_LABEL, "")
    named_after = replica_set_name(owner.name, template_hash)
    if reference.kind != "ReplicaSet" or not template_hash or reference.name != named_after:
        return None
    if not isinstance(owner.object, Deployment) or not owner.selector.matches(pod.labels):
        return None
    made = _made_replica_set(owner, owner.object, reference.name, template_hash)
    metadata = replace(
        made.metadata, uid=reference.uid or made.metadata.uid, creation_timestamp=pod.metadata.creation_timestamp
    )
    return replace(made, metadata=metadata)


def _made_replica_set(owner: Controller, item: Deployment, name: str, template_hash: str) -> ReplicaSet:
    template: PodTemplateSpec = item.spec.template
    labels = {**(template.metadata.labels or {}), TEMPLATE_HASH_LABEL: template_hash}
    selector = item.spec.selector or LabelSelector(match_labels=template.metadata.labels)
    required = {**(selector.match_labels or {}), TEMPLATE_HASH_LABEL: template_hash}
    return ReplicaSet(
        api_version="apps/v1",
        kind="ReplicaSet",
        metadata=ObjectMeta(
            name=name,
            namespace=owner.namespace,
            uid=generated_uid("ReplicaSet", owner.namespace, name),
            labels=labels,
            owner_references=[owner_reference("Deployment", item)],
        ),
        spec=ReplicaSetSpec(
            selector=replace(selector, match_labels=required),
            template=replace(template, metadata=replace(template.metadata, labels=labels)),
        ),
    )
