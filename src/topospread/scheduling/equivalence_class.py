"""Pod classes whose pods get equal answers: they differ only in claim names or in labels that no selector reads.

Each pod of a StatefulSet or indexed Job has its own labels, and its own claims if there are claim templates, so each
pod has its own class. While no selector reads these labels, an answer for one class holds for all of them. Claims are
checked for each pod. Placed pods are counted by their own class.
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
"""Labels whose values differ for each pod of a controller (pkg/apis/apps/types.go, pkg/apis/batch/types.go)."""

_SELECTING = (Service, ReplicationController, ReplicaSet, StatefulSet)
_ENCODER = msgspec.json.Encoder(enc_hook=repr, order="deterministic")


class EquivalenceClass:
    """An object that equivalent pod classes share. It equals only itself and is freed with its last class."""

    __slots__ = ("__weakref__",)


class EquivalenceClasses:
    """The equivalence classes of a cluster. A class is not used while a selector distinguishes its pods."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: WeakValueDictionary[Hashable, EquivalenceClass] = WeakValueDictionary()
        self._asked = 0
        self._own_labels_read = False
        self._selected: dict[str, tuple[tuple[int, ...], bool]] = {}

    def of(self, pod_class: PodClass) -> EquivalenceClass | None:
        """Return the equivalence class; ``None`` if there is none, or if a selector may distinguish its pods."""
        equivalence_class = pod_class.equivalence_class
        if equivalence_class is None:
            equivalence_class = pod_class.equivalence_class = self._found(pod_class) or False
        if not isinstance(equivalence_class, EquivalenceClass) or self._tells_apart(pod_class):
            return None
        return equivalence_class

    def key(self, pod_class: PodClass) -> Hashable:
        """Return the cache key for answers about incoming pods of a class. Equal keys mean equal answers."""
        equivalence_class = None if pod_class.volumes else self.of(pod_class)
        return pod_class.key if equivalence_class is None else equivalence_class

    def _found(self, pod_class: PodClass) -> EquivalenceClass | None:
        """Return the equivalence class; ``None`` for a class whose pods have no own labels or claims."""
        pod = pod_class.pod
        is_one_of_many = bool(pod_class.volumes) or not OWN_LABELS.isdisjoint(pod.labels)
        if pod_class.is_node_pinned or not is_one_of_many:
            return None
        # The class's identity without the pod's own labels and claim names.
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
        """Return whether a selector may read one of `OWN_LABELS`.

        Once a constraint or affinity term of any pod has read such a label, the result stays True.
        """
        if self._asked != self._cluster.classes_made:
            new, self._asked = self._cluster.classes_since(self._asked)
            self._own_labels_read |= any(not OWN_LABELS.isdisjoint(keys_read_by(each.pod)) for each in new)
        return self._own_labels_read or self._is_selected(pod_class.namespace)

    def _is_selected(self, namespace: str) -> bool:
        """Return whether a Service or controller that default constraints use selects by one of `OWN_LABELS`."""
        objects = self._cluster.objects
        stamps = tuple([objects.changed.get((kind, namespace), 0) for kind in _SELECTING])
        known = self._selected.get(namespace)
        if known is None or known[0] != stamps:
            known = self._selected[namespace] = stamps, not OWN_LABELS.isdisjoint(keys_of_owners(objects, namespace))
        return known[1]


def _is_claim(volume: Volume) -> bool:
    return volume.persistent_volume_claim is not None or volume.ephemeral is not None
