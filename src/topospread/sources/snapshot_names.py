"""Tables of fields that contain names, by kind of name. `pseudonyms` creates the replacements.

A field name applies wherever the field occurs. A test compares the tables with every field that topospread reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from topospread.api.meta import KubeObject
from topospread.api.served import is_namespaced

from .pseudonyms import Pseudonyms, size_bucket
from .public_names import words
from .snapshot_facts import SnapshotFacts

Json = dict[str, Any]


NAMES: Final = words(
    """name generateName claimName serviceName podGroup podGroupName resourceClaimName resourceClaimTemplateName
    workloadName templateName parentCompositePodGroupName policyName"""
)
"""Fields with the name of a namespaced object, a container or a pod volume."""

NODES: Final = words("nodeName nominatedNodeName volume.kubernetes.io/selected-node")
NAMESPACES: Final = words("namespace namespaces")
VOLUMES: Final = words("volumeName persistentVolumeName")
CLASSES: Final = words(
    """priorityClassName runtimeClassName storageClassName volumeAttributesClassName handler
    volume.beta.kubernetes.io/storage-class deviceClassName"""
)
VALUES: Final = words("value values")
"""Fields with values of the label or taint whose key is next to them."""

REVISIONS: Final = words("currentRevision updateRevision")
"""Fields with a value of the label controller-revision-hash."""

KEYS: Final = words("""key topologyKey topologyKeys matchLabelKeys mismatchLabelKeys managedBy extendedResourceName""")
"""Fields with a label or taint key, or another qualified name."""

OPAQUE: Final = words(
    """resourceNames topospread.dev/unjudgedAdmission
    topospread.dev/refusedAdmission topospread.dev/profiles topospread.dev/whole
    message messageExpression valueExpression host user role add drop procMount
    device request expression string version strings versions attributes counters counterSet compatibilityGroups
    matchAttribute distinctAttribute capacityKey shareID bindingConditions bindingFailureConditions
    nodeAllocatableResources kubernetes.io/config.mirror
    podGroupReplicaKey pdName volumeID targetPortal iqn monitors pool diskName diskURI volumeHandle nodeID
    topospread.dev/max-per-domain topospread.dev/shares topospread.dev/hierarchy topospread.dev/counted
    topospread.dev/promise topospread.dev/quorum topospread.dev/scale-in topospread.dev/fallback topospread.dev/pool
    topospread.dev/added topospread.dev/misspelt"""
)
"""Fields that identify a disk, device or machine outside Kubernetes, or texts that contain names."""

DRIVERS: Final = frozenset({"driver", "provisioner", "attacher", "pv.kubernetes.io/provisioned-by"})
IMAGES: Final = frozenset({"image", "reference", "names"})
LABELS: Final = frozenset({"labels", "matchLabels", "nodeSelector"})
RESOURCES: Final = words(
    """requests limits allocatable capacity overhead podFixed default defaultRequest max min maxLimitRequestRatio
    allocatedResources consumedCapacity"""
)
"""Fields with a map of resources."""

ENUMERATED: Final = frozenset({"type", "reason", "scopes", "scopeName"})
"""Fields with words of Kubernetes or of a private controller."""

FORMS: Final = words(
    """service.kubernetes.io/topology-aware-hints service.kubernetes.io/topology-mode
    storageclass.kubernetes.io/is-default-class storageclass.beta.kubernetes.io/is-default-class
    pv.kubernetes.io/bind-completed pv.kubernetes.io/bound-by-controller
    storage.alpha.kubernetes.io/migrated-plugins helm.sh/hook helm.sh/hook-delete-policy
    resource.kubernetes.io/extended-resource-claim
    controller.kubernetes.io/pod-deletion-cost deployment.kubernetes.io/revision
    deployment.kubernetes.io/desired-replicas kubectl.kubernetes.io/restartedAt
    deprecated.daemonset.template.generation batch.kubernetes.io/job-completion-index"""
)
"""Annotations with a number, a time, or words of Kubernetes or Helm. Other text in them may be a private name."""

OTHERS: Final = words(
    """apiGroup apiGroups resources uid apiVersion kind schedulerName schedule hostIP clusterIP
    topospread.dev/made-of hard"""
)
"""Fields that `_ObjectWalk` handles one by one."""

KEPT: Final = words(
    """apiVersions operations scope validationActions failurePolicy patchType reinvocationPolicy
    resource allocationMode allocationTimestamp skipNodeOperations
    resourceVersion creationTimestamp deletionTimestamp operator effect phase status
    lastHeartbeatTime lastTransitionTime startTime timeAdded declaredFeatures restartPolicy restartPolicyRules action
    protocol bindMountOptions preemptionPolicy whenUnsatisfiable nodeAffinityPolicy nodeTaintsPolicy resize
    accessModes volumeMode volumeBindingMode persistentVolumeReclaimPolicy reclaimPolicy podManagementPolicy
    completionMode completedIndexes failedIndexes completionTime podReplacementPolicy minAvailable
    maxUnavailable maxSurge unhealthyPodEvictionPolicy
    maximumVolumeSize trafficDistribution internalTrafficPolicy"""
)
"""Text fields that stay: Kubernetes' own words, times, numbers and product names."""

