"""Pod classes that get equal answers as incoming pods: they differ in labels that no selector reads, or in claim names.

Every pod of a StatefulSet or an indexed Job has labels of its own, and claims if there are templates, so each is a
class of its own. An answer for one holds for the others while no selector reads those labels. Claims are checked for
each pod. Only answers are shared, not counts: pods on nodes are counted by their own class.
"""

from __future__ import annotations

from collections.abc import Hashable
from weakref import WeakValueDictionary

import msgspec
from msgspec.structs import replace

from topospread.api.pod import Volume
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet
from topospread.cluster import Cluster, PodClass
from topospread.cluster.pod_class import identity, signature

from .selector_label_keys import keys_of_owners, keys_read_by

OWN_LABELS = frozenset(
    {"statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index"}
)
"""Labels that controllers give each pod a value of its own of (pkg/apis/apps/types.go, pkg/apis/batch/types.go)."""

_SELECTING = (Service, ReplicationController, ReplicaSet, StatefulSet)
_ENCODER = msgspec.json.Encoder(enc_hook=repr, order="deterministic")


class EquivalenceClass:
    """The shared identity of classes that are alike; it compares equal to itself alone and ends with its last class."""

    __slots__ = ("__weakref__",)


class EquivalenceClasses:
    """The likenesses of a cluster's classes, and whether they hold."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: WeakValueDictionary[Hashable, EquivalenceClass] = WeakValueDictionary()
        self._asked = 0
        self._own_labels_read = False
        self._selected: dict[str, tuple[tuple[int, ...], bool]] = {}

    def of(self, pod_class: PodClass) -> EquivalenceClass | None:
        """Return the likeness of a class; ``None`` if it is like no other, or if others may be told apart from it."""
        equivalence_class = pod_class.equivalence_class
        if equivalence_class is None:
            equivalence_class = pod_class.equivalence_class = self._found(pod_class) or False
        if not isinstance(equivalence_class, EquivalenceClass) or self._tells_apart(pod_class):
            return None
        return equivalence_class

    def key(self, pod_class: PodClass) -> Hashable:
        """Return the key for answers about incoming pods of a class: equal keys mean equal answers."""
        equivalence_class = None if pod_class.volumes else self.of(pod_class)
        return pod_class.key if equivalence_class is None else equivalence_class

    def _found(self, pod_class: PodClass) -> EquivalenceClass | None:
        pod = pod_class.pod
        is_one_of_many = bool(pod_class.volumes) or not OWN_LABELS.isdisjoint(pod.labels)
        if pod_class.is_node_pinned or not is_one_of_many:
            return None
        # The class's identity without the pod's own labels and without the claims behind its volumes.
        labels = {key: value for key, value in pod.labels.items() if key not in OWN_LABELS}
        volumes = [each for each in pod.spec.volumes or () if not _is_claim(each)]
        claims = [(each.name, each.ephemeral is None) for each in pod.spec.volumes or () if _is_claim(each)]
        plain = replace(pod, metadata=replace(pod.metadata, labels=labels), spec=replace(pod.spec, volumes=volumes))
        key = (pod_class.node_name, identity(plain), tuple(claims), _ENCODER.encode(signature(plain)))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = EquivalenceClass()
        return found

    def _tells_apart(self, pod_class: PodClass) -> bool:
        """Return whether a selector may read labels of a pod's own: its name, its index, its completion index.

        Once a pod's constraint or affinity has read them, the answer stays true.
        """
        if self._asked != self._cluster.classes_made:
            new, self._asked = self._cluster.classes_since(self._asked)
            self._own_labels_read |= any(not OWN_LABELS.isdisjoint(keys_read_by(each.pod)) for each in new)
        return self._own_labels_read or self._is_selected(pod_class.namespace)

    def _is_selected(self, namespace: str) -> bool:
        """Return whether Services or controllers, which default constraints are made of, select by such labels."""
        objects = self._cluster.objects
        stamps = tuple([objects.changed.get((kind, namespace), 0) for kind in _SELECTING])
        known = self._selected.get(namespace)
        if known is None or known[0] != stamps:
            known = self._selected[namespace] = stamps, not OWN_LABELS.isdisjoint(keys_of_owners(objects, namespace))
        return known[1]


def _is_claim(volume: Volume) -> bool:
    return volume.persistent_volume_claim is not None or volume.ephemeral is not None
