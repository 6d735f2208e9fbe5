"""The objects that plugins look up by namespace and name: Services, owners, namespaces, volumes, budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from topospread.api.devices import DeviceClass
from topospread.api.label_index import SelectorIndex
from topospread.api.labels import Selector
from topospread.api.meta import KubeObject
from topospread.api.node import Namespace
from topospread.api.policy import PodDisruptionBudget, PriorityClass
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

from .journal import ELSEWHERE, Journal
from .relevant import same_to_scheduling
from .undo import UndoLog
from .volume_use import VolumeUse

Object = TypeVar("Object", bound=KubeObject)
Key = tuple[str, str]
"""(namespace, name); the namespace is "" for objects that have none."""

Subject = tuple[type[KubeObject], str]
"""What may change as far as a reader is concerned: the objects of a kind in a namespace, "" for cluster-wide kinds and
for those that are read whatever their namespace."""

VOLUME_KINDS: frozenset[type[KubeObject]] = frozenset(
    {PersistentVolume, PersistentVolumeClaim, StorageClass, CSINode, CSIDriver, CSIStorageCapacity, VolumeAttachment}
)
_BY_NAMESPACE = frozenset({Service, ReplicationController, ReplicaSet, StatefulSet})


class ClusterObjects:
    """What a scheduler's listers see: one object for each kind, namespace and name.

    Attributes:
        version: another with every change, and again what it was when changes are undone.
        changed: subject → `version` of the newest change.
        loads: changes with the objects behind volumes, but not when a claim is bound.
    """

    def __init__(self, journal: Journal, undo: UndoLog, use: VolumeUse) -> None:
        """``use``: told of claims behind which there is another volume now."""
        self._journal = journal
        self._undo = undo
        self._use = use
        self.version = 0
        self.loads = 0
        self.changed: dict[Subject, int] = {}
        self.services: dict[str, dict[str, Service]] = {}
        self.replication_controllers: dict[Key, ReplicationController] = {}
        self.replica_sets: dict[Key, ReplicaSet] = {}
        self.stateful_sets: dict[Key, StatefulSet] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.priority_classes: dict[str, PriorityClass] = {}
        self.persistent_volumes: dict[str, PersistentVolume] = {}
        self.persistent_volume_claims: dict[Key, PersistentVolumeClaim] = {}
        self.storage_classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        self.csi_drivers: dict[str, CSIDriver] = {}
        self.device_classes: dict[str, DeviceClass] = {}
        self.csi_storage_capacities: dict[Key, CSIStorageCapacity] = {}
        self.volume_attachments: dict[str, VolumeAttachment] = {}
        self.pod_disruption_budgets: dict[Key, PodDisruptionBudget] = {}
        self.assumed_claims: set[Key] = set()
        self._selecting: dict[str, SelectorIndex[Service]] = {}
        by_key: dict[type[KubeObject], dict[Key, Any]] = {
            ReplicationController: self.replication_controllers,
            ReplicaSet: self.replica_sets,
            StatefulSet: self.stateful_sets,
            PersistentVolumeClaim: self.persistent_volume_claims,
            CSIStorageCapacity: self.csi_storage_capacities,
            PodDisruptionBudget: self.pod_disruption_budgets,
        }
        by_name: dict[type[KubeObject], dict[str, Any]] = {
            Namespace: self.namespaces,
            PriorityClass: self.priority_classes,
            PersistentVolume: self.persistent_volumes,
            StorageClass: self.storage_classes,
            CSINode: self.csi_nodes,
            CSIDriver: self.csi_drivers,
            DeviceClass: self.device_classes,
            VolumeAttachment: self.volume_attachments,
        }
        self._by_key, self._by_name = by_key, by_name

    def services_selecting(self, namespace: str, labels: Mapping[str, str]) -> list[Service]:
        """Services of a namespace that select pods with these labels, in their order."""
        index = self._selecting.get(namespace)
        if index is None:
            index = self._selecting[namespace] = SelectorIndex()
            for each in self.services.get(namespace, {}).values():
                if each.spec.selector is not None:
                    index.add(namespace, Selector.from_set(each.spec.selector), each)
        return index.matching(namespace, labels)

    @property
    def kinds(self) -> frozenset[type[KubeObject]]:
        """The kinds that are kept here."""
        return frozenset({*self._by_key, *self._by_name, Service})

    def add(self, objects: Iterable[KubeObject]) -> None:
        """Put objects of any of these kinds; others are left out."""
        for each in objects:
            self.put(each)

    def put(self, item: KubeObject) -> bool:
        """Add an object or put its newer state in place; whether that changes anything scheduling reads."""
        table, key = self._place(item)
        if table is None:
            return False
        before = table.get(key)
        if before is not None and same_to_scheduling(before, item):
            return False
        table[key] = item
        self._changed(item, _restore, table, key, before)
        return True

    def delete(self, item: KubeObject) -> bool:
        """Take an object out by its kind, namespace and name; whether it was there."""
        table, key = self._place(item)
        if table is None or key not in table:
            return False
        before = table.pop(key)
        self._changed(item, _restore, table, key, before)
        return True

    def bind_claim(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Put a claim and the volume it is bound to in place of what was known of both."""
        key, loads = (claim.namespace, claim.name), self.loads
        claims, volumes = self.persistent_volume_claims, self.persistent_volumes
        before = claims.get(key), volumes.get(volume.name)
        self._undo.record(self._use.rename_claim, key)
        self._undo.record(self._now_free)
        claims[key], volumes[volume.name] = claim, volume
        self._changed(claim, _restore, claims, key, before[0])
        self._changed(volume, _restore, volumes, volume.name, before[1])
        self.loads = loads
        if key in self.assumed_claims:
            self.assumed_claims.discard(key)
            self._undo.record(self.assumed_claims.add, key)
        self._use.rename_claim(key)

    def assume_claims(self, keys: Iterable[Key]) -> None:
        """Take claims as ones that a controller would create: they can be provisioned wherever their class allows."""
        for key in keys:
            if key not in self.assumed_claims:
                self.assumed_claims.add(key)
                self._undo.record(self.assumed_claims.discard, key)
                claim = self.persistent_volume_claims.get(key)
                if claim is not None:
                    self._changed(claim, _nothing)

    def copy(self, journal: Journal, undo: UndoLog, use: VolumeUse) -> ClusterObjects:
        """The same objects, to be changed apart from these."""
        made = ClusterObjects(journal, undo, use)
        for kind, table in self._by_key.items():
            made._by_key[kind].update(table)
        for kind, named in self._by_name.items():
            made._by_name[kind].update(named)
        made.services.update({namespace: dict(each) for namespace, each in self.services.items()})
        made.assumed_claims.update(self.assumed_claims)
        return made

    def _place(self, item: KubeObject) -> tuple[dict[Any, Any] | None, Any]:
        """The table an object belongs in, and its key there; ``None`` for a kind that plays no part."""
        kind = type(item)
        if kind in self._by_key:
            return self._by_key[kind], (item.namespace, item.name)
        if kind is Service:
            return self.services.setdefault(item.namespace, {}), item.name
        return self._by_name.get(kind), item.name

    def _changed(self, item: KubeObject, undo: Callable[..., object], *args: Any) -> None:
        """Write down that an object changed, and how that is undone."""
        kind = type(item)
        subject = (kind, item.namespace if kind in _BY_NAMESPACE else "")
        versions = (self.changed.get(subject, 0), self.version, self.loads)
        self._undo.record(self._undone, subject, versions, undo, args)
        self._journal.append(ELSEWHERE)
        self.version = self.changed[subject] = self._journal.stamp
        if kind in VOLUME_KINDS:
            self.loads = self.version
        if kind is Service:
            self._selecting.pop(item.namespace, None)

    def _undone(
        self, subject: Subject, versions: tuple[int, int, int], undo: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Undo a change: what was derived from the state before it is true again."""
        self._journal.append(ELSEWHERE)
        self.changed[subject], self.version, self.loads = versions
        undo(*args)
        if subject[0] is Service:
            self._selecting.pop(subject[1], None)

    def _now_free(self) -> None:
        """A volume is free again that may have been listed as taken: let volumes be listed anew."""
        self.loads = -self._journal.stamp


class Reading:
    """What somebody has read of the objects, to tell whether it is still so."""

    __slots__ = ("_objects", "_stamps", "_version")

    def __init__(self, objects: ClusterObjects, subjects: Iterable[Subject]) -> None:
        self._objects = objects
        self._version = objects.version
        self._stamps = {subject: objects.changed.get(subject, 0) for subject in subjects}

    def unchanged(self) -> bool:
        """Whether everything that was read is as it was."""
        objects = self._objects
        if self._version == objects.version:
            return True
        if any(objects.changed.get(subject, 0) != stamp for subject, stamp in self._stamps.items()):
            return False
        self._version = objects.version
        return True


def _restore(table: dict[Any, Any], key: Any, before: KubeObject | None) -> None:
    if before is None:
        del table[key]
    else:
        table[key] = before


def _nothing() -> None:
    """What a change asks for that is undone elsewhere."""
