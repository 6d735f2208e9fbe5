"""Updates of nodes and pods as events for the scheduling queue.

Changes of conditions and annotations make no event, because no modelled plugin registers for them.
Source: pkg/scheduler/framework/events.go (``NodeSchedulingPropertiesChange``, ``PodSchedulingPropertiesChange``).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from topospread.api.node import Node
from topospread.api.pod import Pod, PodResourceClaimStatus
from topospread.api.quantity import Quantity
from topospread.api.requests import CURRENT_RULES, RequestRules, requested_quantities
from topospread.api.running_resources import quantities
from topospread.plugins.cluster_event import (
    NODE_ALLOCATABLE,
    NODE_DECLARED_FEATURE,
    NODE_LABEL,
    NODE_TAINT,
    POD_CLAIM,
    POD_GATES_ELIMINATED,
    POD_LABEL,
    POD_SCALE_DOWN,
    POD_SCALE_UP,
    POD_TOLERATION,
    UPDATE,
    ClusterEvent,
    Resource,
)


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """Return the events of a node's update in kube-scheduler's order; empty if scheduling reads no changed field."""
    changed = {
        NODE_TAINT: bool(old.spec.unschedulable) and not new.spec.unschedulable,
        NODE_ALLOCATABLE: quantities(old.status.allocatable) != quantities(new.status.allocatable),
        NODE_LABEL: old.labels != new.labels,
    }
    actions = [action for action, is_so in changed.items() if is_so]
    if (old.spec.taints or []) != (new.spec.taints or []):
        actions.append(NODE_TAINT)
    if (old.status.declared_features or []) != (new.status.declared_features or []):
        actions.append(NODE_DECLARED_FEATURE)
    return [ClusterEvent("Node", action) for action in actions]


def taints_changed(old: Node, new: Node) -> Hashable | None:
    """Return a key of a node update: equal for nodes with equal label keys and the same change of taints.

    Return ``None`` if the update changed labels.
    """
    if old.labels != new.labels:
        return None
    states = ((bool(each.spec.unschedulable), *(each.spec.taints or ())) for each in (old, new))
    return (*states, frozenset(new.labels))


def pod_changes(
    old: Pod, new: Pod, *, is_target: bool = False, rules: RequestRules = CURRENT_RULES
) -> list[ClusterEvent]:
    """Return the events of a pod's update; a general update event if no specific one applies."""
    before, after = requested_quantities(old, rules), requested_quantities(new, rules)
    changed = {
        POD_LABEL: old.labels != new.labels,
        POD_SCALE_DOWN: _exceeds(before, after),
        POD_SCALE_UP: _exceeds(after, before),
        POD_GATES_ELIMINATED: bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates,
        POD_CLAIM: _generated_claims(old) != _generated_claims(new),
        POD_TOLERATION: len(old.spec.tolerations or ()) != len(new.spec.tolerations or ()),
    }
    resource: Resource = "AssignedPod" if new.spec.node_name else "TargetPod" if is_target else "UnscheduledPod"
    actions = [action for action, is_so in changed.items() if is_so] or [UPDATE]
    return [ClusterEvent(resource, action) for action in actions]


def _generated_claims(pod: Pod) -> list[PodResourceClaimStatus]:
    return (pod.status.resource_claim_statuses or []) if pod.status is not None else []


def _exceeds(requests: Mapping[str, Quantity], others: Mapping[str, Quantity]) -> bool:
    """Return whether any request is higher than in ``others``, or missing there."""
    return any(
        name not in others or amount.milli_value() > others[name].milli_value() for name, amount in requests.items()
    )
