"""The selector of the Services and the controller a pod belongs to, for constraints that bring none.

Source: pkg/scheduler/framework/plugins/helper/spread.go (``DefaultSelector``); for versions until 1.21 also the
expansions of client-go's listers (``GetPodControllers``, ``GetPodReplicaSets``, ``GetPodStatefulSets``).
"""

from __future__ import annotations

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.cluster import PodClass
from topospread.cluster.objects import ClusterObjects, Subject


def looked_up(pod_class: PodClass) -> tuple[Subject, ...]:
    """The objects that `default_selector` reads for a pod."""
    return tuple((kind, pod_class.namespace) for kind in (Service, ReplicationController, ReplicaSet, StatefulSet))


def default_selector(pod_class: PodClass, objects: ClusterObjects, *, by_owner: bool = True) -> Selector:
    """What selects the pod's group; empty when nothing owns it.

    Services add up to one set of labels; a ReplicationController adds its own to them; a ReplicaSet or
    StatefulSet adds its requirements. The owner's group and version must be exact, and the object must be there.
    ``by_owner``: only the pod's owner counts (since 1.22), else whatever selects the pod.
    """
    labels: dict[str, str] = {}
    for service in objects.services_selecting(pod_class.namespace, pod_class.labels):
        labels |= service.spec.selector or {}
    if not by_owner:
        return _of_all_that_select(pod_class, objects, labels)
    return _of_owner(pod_class, objects, labels)


def _of_owner(pod_class: PodClass, objects: ClusterObjects, labels: dict[str, str]) -> Selector:
    selector = Selector.from_set(labels)
    owner = pod_class.owner
    if owner is None:
        return selector
    key = (pod_class.namespace, owner.name)
    owning: ReplicaSet | StatefulSet | None
    match owner.api_version, owner.kind:
        case "v1", "ReplicationController":
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


def _of_all_that_select(pod_class: PodClass, objects: ClusterObjects, labels: dict[str, str]) -> Selector:
    namespace, own = pod_class.namespace, pod_class.labels
    for (where, _), controller in objects.replication_controllers.items():
        wanted = controller.spec.selector
        if where == namespace and wanted and Selector.from_set(wanted).matches(own):
            labels = labels | wanted
    selector = Selector.from_set(labels)
    owners: list[tuple[tuple[str, str], ReplicaSet | StatefulSet]] = []
    owners += objects.replica_sets.items()
    owners += objects.stateful_sets.items()
    for (where, _), each in owners:
        if where != namespace or not own:
            continue
        try:
            of_owner = Selector.from_label_selector(each.spec.selector)
        except InvalidSelectorError:
            continue
        if not of_owner.empty and of_owner.matches(own):
            selector = selector.with_requirements(*of_owner.requirements)
    return selector