_FORM: Final = re.compile(
    r"[-+0-9.:TZ]*|(?i:true|false|yes|auto|disabled)"
    r"|(?:(?:pre|post)-(?:install|delete|upgrade|rollback)|test(?:-success|-failure)?|crd-install"
    r"|before-hook-creation|hook-(?:succeeded|failed)|,| )+"
    r"|(?:kubernetes\.io/(?:aws-ebs|azure-disk|azure-file|cinder|gce-pd|portworx-volume|rbd|vsphere-volume),?)+"
)
_SCHEDULE: Final = "0 0 * * *"
"""Replaces every CronJob's schedule, which no command evaluates."""

_PLAIN_SELECTOR: Final = frozenset({"Service", "ReplicationController"})
"""Kinds whose selector is a plain map of labels."""


def hashed(item: KubeObject, names: Pseudonyms) -> Json:
    """Return the object as plain data with private names replaced."""
    value = msgspec.to_builtins(item)
    return _ObjectWalk(names, item.namespace if is_namespaced(value["kind"]) else "").object(value)


def hashed_facts(facts: SnapshotFacts, names: Pseudonyms) -> SnapshotFacts:
    """Return a snapshot's facts without names. The API server's messages contain users and namespaces."""
    missing = {kind: why if why.isalpha() else "not readable" for kind, why in facts.missing.items()}
    namespace = names.namespace(facts.namespace)
    return msgspec.structs.replace(facts, namespace=namespace, missing=missing, hashed=True)


