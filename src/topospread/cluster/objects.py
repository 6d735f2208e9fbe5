"""The objects that plugins look up by namespace and name, such as Services, volumes and PodDisruptionBudgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from topospread.api.device_claims import ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
from topospread.api.devices import DeviceClass, DeviceTaintRule, ResourceSlice
from topospread.api.label_index import SelectorIndex
from topospread.api.labels import Selector
from topospread.api.meta import KubeObject
from topospread.api.node import Namespace
from topospread.api.pod_groups import PodGroup
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

from .device_use import DeviceUse
from .journal import ELSEWHERE, VOLUMES, Journal
from .scheduling_fields import same_to_scheduling
from .undo import UndoLog
from .volume_use import VolumeUse

Object = TypeVar("Object", bound=KubeObject)
Key = tuple[str, str]
"""(namespace, name); the namespace is "" for cluster-scoped objects."""

Subject = tuple[type[KubeObject], str]
"""(kind, namespace): a group of objects whose changes a reader watches. The namespace is "" for cluster-scoped kinds,
and for kinds whose objects are read in all namespaces at once.
"""


class ObjectKey(NamedTuple):
    """The key of a single object, which may be missing. ``key`` is its name, or its namespace and name."""

    kind: type[KubeObject]
    key: Key | str


_BY_NAMESPACE = frozenset({Service, ReplicationController, ReplicaSet, StatefulSet})


class ClusterObjects:
    """The objects in a scheduler's listers, by kind, namespace and name.

    Attributes:
        version: number of the objects' state. Every change sets a number that was never used; undo restores it.
        changed: subject → `version` of the newest change.
        devices: devices that allocated claims use.
        devices_known: whether the input has all ResourceSlices, possibly none.
        pod_groups_known: whether the input has all PodGroups, possibly none.
        whole_groups: groups whose pods are scheduled together; ``None`` for all groups.
        unjudged_groups: group → error that names its unmodelled part.
        stocked: number that changes with every change of a PersistentVolume, except with its binding to a claim.
        unread: kind → why its objects are unknown, as in `Inventory`.
    """

    def __init__(self, journal: Journal, undo: UndoLog, use: VolumeUse, row_of: Mapping[str, int]) -> None:
        """Args:
        use: use of volumes, to notify of changes of the volumes behind claims.
        row_of: node name → row.
        """
        self._journal = journal
        self._undo = undo
        self._use = use
        self._row_of = row_of
        self.devices = DeviceUse()
        self.devices_known = False
        self.version = 0
        self.stocked = 0
        self.unread: Mapping[str, str] = {}
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
        self.resource_slices: dict[str, ResourceSlice] = {}
        self.device_taint_rules: dict[str, DeviceTaintRule] = {}
        self.resource_claims: dict[Key, ResourceClaim] = {}
        self.resource_claim_templates: dict[Key, ResourceClaimTemplate] = {}
        self.csi_storage_capacities: dict[Key, CSIStorageCapacity] = {}
        self.volume_attachments: dict[str, VolumeAttachment] = {}
        self.pod_disruption_budgets: dict[Key, PodDisruptionBudget] = {}
        self.pod_groups: dict[Key, PodGroup] = {}
        self.pod_groups_known = False
        self.whole_groups: set[Key] | None = set()
        self.unjudged_groups: dict[Key, Exception] = {}
        self.assumed_claims: set[Key] = set()
        self._naming: dict[tuple[type[KubeObject], str], set[Any]] = {}
        self._selecting: dict[str, SelectorIndex[Service]] = {}
        by_key: dict[type[KubeObject], dict[Key, Any]] = {
            ReplicationController: self.replication_controllers,
            ReplicaSet: self.replica_sets,
            StatefulSet: self.stateful_sets,
            PersistentVolumeClaim: self.persistent_volume_claims,
            CSIStorageCapacity: self.csi_storage_capacities,
            PodDisruptionBudget: self.pod_disruption_budgets,
            ResourceClaim: self.resource_claims,
            ResourceClaimTemplate: self.resource_claim_templates,
            PodGroup: self.pod_groups,
        }
        by_name: dict[type[KubeObject], dict[str, Any]] = {
            Namespace: self.namespaces,
            PriorityClass: self.priority_classes,
            PersistentVolume: self.persistent_volumes,
            StorageClass: self.storage_classes,
            CSINode: self.csi_nodes,
            CSIDriver: self.csi_drivers,
            DeviceClass: self.device_classes,
            ResourceSlice: self.resource_slices,
            DeviceTaintRule: self.device_taint_rules,
            VolumeAttachment: self.volume_attachments,
        }
        self._by_key, self._by_name = by_key, by_name

    def services_selecting(self, namespace: str, labels: Mapping[str, str]) -> list[Service]:
        """Return the Services of a namespace that select pods with these labels, in order of addition."""
        index = self._selecting.get(namespace)
        if index is None:
            index = self._selecting[namespace] = SelectorIndex()
            for each in self.services.get(namespace, {}).values():
                if each.spec.selector is not None:
                    index.add(namespace, Selector.from_set(each.spec.selector), each)
        return index.matching(namespace, labels)

    def look_up(self, one: ObjectKey) -> tuple[KubeObject | None, bool]:
        """Return an object or ``None``, and whether it is a claim marked by `assume_claims`."""
        table: dict[Any, Any] = self._by_key[one.kind] if one.kind in self._by_key else self._by_name[one.kind]
        return table.get(one.key), one.key in self.assumed_claims

    def add(self, objects: Iterable[KubeObject]) -> None:
        """Add or update objects; kinds without a table are ignored."""
        for each in objects:
            self.put(each)

    def put(self, item: KubeObject) -> bool:
        """Add or update an object. Return whether that changed anything that scheduling reads."""
        table, key = self._place(item)
        if table is None:
            return False
        before = table.get(key)
        if before is not None and same_to_scheduling(before, item):
            return False
        self._set(table, key, item)
        self._changed(item, self._set, table, key, before)
        self._tell(item, before)
        return True

    def delete(self, item: KubeObject) -> bool:
        """Remove an object. Return whether it existed."""
        table, key = self._place(item)
        if table is None or key not in table:
            return False
        before = table[key]
        self._set(table, key, None)
        self._changed(item, self._set, table, key, before)
        self._tell(item, before)
        return True

    def judge_groups(self, whole: set[Key], unjudged: dict[Key, Exception]) -> None:
        """Set ``whole_groups`` and ``unjudged_groups``."""
        before = self.whole_groups, self.unjudged_groups
        self.whole_groups, self.unjudged_groups = whole, unjudged
        self._changed(PodGroup(), self._judged_before, *before)

    def _judged_before(self, whole: set[Key] | None, unjudged: dict[Key, Exception]) -> None:
        self.whole_groups, self.unjudged_groups = whole, unjudged

    def bind_claim(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> None:
        """Replace a claim and its volume by their bound states."""
        key, stocked = (claim.namespace, claim.name), self.stocked
        claims, volumes = self.persistent_volume_claims, self.persistent_volumes
        before = claims.get(key), volumes.get(volume.name)
        self._undo.record(self._now_free)
        self._set(claims, key, claim)
        self._set(volumes, volume.name, volume)
        self._changed(claim, self._set, claims, key, before[0])
        self._changed(volume, self._set, volumes, volume.name, before[1])
        self.stocked = stocked
        if key in self.assumed_claims:
            self.assumed_claims.discard(key)
            self._undo.record(self.assumed_claims.add, key)
        self._tell(volume, before[1])
        self._tell(claim, before[0])

    def assume_claims(self, keys: Iterable[Key]) -> None:
        """Mark claims that a controller would create. Their volumes can be provisioned where the class allows."""
        for key in keys:
            if key not in self.assumed_claims:
                self.assumed_claims.add(key)
                self._undo.record(self.assumed_claims.discard, key)
                claim = self.persistent_volume_claims.get(key)
                if claim is not None:
                    self._changed(claim, _nothing)

    def release_claims(self, namespace: str, pod: str) -> None:
        """Release the devices of a deleted pod (pkg/controller/resourceclaim/controller.go).

        Claims that were generated for the pod are deleted; other claims are deallocated after their last pod.
        """
        for key in sorted(self.devices.users.get((namespace, pod), ())):
            claim = self.resource_claims[key]
            owner = claim.metadata.controller
            if owner is not None and (owner.kind, owner.name) == ("Pod", pod):
                self.delete(claim)
                continue
            users = [
                each for each in claim.status.reserved_for or () if each.resource == "podgroups" or each.name != pod
            ]
            status = replace(claim.status, reserved_for=users) if users else ResourceClaimStatus()
            self.put(replace(claim, status=status))

    def _place(self, item: KubeObject) -> tuple[dict[Any, Any] | None, Any]:
        """Return the table of an object and its key; ``None`` for a kind that scheduling does not read."""
        kind = type(item)
        if kind in self._by_key:
            return self._by_key[kind], (item.namespace, item.name)
        if kind is Service:
            return self.services.setdefault(item.namespace, {}), item.name
        return self._by_name.get(kind), item.name

    def _changed(self, item: KubeObject, undo: Callable[..., object], *args: Any) -> None:
        """Record a change of an object in the journal and the undo log."""
        kind = type(item)
        subject = (kind, item.namespace if kind in _BY_NAMESPACE else "")
        versions = (self.changed.get(subject, 0), self.version, self.stocked)
        self._undo.record(self._undone, item, versions, undo, args)
        self._journal.append(ELSEWHERE)
        self.version = self.changed[subject] = self._journal.stamp
        if kind is PersistentVolume:
            self.stocked = self.version
        if kind is Service:
            self._selecting.pop(item.namespace, None)

    def _undone(
        self, item: KubeObject, versions: tuple[int, int, int], undo: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        """Undo a change and restore the version numbers."""
        kind = type(item)
        subject = (kind, item.namespace if kind in _BY_NAMESPACE else "")
        self._journal.append(ELSEWHERE)
        self.changed[subject], self.version, self.stocked = versions
        undo(*args)
        self._tell(item, item)
        if kind is Service:
            self._selecting.pop(item.namespace, None)

    def naming(self, kind: type[KubeObject], volume: str) -> list[Any]:
        """Return the sorted keys of the claims, or VolumeAttachments, that name a PersistentVolume."""
        return sorted(self._naming.get((kind, volume), ()))

    def _set(self, table: dict[Any, Any], key: Any, item: KubeObject | None) -> None:
        """Store an object, or remove it if ``item`` is ``None``, and update the index of volume names."""
        if table is self.resource_claims:
            self.devices.replaced(table.get(key), item if isinstance(item, ResourceClaim) else None)
        before, after = _named_volume(table.get(key)), _named_volume(item)
        if before is not None:
            self._naming[before].discard(key)
            if not self._naming[before]:
                del self._naming[before]
        if after is not None:
            self._naming.setdefault(after, set()).add(key)
        if item is None:
            table.pop(key, None)
        else:
            table[key] = item

    def _tell(self, item: KubeObject, before: KubeObject | None) -> None:
        """Notify volume use of changed volumes, and mark the rows of affected nodes as changed."""
        kind = type(item)
        if kind is PersistentVolumeClaim:
            self._renamed((item.namespace, item.name))
        elif kind is PersistentVolume:
            for key in self.naming(PersistentVolumeClaim, item.name):
                self._renamed(key)
            for name in self.naming(VolumeAttachment, item.name):
                self._use.attachment_changed(name)
                self._row_changed(self.volume_attachments[name].spec.node_name, VOLUMES)
        elif kind is CSINode:
            self._use.node_changed(item.name)
            self._row_changed(item.name, 0)
        elif kind is VolumeAttachment:
            self._use.attachment_changed(item.name)
            for each in (item, before, self.volume_attachments.get(item.name)):
                if isinstance(each, VolumeAttachment):
                    self._row_changed(each.spec.node_name, VOLUMES)

    def _renamed(self, claim: Key) -> None:
        for row in self._use.rename_claim(claim):
            self._journal.append((row, None, VOLUMES))

    def _row_changed(self, node: str, what: int) -> None:
        row = self._row_of.get(node)
        if row is not None:
            self._journal.append((row, None, what))

    def _now_free(self) -> None:
        """Invalidate cached volume lists after undo freed a volume."""
        self.stocked = -self._journal.stamp


class Reading:
    """The objects that plugins read when answers were computed, to test whether the answers still hold."""

    __slots__ = ("_objects", "_ones", "_stamps", "_version")

    def __init__(self, objects: ClusterObjects, subjects: Iterable[Subject | ObjectKey]) -> None:
        self._objects = objects
        self._version = objects.version
        self._ones: list[tuple[ObjectKey, KubeObject | None, bool]] = []
        self._stamps: dict[Subject, int] = {}
        for each in subjects:
            if isinstance(each, ObjectKey):
                self._ones.append((each, *objects.look_up(each)))
            else:
                self._stamps[each] = objects.changed.get(each, 0)

    def unchanged(self) -> bool:
        """Return whether all objects that were read are unchanged."""
        objects = self._objects
        if self._version == objects.version:
            return True
        if any(objects.changed.get(subject, 0) != stamp for subject, stamp in self._stamps.items()):
            return False
        for one, found, assumed in self._ones:
            now, is_assumed = objects.look_up(one)
            if now is not found or is_assumed != assumed:
                return False
        self._version = objects.version
        return True


def _named_volume(item: KubeObject | None) -> tuple[type[KubeObject], str] | None:
    """Return (kind, PersistentVolume named) of a claim or VolumeAttachment; ``None`` for other objects."""
    name: str | None = None
    if isinstance(item, PersistentVolumeClaim):
        name = item.spec.volume_name
    elif isinstance(item, VolumeAttachment):
        name = item.spec.source.persistent_volume_name
    return (type(item), name) if item is not None and name else None


def _nothing() -> None:
    """Undo nothing, because another undo step reverts the change."""
