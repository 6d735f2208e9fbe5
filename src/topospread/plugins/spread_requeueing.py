"""PodTopologySpread's queueing hints: the events that may make a pod schedulable after a hard constraint rejected it.

Source: plugins/podtopologyspread/plugin.go (``EventsToRegister``, ``isSchedulableAfter…``) of 1.32 to 1.37.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from topospread.api.node import Node
from topospread.api.pod import Pod
from topospread.cluster import Cluster

from .cluster_event import (
    ADD,
    DELETE,
    NODE_LABEL,
    NODE_TAINT,
    POD_LABEL,
    POD_TOLERATION,
    ClusterEvent,
    Registration,
    takes_room,
)
from .spread_constraints import Constraint, ConstraintsInForce

_CLASSES_KEPT = 1 << 12


def spread_registrations(
    cluster: Cluster, constraints: ConstraintsInForce, *, counts_nominated: bool
) -> Sequence[Registration]:
    """Return registrations for events of counted pods, of nodes, and of the pending pod's own labels and tolerations.

    ``counts_nominated``: whether a pod with a nominated node counts as assigned.
    """
    hard = _hard_of(cluster, constraints)
    return (
        Registration(
            ClusterEvent("AssignedPod", ADD | POD_LABEL | DELETE),
            lambda pod, old, new: (
                _concerns(pod, old, new, counts_nominated=counts_nominated) and _counted_otherwise(old, new, hard(pod))
            ),
        ),
        Registration(
            ClusterEvent("TargetPod", POD_TOLERATION | POD_LABEL),
            lambda pod, old, new: _after_target_pod(old, new, hard(pod)),
        ),
        Registration(
            ClusterEvent("Node", ADD | DELETE | NODE_LABEL | NODE_TAINT),
            lambda pod, old, new: _after_node(old, new, hard(pod)),
        ),
    )


def _hard_of(cluster: Cluster, constraints: ConstraintsInForce) -> Callable[[Pod], list[Constraint]]:
    """Return a function that finds the hard constraints of a pod. It caches them by pod class."""
    known: dict[tuple[int, str], tuple[int, list[Constraint]]] = {}

    def hard(pod: Pod) -> list[Constraint]:
        pod_class, version = cluster.shared_class(pod), cluster.objects.version
        found = known.get(pod_class.key)
        if found is None or found[0] != version:
            if len(known) > _CLASSES_KEPT:
                known.clear()
            found = known[pod_class.key] = (version, constraints(pod_class, cluster, "DoNotSchedule"))
        return found[1]

    return hard


def _concerns(pod: Pod, old: Pod | None, new: Pod | None, *, counts_nominated: bool) -> bool:
    """Return whether the other pod is in the pod's namespace and assigned (``involvedInTopologySpreading``)."""
    for each in (old, new):
        if each is not None and not (
            each.namespace == pod.namespace and takes_room(each, counts_nominated=counts_nominated)
        ):
            return False
    return True


def _counted_otherwise(old: Pod | None, new: Pod | None, constraints: Sequence[Constraint]) -> bool:
    """Return whether any constraint counts the pod before its update but not after, or the reverse."""
    for each in constraints:
        matches = each.selector.matches
        if (old is not None and matches(old.labels)) != (new is not None and matches(new.labels)):
            return True
    return False


def _after_target_pod(old: Pod, new: Pod, constraints: Sequence[Constraint]) -> bool:
    if (old.spec.tolerations or []) != (new.spec.tolerations or []) and any(each.honors_taints for each in constraints):
        return True
    return _counted_otherwise(old, new, constraints)


def _after_node(old: Node | None, new: Node | None, constraints: Sequence[Constraint]) -> bool:
    """Return whether a node with all topology keys was added or deleted, or its domains or taints changed."""
    keys = [each.topology_key for each in constraints]
    had = old is not None and all(key in old.labels for key in keys)
    has = new is not None and all(key in new.labels for key in keys)
    if old is None or new is None or had != has:
        return had or has
    moved = any(old.labels.get(key, "") != new.labels.get(key, "") for key in keys)
    return has and (moved or (old.spec.taints or []) != (new.spec.taints or []))
