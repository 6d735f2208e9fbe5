"""The selector of default constraints until 1.21: from all controllers that select the pod, even if they do not own it.

Source: pkg/scheduler/framework/plugins/helper/spread.go (``DefaultSelector``) of 1.18 to 1.21, and the expansions of
client-go's listers (``GetPodControllers``, ``GetPodReplicaSets``, ``GetPodStatefulSets``). `default_selector` has the
later rule.
"""

from __future__ import annotations

from topospread.api.labels import InvalidSelectorError, Selector
from topospread.api.workload import ReplicaSet, StatefulSet
from topospread.cluster import PodClass
from topospread.cluster.objects import ClusterObjects
from topospread.plugins.default_selector import labels_of_services


def selector_of_all(pod_class: PodClass, objects: ClusterObjects) -> Selector:
    """Return the combined selector of the Services and controllers that select the pod; empty without any."""
    labels = labels_of_services(pod_class, objects)
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
