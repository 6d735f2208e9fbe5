"""VolumeZone: a volume's zone and region labels must match the node's (plugins/volumezone)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from topospread.api.pod import Pod
from topospread.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from topospread.api.well_known_labels import BETA_REGION, BETA_ZONE, REGION, ZONE
from topospread.cluster import Cluster, NodeTable, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.cluster.objects import ClusterObjects
from topospread.config.version_rules import since

from .cluster_event import ADD, NODE_LABEL, UPDATE, ClusterEvent, Registration
from .csi_migration import MULTI_ZONE
from .interface import UNRESOLVABLE, Prepared, Scope, Status, length
from .pod_volumes import WAIT_FOR_FIRST_CONSUMER, is_assumed, not_found, pod_claims, storage_class_of

REASON = "node(s) had no available volume zone"
_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_CURRENT = {BETA_ZONE: ZONE, BETA_REGION: REGION}


class _RequiredLabel(NamedTuple):
    """A zone or region label of a volume: its key, and the values that it allows for the node."""

    key: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class VolumeZoneRules:
    """The differences between Kubernetes versions."""

    current_labels: bool = since("1.29", "A volume's beta zone or region label also matches a node's current label.")


class VolumeZone:
    """Rejects nodes in another zone or region than the volumes behind the pod's claims.

    Nodes without any such label pass.
    """

    name = "VolumeZone"

    def __init__(self, *, current_labels: bool = True) -> None:
        self._current_labels = current_labels

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter; skip it without labelled volumes. Unbound claims may reject the pod on all nodes."""
        if not pod_class.volumes:
            return Prepared()
        required: list[_RequiredLabel] = []
        for found in _volumes(pod_class.pod, cluster.objects):
            if isinstance(found, str):
                return Prepared(rejected=Status(UNRESOLVABLE, (found,)))
            required += _labels_of(found)
        return Prepared(filter=_Zones(required, cluster.nodes, self._current_labels)) if required else Prepared()

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for StorageClasses with WaitForFirstConsumer, nodes' labels, the pod's claims, and volumes."""
        return (
            Registration(ClusterEvent("StorageClass", ADD), _after_storage_class_added),
            Registration(ClusterEvent("Node", ADD | NODE_LABEL)),
            Registration(ClusterEvent("PersistentVolumeClaim", ADD | UPDATE), _after_claim_change),
            Registration(ClusterEvent("PersistentVolume", ADD | UPDATE), _after_volume_change),
        )


def _after_storage_class_added(pod: Pod, old: object, new: StorageClass) -> bool:
    return new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def _after_claim_change(pod: Pod, old: object, new: PersistentVolumeClaim) -> bool:
    named = (each.persistent_volume_claim for each in pod.spec.volumes or ())
    return new.namespace == pod.namespace and any(each is not None and each.claim_name == new.name for each in named)


def _after_volume_change(pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> bool:
    return old is None or list(_labels_of(old)) != list(_labels_of(new))


def _volumes(pod: Pod, objects: ClusterObjects) -> Iterator[PersistentVolume | str]:
    """Yield for each claim of a pod its volume, or the reason why the claim rejects the pod (``getPVbyPod``)."""
    for each in pod_claims(pod, objects):
        if each.ephemeral:
            continue
        if not each.name:
            yield "PersistentVolumeClaim had no name"
        elif each.claim is None:
            yield not_found("persistentvolumeclaim", each.name)
        elif each.claim.spec.volume_name:
            name = each.claim.spec.volume_name
            yield objects.persistent_volumes.get(name) or not_found("persistentvolume", name)
        elif not is_assumed(each.claim, objects):
            words = _unbound(each.claim, objects)
            if words:
                yield words


def _unbound(claim: PersistentVolumeClaim, objects: ClusterObjects) -> str:
    """Return why a claim without a volume rejects the pod; "" if it does not."""
    class_name = storage_class_of(claim)
    if not class_name:
        return "PersistentVolumeClaim had no pv name and storageClass name"
    storage_class = objects.storage_classes.get(class_name)
    if storage_class is None:
        return not_found("storageclass.storage.k8s.io", class_name)
    if storage_class.volume_binding_mode is None:
        return f'VolumeBindingMode not set for StorageClass "{class_name}"'
    return "" if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER else "PersistentVolume had no name"


def _labels_of(volume: PersistentVolume) -> Iterator[_RequiredLabel]:
    for key in _LABELS:
        value = volume.labels.get(key)
        if value is None:
            continue
        zones = [zone.strip() for zone in value.split(MULTI_ZONE)]
        if all(zones):  # kube-scheduler ignores a label that it cannot parse
            yield _RequiredLabel(key, frozenset(zones))


class _Zones:
    scope = Scope.NODE

    def __init__(self, required: list[_RequiredLabel], nodes: NodeTable, current_labels: bool) -> None:
        self._required = required
        self._nodes = nodes
        self._current_labels = current_labels

    def filter(self, rows: Rows) -> Ints:
        passes = np.ones(length(rows), dtype=np.bool_)
        for each in self._required:
            column = self._nodes.labels(each.key)
            found = self._in(each, each.key, rows)
            current = _CURRENT.get(each.key)
            if current is not None and self._current_labels:
                found |= (column.codes[rows] < 0) & self._in(each, current, rows)
            passes &= found
        labelled = np.zeros(length(rows), dtype=np.bool_)
        for key in _LABELS:
            labelled |= self._nodes.labels(key).codes[rows] >= 0
        return (labelled & ~passes).astype(np.int64)

    def _in(self, required: _RequiredLabel, key: str, rows: Rows) -> Bools:
        column = self._nodes.labels(key)
        table = np.array([*(value in required.values for value in column.values), False])
        result: Bools = table[column.codes[rows]]
        return result

    def status(self, code: int) -> Status:
        return Status(UNRESOLVABLE, (REASON,))
