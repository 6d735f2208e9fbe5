"""The objects that plugins look up by namespace and name: Services, owners, namespaces, volumes, budgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from topospread.api.label_index import SelectorIndex
from topospread.api.labels import Selector
from topospread.api.meta import KubeObject
from topospread.api.node import Namespace
from topospread.api.policy import PodDisruptionBudget
from topospread.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from topospread.api.workload import ReplicaSet, ReplicationController, Service, StatefulSet

Object = TypeVar("Object", bound=KubeObject)
Key = tuple[str, str]
"""(namespace, name); the namespace is "" for objects that have none."""


class ClusterObjects:
    """What a scheduler's listers see.

    Attributes:
        version: changes with every change, for whoever derived something.
        loads: changes when objects were added, but not when a claim is bound.
    """

    def __init__(self) -> None:
        self.version = 0
        self.loads = 0
        self.services: dict[str, list[Service]] = {}
        self.replication_controllers: dict[Key, ReplicationController] = {}
        self.replica_sets: dict[Key, ReplicaSet] = {}
        self.stateful_sets: dict[Key, StatefulSet] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.persistent_volumes: dict[str, PersistentVolume] = {}
        self.persistent_volume_claims: dict[Key, PersistentVolumeClaim] = {}
        self.storage_classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        self.csi_drivers: dict[str, CSIDriver] = {}
        self.csi_storage_capacities: list[CSIStorageCapacity] = []
        self.volume_attachments: list[VolumeAttachment] = []
        self.pod_disruption_budgets: list[PodDisruptionBudget] = []
        self.assumed_claims: set[Key] = set()
        self._selecting: tuple[int, SelectorIndex[Service]] = (0, SelectorIndex())

    def services_selecting(self, namespace: str, labels: Mapping[str, str]) -> list[Service]:
        """Services of a namespace that select pods with these labels, in their order."""
        loads, index = self._selecting
        if loads != self.loads:
            index = SelectorIndex()
            for space, services in self.services.items():
                for each in services:
                    if each.spec.selector is not None:
                        index.add(space, Selector.from_set(each.spec.selector), each)
            self._selecting = (self.loads, index)
        return index.matching(namespace, labels)

    def add(self, objects: Iterable[KubeObject]) -> None:
        """Add objects of any of these kinds; others are left out."""
        by_key: dict[type[KubeObject], dict[Key, KubeObject]] = {
            ReplicationController: self.replication_controllers,  # type: ignore[dict-item]
            ReplicaSet: self.replica_sets,  # type: ignore[dict-item]
            StatefulSet: self.stateful_sets,  # type: ignore[dict-item]
            PersistentVolumeClaim: self.persistent_volume_claims,  # type: ignore[dict-item]
        }
        by_name: dict[type[KubeObject], dict[str, KubeObject]] = {
            Namespace: self.namespaces,  # type: ignore[dict-item]
            PersistentVolume: self.persistent_volumes,  # type: ignore[dict-item]
            StorageClass: self.storage_classes,  # type: ignore[dict-item]
            CSINode: self.csi_nodes,  # type: ignore[dict-item]
            CSIDriver: self.csi_drivers,  # type: ignore[dict-item]
        }
        for each in objects:
            kind = type(each)
            if kind in by_key:
                by_key[kind][each.namespace, each.name] = each
            elif kind in by_name:
                by_name[kind][each.name] = each
            elif isinstance(each, Service):
                self.services.setdefault(each.namespace, []).append(each)
            elif isinstance(each, PodDisruptionBudget):
                self.pod_disruption_budgets.append(each)
            elif isinstance(each, CSIStorageCapacity):
                self.csi_storage_capacities.append(each)
            elif isinstance(each, VolumeAttachment):
                self.volume_attachments.append(each)
        self.version += 1
        self.loads += 1

    def bind_claim(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Put a claim and the volume it is bound to in place of what was known of both."""
        self.persistent_volume_claims[claim.namespace, claim.name] = claim
        self.persistent_volumes[volume.name] = volume
        self.assumed_claims.discard((claim.namespace, claim.name))
        self.version += 1