class _ObjectWalk:
    """Replaces the names in one object.

    Attributes:
        namespace: namespace of the current names; "" for a cluster-scoped object.
        key: key of the current label or taint values.
    """

    def __init__(self, names: Pseudonyms, namespace: str) -> None:
        self._names = names
        self.namespace = namespace
        self.key = ""
        self._texts: dict[str, Callable[[str], str]] = {
            **dict.fromkeys(NAMES, lambda text: names.name(text, self.namespace)),
            **dict.fromkeys(NODES, names.node),
            **dict.fromkeys(NAMESPACES, names.namespace),
            **dict.fromkeys(VOLUMES, lambda text: names.whole("volume", text)),
            **dict.fromkeys(CLASSES, names.class_name),
            **dict.fromkeys(VALUES, lambda text: names.label_value(self.key, text, self.namespace)),
            **dict.fromkeys(REVISIONS, lambda text: names.label_value("controller-revision-hash", text, "")),
            **dict.fromkeys(KEYS, names.key),
            **dict.fromkeys(OPAQUE, names.opaque),
            **dict.fromkeys(DRIVERS, names.driver),
            **dict.fromkeys(IMAGES, names.image),
            **dict.fromkeys(ENUMERATED, names.enumerated),
            **dict.fromkeys(KEPT, str),
            **dict.fromkeys(FORMS, lambda text: text if _FORM.fullmatch(text) else names.opaque(text)),
            "apiGroup": names.api_group,
            "apiGroups": names.api_group,
            "resources": names.resource,
            "uid": names.uid,
            "apiVersion": names.api_version,
            "kind": names.kind,
            "schedulerName": names.scheduler,
            "schedule": lambda _: _SCHEDULE,
            "topospread.dev/made-of": self._made_of,
            "hostIP": names.address,
            "clusterIP": lambda text: text if text == "None" else names.address(text),
            # In a CSIStorageCapacity; in a volume or node it is a map.
            "capacity": str,
        }
        self._maps: dict[str, Callable[[Json], Json]] = {
            **dict.fromkeys(LABELS, self._labels),
            **dict.fromkeys(RESOURCES, self._by_key),
            "hard": self._limited,
            "scopeSelector": self._scopes,
            "disruptedPods": self._by_name,
            "rbd": self._ceph_image,
        }

    def object(self, value: Json) -> Json:
        """Return an object with its names replaced."""
        walked = self._fields(value)
        kind, name, spec = value["kind"], value["metadata"].get("name"), value.get("spec", {})
        named: dict[str, Callable[[str], str]] = {
            "Node": self._names.node,
            "CSINode": self._names.node,
            "Namespace": self._names.namespace,
            "PersistentVolume": lambda text: self._names.whole("volume", text),
            "CSIDriver": self._names.driver,
            **dict.fromkeys(("PriorityClass", "StorageClass", "RuntimeClass", "DeviceClass"), self._names.class_name),
        }
        if name and kind in named:
            walked["metadata"]["name"] = named[kind](name)
        if kind in _PLAIN_SELECTOR and spec.get("selector"):
            walked["spec"]["selector"] = self._labels(spec["selector"])
        if kind == "CSINode":
            for before, after in zip(spec.get("drivers", ()), walked["spec"].get("drivers", ()), strict=True):
                after["name"] = self._names.driver(before["name"])
        return walked

    def _fields(self, value: Json) -> Json:
        outer = self.namespace, self.key
        self.namespace = value.get("namespace") or self.namespace
        self.key = value.get("key") or self.key
        walked = {field: self._field(field, each) for field, each in value.items()}
        if value.get("kind") == "Node" and value.get("name"):  # an owner reference
            walked["name"] = self._names.node(value["name"])
        self.namespace, self.key = outer
        return walked

    def _field(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            return self._maps.get(field, self._fields)(value)
        if isinstance(value, list):
            inner = self._fields if field in RESOURCES else None  # a claim's requests are a list of objects
            return [inner(each) if inner and isinstance(each, dict) else self._field(field, each) for each in value]
        if field == "sizeBytes" and isinstance(value, int):
            return size_bucket(value)
        # a field in no table is removed
        return self._texts.get(field, self._names.opaque)(value) if isinstance(value, str) else value

    def _labels(self, labels: Json) -> Json:
        if not all(isinstance(each, str) for each in labels.values()):
            return self._fields(labels)  # a nodeSelector with terms, as allocated claims have it
        return {
            self._names.key(key): self._names.label_value(key, value, self.namespace) for key, value in labels.items()
        }

    def _by_key(self, amounts: Json) -> Json:
        return {self._names.key(name): amount for name, amount in amounts.items()}

    def _limited(self, amounts: Json) -> Json:
        """Return a quota's limits, whose keys are ``requests.NAME``, ``count/RESOURCE`` or a resource name."""
        parts = {name: name.partition(".") if name.startswith("requests.") else ("", "", name) for name in amounts}
        return {f"{one}{dot}{self._names.key(rest)}": amounts[name] for name, (one, dot, rest) in parts.items()}

    def _scopes(self, selector: Json) -> Json:
        """Return the scopes of a quota, whose values are PriorityClass names."""
        found = [
            {
                **self._fields(each),
                **({"values": list(map(self._names.class_name, each["values"]))} if each.get("values") else {}),
            }
            for each in selector.get("matchExpressions") or ()
        ]
        return {"matchExpressions": found}

    def _by_name(self, found: Json) -> Json:
        return {self._names.name(name, self.namespace): each for name, each in found.items()}

    def _made_of(self, text: str) -> str:
        """Return ``GROUP/KIND/NAME`` with the same words as a reference to the same resource."""
        group, _, rest = text.partition("/")
        kind, _, name = rest.partition("/")
        words = self._names.api_version(f"{group}/")[:-1], self._names.kind(kind)
        return "/".join((*words, self._names.name(name, self.namespace)))

    def _ceph_image(self, disk: Json) -> Json:
        """Return a Ceph disk, whose field image is a disk and not a container image."""
        return {**self._fields(disk), "image": self._names.opaque(disk.get("image", ""))}
