"""The selector of default constraints, merged from the selectors of a pod's Services and controller.

Source: pkg/scheduler/framework/plugins/helper/spread.go (``DefaultSelector``).
"""

from __future__ import annotations

from collections.abc import Callable

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.cluster import PodClass
from topospread.cluster.objects import ClusterObjects, Subject


def looked_up(pod_class: PodClass) -> tuple[Subject, ...]:
    """Return the objects that `default_selector` reads for a pod."""
    return tuple((kind, pod_class.namespace) for kind in (Service, ReplicationController, ReplicaSet, StatefulSet))


SelectorOf = Callable[[PodClass, ClusterObjects], Selector]
"""Function that returns the selector of default constraints for a pod."""


def default_selector(pod_class: PodClass, objects: ClusterObjects) -> Selector:
    """Return the selector of a pod's Services and owner; empty if it has neither.

    The label maps of all Services and of an owning ReplicationController are merged. An owning ReplicaSet or
    StatefulSet adds the requirements of its selector. An owner counts only if its apiVersion matches exactly and the
    object exists.
    """
    labels = labels_of_services(pod_class, objects)
    selector = Selector.from_set(labels)
    owner = pod_class.owner
    if owner is None:
        return selector
    key = (pod_class.namespace, owner.name)
    owning: ReplicaSet | StatefulSet | None
    match owner.api_version, owner.kind:
        case "v1" | "/v1", "ReplicationController":  # ``ParseGroupVersion`` parses both as the core group
            controller = objects.replication_controllers.get(key)
            return Selector.from_set(labels | (controller.spec.selector or {})) if controller else selector
        case "apps/v1", "ReplicaSet":
            owning = objects.replica_sets.get(key)
        case "apps/v1", "StatefulSet":
            owning = objects.stateful_sets.get(key)
        case _:
            return selector
    if owning is None:
        return selector
    try:
        of_owner = Selector.from_label_selector(owning.spec.selector)
    except InvalidSelectorError:
        return selector
    return selector.with_requirements(*of_owner.requirements)


def labels_of_services(pod_class: PodClass, objects: ClusterObjects) -> dict[str, str]:
    """Return the merged selectors of the Services that select the pod. For a key, the last Service's value counts."""
    labels: dict[str, str] = {}
    for service in objects.services_selecting(pod_class.namespace, pod_class.labels):
        labels |= service.spec.selector or {}
    return labels
