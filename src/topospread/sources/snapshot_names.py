"""Which fields of an object hold names, and of what sort; the words in their place are `pseudonyms`'.

Fields are told by their names; a test holds the tables to every field that topospread reads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from topospread.api.meta import KubeObject

from .pseudonyms import Pseudonyms

Json = dict[str, Any]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMES: Final = _words(
    """name generateName namespace nodeName priorityClassName runtimeClassName claimName nominatedNodeName serviceName
    storageClassName volumeName persistentVolumeName volumeAttributesClassName handler namespaces
    volume.kubernetes.io/selected-node volume.beta.kubernetes.io/storage-class topospread.dev/made-of"""
)
"""Fields that hold the name of an object, a container, a volume, a gate."""

VALUES: Final = frozenset({"value", "values", "currentRevision", "updateRevision"})
"""Fields that hold a label's or taint's value."""

KEYS: Final = _words("""key topologyKey topologyKeys matchLabelKeys mismatchLabelKeys managedBy type
    extendedResourceName""")
"""Fields that hold a label's or taint's key, or another qualified name."""

OPAQUE: Final = _words("""pdName volumeID targetPortal iqn monitors pool diskName diskURI volumeHandle nodeID
    topospread.dev/max-per-domain topospread.dev/shares topospread.dev/hierarchy topospread.dev/counted""")
"""Fields that name a disk or a machine for others than Kubernetes, or hold a text with names in it."""

DRIVERS: Final = frozenset({"driver", "provisioner", "attacher", "pv.kubernetes.io/provisioned-by"})
IMAGES: Final = frozenset({"image", "reference", "names"})
LABELS: Final = frozenset({"labels", "matchLabels", "nodeSelector"})
RESOURCES: Final = _words(
    """requests limits allocatable capacity overhead podFixed default defaultRequest max min
    allocatedResources"""
)
"""Fields that hold resources by name."""

KEPT: Final = _words(
    """apiVersion kind uid resourceVersion creationTimestamp deletionTimestamp operator effect phase reason status
    lastHeartbeatTime lastTransitionTime startTime declaredFeatures restartPolicy restartPolicyRules action protocol
    bindMountOptions schedulerName preemptionPolicy whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy resize
    accessModes volumeMode volumeBindingMode persistentVolumeReclaimPolicy reclaimPolicy podManagementPolicy
    completionMode completedIndexes failedIndexes completionTime podReplacementPolicy schedule minAvailable
    maxUnavailable maxSurge
    controller.kubernetes.io/pod-deletion-cost kubernetes.io/config.mirror deployment.kubernetes.io/revision
    deployment.kubernetes.io/desired-replicas kubectl.kubernetes.io/restartedAt
    deprecated.daemonset.template.generation batch.kubernetes.io/job-completion-index
    storageclass.kubernetes.io/is-default-class storageclass.beta.kubernetes.io/is-default-class
    maximumVolumeSize pv.kubernetes.io/bind-completed pv.kubernetes.io/bound-by-controller
    storage.alpha.kubernetes.io/migrated-plugins helm.sh/hook helm.sh/hook-delete-policy
    trafficDistribution internalTrafficPolicy service.kubernetes.io/topology-aware-hints
    service.kubernetes.io/topology-mode"""
)
"""Fields of text that stay as they are: Kubernetes' own words, times, numbers, products."""

SAME_EVERYWHERE: Final = _words(
    """kubernetes.io/os kubernetes.io/arch beta.kubernetes.io/os beta.kubernetes.io/arch
    node.kubernetes.io/instance-type beta.kubernetes.io/instance-type"""
)
"""Labels whose values say nothing of whose cluster it is, and of which kube-scheduler's plugins read some."""

_PLAIN_SELECTOR: Final = frozenset({"Service", "ReplicationController"})
"""Kinds whose selector is a plain map of labels."""


def hashed(item: KubeObject, names: Pseudonyms) -> Json:
    """The object as plain data, with words for names."""
    return _ObjectWalk(names).object(msgspec.to_builtins(item))


class _ObjectWalk:
    """Goes through one object."""

    def __init__(self, names: Pseudonyms) -> None:
        self._names = names
        self._texts: dict[str, Callable[[str], str]] = {
            **dict.fromkeys(NAMES, names.name),
            **dict.fromkeys(VALUES, names.label_value),
            **dict.fromkeys(KEYS, names.key),
            **dict.fromkeys(OPAQUE, names.opaque),
            **dict.fromkeys(DRIVERS, names.driver),
            **dict.fromkeys(IMAGES, names.image),
            **dict.fromkeys(KEPT, str),
            "hostIP": names.address,
            "clusterIP": lambda text: text if text == "None" else names.address(text),
            # Of a CSIStorageCapacity; of a volume or node it is a map.
            "capacity": str,
        }
        self._maps: dict[str, Callable[[Json], Json]] = {
            **dict.fromkeys(LABELS, self._labels),
            **dict.fromkeys(RESOURCES, self._by_key),
            "disruptedPods": self._by_name,
            "rbd": self._ceph_image,
        }

    def object(self, value: Json) -> Json:
        """A whole object."""
        walked = self._fields(value)
        spec = value.get("spec", {})
        if value["kind"] in _PLAIN_SELECTOR and spec.get("selector"):
            walked["spec"]["selector"] = self._labels(spec["selector"])
        if value["kind"] == "CSINode":
            for before, after in zip(spec.get("drivers", ()), walked["spec"].get("drivers", ()), strict=True):
                after["name"] = self._names.driver(before["name"])
        if value["kind"] == "CSIDriver":
            walked["metadata"]["name"] = self._names.driver(value["metadata"]["name"])
        return walked

    def _fields(self, value: Json) -> Json:
        if value.get("key") in SAME_EVERYWHERE:
            return value
        return {field: self._field(field, each) for field, each in value.items()}

    def _field(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._maps.get(field, self._fields)(value)
        if isinstance(value, list):
            return [self._field(field, each) for each in value]
        # A field that nobody has decided on is not shown.
        return self._texts.get(field, self._names.opaque)(value) if isinstance(value, str) else value

    def _labels(self, labels: Mapping[str, str]) -> Json:
        return {
            self._names.key(key): value if key in SAME_EVERYWHERE else self._names.label_value(value)
            for key, value in labels.items()
        }

    def _by_key(self, amounts: Json) -> Json:
        return {self._names.key(name): amount for name, amount in amounts.items()}

    def _by_name(self, found: Json) -> Json:
        return {self._names.name(name): each for name, each in found.items()}

    def _ceph_image(self, disk: Json) -> Json:
        """A Ceph image is no container's."""
        return {**self._fields(disk), "image": self._names.opaque(disk.get("image", ""))}
