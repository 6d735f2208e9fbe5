"""The label keys that selectors of pods and of Services or controllers read."""

from __future__ import annotations

from collections.abc import Iterator

from topospread.api.labels import LabelSelector
from topospread.api.pod import Pod
from topospread.cluster.objects import ClusterObjects
from topospread.cluster.pod_class import affinity_terms


def keys_read_by(pod: Pod) -> Iterator[str]:
    """Yield the label keys that a pod's spread constraints and affinity terms select by."""
    for constraint in pod.spec.topology_spread_constraints or ():
        yield from keys_of(constraint.label_selector)
        yield from constraint.match_label_keys or ()
    for term in affinity_terms(pod):
        yield from keys_of(term.label_selector)
        yield from term.match_label_keys or ()
        yield from term.mismatch_label_keys or ()


def keys_of_owners(objects: ClusterObjects, namespace: str | None = None) -> Iterator[str]:
    """Yield the label keys of Services and controllers for default constraints; ``None``: of all namespaces."""
    everywhere = namespace is None
    for of, services in objects.services.items():
        for service in services.values() if everywhere or of == namespace else ():
            yield from service.spec.selector or ()
    for (of, _), controller in objects.replication_controllers.items():
        yield from (controller.spec.selector or ()) if everywhere or of == namespace else ()
    for table in (objects.replica_sets, objects.stateful_sets):
        for (of, _), owner in table.items():
            yield from keys_of(owner.spec.selector) if everywhere or of == namespace else ()


def keys_of(selector: LabelSelector | None) -> Iterator[str]:
    """Yield the label keys of a selector."""
    if selector is not None:
        yield from selector.match_labels or ()
        yield from (each.key for each in selector.match_expressions or ())
