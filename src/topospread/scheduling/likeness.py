"""Which pod classes are alike as pods that come: they differ in labels that no selector reads, or in claims' names.

Every pod of a StatefulSet or of an indexed Job has labels of its own, and claims where there are templates of them, so
that each is a class. What is found out about one holds for the others as long as nobody selects by those labels; what
their claims say is asked of each. Nothing is counted here: on their nodes they are classes of their own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from topospread.api.labels import LabelSelector
from topospread.api.node_selection import PodAffinity, PodAffinityTerm
from topospread.api.pod import Pod, PodSpec, Volume
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.cluster import Cluster, PodClass
from topospread.cluster.objects import ClusterObjects
from topospread.cluster.pod_class import identity, signature

OWN_LABELS = frozenset(
    {
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
    }
)
"""Labels that controllers give each pod a value of its own of (pkg/apis/apps/types.go, pkg/apis/batch/types.go)."""

_SELECTING = (Service, ReplicationController, ReplicaSet, StatefulSet)
_ENCODER = msgspec.json.Encoder(enc_hook=repr, order="deterministic")


class Likeness:
    """What classes that are alike have in common; equal to itself alone, and gone with the last of them."""

    __slots__ = ("__weakref__",)


class Likenesses:
    """The likenesses of a cluster's classes, and whether they hold."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: WeakValueDictionary[Hashable, Likeness] = WeakValueDictionary()
        self._asked = 0
        self._own_labels_read = False
        self._selected: dict[str, tuple[tuple[int, ...], bool]] = {}

    def of(self, pod_class: PodClass) -> Likeness | None:
        """What a class has in common with others; ``None`` where it is like no other, or others may be told apart."""
        likeness = pod_class.likeness
        if likeness is None:
            likeness = pod_class.likeness = self._found(pod_class) or False
        if not isinstance(likeness, Likeness) or self._tells_apart(pod_class):
            return None
        return likeness

    def key(self, pod_class: PodClass) -> Hashable:
        """What is found out about pods of a class that come is remembered by: the same where answers are."""
        likeness = None if pod_class.volumes else self.of(pod_class)
        return pod_class.key if likeness is None else likeness

    def _found(self, pod_class: PodClass) -> Likeness | None:
        pod = pod_class.pod
        is_one_of_many = bool(pod_class.volumes) or not OWN_LABELS.isdisjoint(pod.labels)
        if pod_class.is_tied or not is_one_of_many:
            return None
        key = (pod_class.node_name, *_without_its_own(pod))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Likeness()
        return found

    def _tells_apart(self, pod_class: PodClass) -> bool:
        """Whether somebody may read the labels that a pod of the class has for itself.

        Once a pod's constraints or affinity have, that is so for good.
        """
        if self._asked != self._cluster.classes_made:
            new, self._asked = self._cluster.classes_since(self._asked)
            self._own_labels_read |= any(not OWN_LABELS.isdisjoint(_keys_read(each.pod.spec)) for each in new)
        return self._own_labels_read or self._is_selected(pod_class.namespace)

    def _is_selected(self, namespace: str) -> bool:
        """Whether Services or controllers, which default constraints are made of, select by such labels."""
        objects = self._cluster.objects
        stamps = tuple([objects.changed.get((kind, namespace), 0) for kind in _SELECTING])
        known = self._selected.get(namespace)
        if known is None or known[0] != stamps:
            known = self._selected[namespace] = stamps, not OWN_LABELS.isdisjoint(_keys_selected(objects, namespace))
        return known[1]


def _without_its_own(pod: Pod) -> tuple[Hashable, ...]:
    """What makes a class but for labels of the pod's own, and for which claims stand behind its volumes."""
    labels = {key: value for key, value in pod.labels.items() if key not in OWN_LABELS}
    volumes = [each for each in pod.spec.volumes or () if not _is_claim(each)]
    claims = [(each.name, each.ephemeral is None) for each in pod.spec.volumes or () if _is_claim(each)]
    plain = replace(pod, metadata=replace(pod.metadata, labels=labels), spec=replace(pod.spec, volumes=volumes))
    return identity(plain), tuple(claims), _ENCODER.encode(signature(plain))


def _is_claim(volume: Volume) -> bool:
    return volume.persistent_volume_claim is not None or volume.ephemeral is not None


def _keys_read(spec: PodSpec) -> Iterator[str]:
    """The label keys of pods by which a pod's constraints and affinity select, its own labels among them."""
    for constraint in spec.topology_spread_constraints or ():
        yield from _keys_of(constraint.label_selector)
        yield from constraint.match_label_keys or ()
    affinity = spec.affinity
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity is not None else ():
        for term in _terms(each):
            yield from _keys_of(term.label_selector)
            yield from term.match_label_keys or ()
            yield from term.mismatch_label_keys or ()


def _terms(affinity: PodAffinity | None) -> Iterable[PodAffinityTerm]:
    if affinity is None:
        return ()
    preferred = affinity.preferred_during_scheduling_ignored_during_execution or ()
    weighted = [each.pod_affinity_term for each in preferred if each.pod_affinity_term is not None]
    return [*(affinity.required_during_scheduling_ignored_during_execution or ()), *weighted]


def _keys_of(selector: LabelSelector | None) -> Iterator[str]:
    if selector is not None:
        yield from selector.match_labels or ()
        yield from (each.key for each in selector.match_expressions or ())


def _keys_selected(objects: ClusterObjects, namespace: str) -> Iterator[str]:
    for service in objects.services.get(namespace, {}).values():
        yield from service.spec.selector or ()
    for (of, _), controller in objects.replication_controllers.items():
        yield from (controller.spec.selector or ()) if of == namespace else ()
    for table in (objects.replica_sets, objects.stateful_sets):
        for (of, _), owner in table.items():
            yield from _keys_of(owner.spec.selector) if of == namespace else ()
