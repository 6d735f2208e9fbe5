"""CSI volumes that nodes' pods use, updated with every pod. Plugins apply the limits.

Source: plugins/nodevolumelimits/csi.go (``filterAttachableVolumes``, ``getCSIDriverInfo``). A volume is identified by
its driver and handle. A claim without a volume counts as a volume of its StorageClass's provisioner.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha1
from typing import NamedTuple

import numpy as np

from topospread.api.node import Node
from topospread.api.quantity import parse_quantity
from topospread.api.storage import PersistentVolumeClaim, StorageClass
from topospread.cluster import Cluster
from topospread.cluster.arrays import Bools, Ints, Rows, grown
from topospread.cluster.volume_use import CLAIM, EPHEMERAL, VolumeRef
from topospread.config.version_rules import by_version, gated, minor_version, since, until

from .csi_migration import (
    MIGRATED,
    NEVER_MIGRATED,
    InTree,
    TranslationError,
    counts_as_csi,
    handle,
    in_tree_plugin,
    inline_handle,
    inline_plugin,
)
from .interface import length, numbers
from .pod_volumes import is_owned, not_owner, storage_class_of
from .volume_attachments import VolumeAttachments

_LIMIT_PREFIX = "attachable-volumes-"
_LONGEST_KEY = 63
NO_LIMIT = np.iinfo(np.int64).max


class AttachmentError(ValueError):
    """An error of kube-scheduler when it counts a volume. The message is kube-scheduler's."""


@dataclass(frozen=True, slots=True)
class NodeVolumeLimitsRules:
    """The differences between Kubernetes versions; ``minor`` decides which in-tree volumes count for a driver."""

    minor: int = minor_version()
    ephemeral: bool = since("1.23", "Ephemeral volumes count, and a missing claim is a failure.")
    inline: bool = since("1.25", "In-tree disks named in pods count.")
    missing_rejects: bool = since("1.30", "A missing claim rejects the node. Before, it was an error.")
    node_limits: bool = until(
        "1.31",
        "Only the CSINode limits a node's volumes. Before, the node's allocatable could, too.",
    )

    attachments: bool = since("1.32", "Volumes of a VolumeAttachment count even if no pod on the node uses them.")
    hints_on_changes: bool = since(
        "1.33",
        "Queueing hints: a CSINode that allows more volumes moves pods that NodeVolumeLimits "
        "rejected. A deleted VolumeAttachment moves only pods that it may help. Before, it moved all of "
        "these pods, and an update of a CSINode moved none.",
    )
    nominated_pods_take_room: bool = by_version({"1.18": False, "1.33": True}, {})
    drivers: bool = gated("VolumeLimitScaling")
    drivers_opt_in: bool = since(
        "1.36",
        "With VolumeLimitScaling, a node without a volume's driver is rejected if the CSIDriver has "
        "preventPodSchedulingIfMissing. In 1.35, this applied to every CSIDriver.",
    )

    def counts(self, ref: VolumeRef) -> bool:
        """Return whether a volume of a pod may count towards a limit."""
        if ref.source == CLAIM:
            return True
        return self.ephemeral if ref.source == EPHEMERAL else self.inline and inline_plugin(ref) is not None


class CsiVolume(NamedTuple):
    """A volume as a CSI driver knows it.

    Attributes:
        name: driver and handle, ``DRIVER/HANDLE``.
        plugin: in-tree plugin of the volume; ``None`` for a CSI volume. An in-tree volume counts only on nodes where
            the plugin has migrated to its driver.
    """

    name: str
    driver: str
    plugin: InTree | None = None


class AttachedVolumes:
    """The CSI volumes that each node's pods use.

    Args:
        rules: counting rules of the version.

    Attributes:
        where: volume → row → number of distinct references (`VolumeRef`) by which the node's pods use it.
        failed: row → volume of the node's pods that cannot be counted → kube-scheduler's error.
    """

    def __init__(self, cluster: Cluster, rules: NodeVolumeLimitsRules) -> None:
        self.cluster = cluster
        self._rules = rules
        self._minor = rules.minor
        self._classes = -1
        self.where: dict[str, dict[int, int]] = {}
        self.failed: dict[int, dict[VolumeRef, str]] = {}
        self._counts: dict[str, Ints] = {}
        self._held: dict[tuple[int, VolumeRef], CsiVolume] = {}
        self._moved: dict[str, tuple[InTree, set[str]]] = {}
        self._limits: dict[str, dict[str, int]] = {}
        self._attachments: VolumeAttachments | None = None
        cluster.volume_use.follow(self)

    def refresh(self) -> None:
        """Recount after a change of StorageClasses; other changes arrive as events."""
        now = self._version()
        if self._classes == now:
            return
        self._classes = now
        for table in (self.where, self.failed, self._counts, self._held, self._moved, self._limits):
            table.clear()
        if self._rules.attachments:
            self._attachments = VolumeAttachments(self.cluster.objects)
        for name in self.cluster.objects.csi_nodes:
            self._note_limits(name)
        for ref, rows in self.cluster.volume_use.users.items():
            for row in rows:
                self._attach(row, ref)

    def _version(self) -> int:
        return self.cluster.objects.changed.get((StorageClass, ""), 0)

    def on_volume(self, row: int, ref: VolumeRef, used: bool) -> None:
        """Count a volume that a node's pods began to use (``used``), or stop counting it."""
        if self._classes != self._version():
            return
        if used:
            self._attach(row, ref)
        else:
            self._detach(row, ref)

    def on_csi_node(self, name: str) -> None:
        """Update a node's limits, and whether its in-tree volumes count as their driver's."""
        if self._classes != self._version():
            return
        self._note_limits(name)
        csi_node = self.cluster.objects.csi_nodes.get(name)
        for plugin, moved in self._moved.values():
            (moved.add if counts_as_csi(plugin, csi_node, self._minor) else moved.discard)(name)
        row = self.cluster.nodes.row_of.get(name)
        if row is not None:
            there = {id(each): each for each in self.cluster.on_node[row].values() if each.volumes}
            for ref in {ref for each in there.values() for ref in each.volumes}:
                self._detach(row, ref)
                self._attach(row, ref)

    def on_attachment(self, name: str) -> None:
        """Recount after a VolumeAttachment, or the volume that it names, was added, changed or deleted."""
        if self._attachments is not None:
            self._attachments.changed(name)

    def _note_limits(self, name: str) -> None:
        """Read each driver's volume limit on the node."""
        for driver in [driver for driver, limits in self._limits.items() if name in limits]:
            del self._limits[driver][name]
        csi_node = self.cluster.objects.csi_nodes.get(name)
        for each in (csi_node.spec.drivers or ()) if csi_node is not None else ():
            if each.allocatable is not None and each.allocatable.count is not None:
                self._limits.setdefault(each.name, {})[name] = each.allocatable.count

    def counts(self, driver: str, rows: Rows) -> Ints:
        """Return the number of attached volumes of a driver, int64[rows]."""
        if driver in self._counts:
            result: Ints = self._column(driver)[rows]
        else:
            result = np.zeros(length(rows), dtype=np.int64)
        by_node = self._attachments.of(driver) if self._attachments is not None else None
        if not by_node:
            return result
        names, where = self.cluster.nodes.names, self.where
        unused = [
            sum(row not in where.get(volume, ()) for volume in by_node.get(names[row], ()))
            for row in numbers(rows).tolist()
        ]
        more: Ints = result + np.array(unused, dtype=np.int64)
        return more

    def is_attached(self, name: str, rows: Rows) -> Bools:
        """Return whether pods on each node already use a volume, bool[rows]."""
        where = self.where.get(name, {})
        if not isinstance(rows, slice):
            return np.array([int(row) in where for row in rows], dtype=np.bool_)
        found = np.zeros(length(rows), dtype=np.bool_)
        found[list(where)] = True
        return found

    def counts_as_csi(self, plugin: InTree, rows: Rows) -> Bools:
        """Return whether an in-tree plugin's volumes count as its driver's, bool[rows]."""
        moved = self._moved.get(plugin.name)
        if moved is None:
            csi_nodes = self.cluster.objects.csi_nodes.items()
            found = {name for name, each in csi_nodes if counts_as_csi(plugin, each, self._minor)}
            moved = self._moved[plugin.name] = (plugin, found)
        names = self.cluster.nodes.names
        return np.array([names[row] in moved[1] for row in numbers(rows).tolist()], dtype=np.bool_)

    def limits(self, driver: str, rows: Rows) -> Ints:
        """Return a driver's volume limits, int64[rows]; NO_LIMIT for a node without a limit."""
        limits = self._limits.get(driver, {})
        nodes = self.cluster.nodes
        found = [limits.get(nodes.names[row], NO_LIMIT) for row in numbers(rows).tolist()]
        if self._rules.node_limits:
            key = limit_key(driver)
            for i, row in enumerate(numbers(rows).tolist()):
                if found[i] == NO_LIMIT:
                    found[i] = _allocatable(nodes.nodes[row]).get(key, NO_LIMIT)
        return np.array(found, dtype=np.int64)

    def failure(self, row: int) -> str:
        """Return why a node's volumes cannot be counted; "" if they can or have no limit."""
        if row not in self.failed:
            return ""
        name = self.cluster.nodes.names[row]
        limited = any(name in each for each in self._limits.values())
        if not limited and not (self._rules.node_limits and _allocatable(self.cluster.nodes.nodes[row])):
            return ""
        return next(iter(self.failed[row].values()))

    def volume(self, ref: VolumeRef) -> CsiVolume | None:
        """Return the CSI volume that a pod's volume refers to; ``None`` if it does not count.

        Raises:
            AttachmentError: if kube-scheduler fails on the volume.
        """
        if not self._rules.counts(ref):
            return None
        if ref.source not in (CLAIM, EPHEMERAL):
            return self._inline(ref)
        claim = self.cluster.objects.persistent_volume_claims.get((ref.namespace, ref.name))
        if not ref.name:
            raise AttachmentError("PersistentVolumeClaim had no name")
        if claim is None:
            return None
        if ref.source == EPHEMERAL and not is_owned(claim, ref.detail[1]):
            raise AttachmentError(not_owner(ref.namespace, ref.name, ref.detail[0]))
        return self._claimed(claim)

    def _attach(self, row: int, ref: VolumeRef) -> None:
        csi_node = self.cluster.objects.csi_nodes.get(self.cluster.nodes.names[row])
        try:
            volume = self.volume(ref)
        except AttachmentError as error:
            plugin = inline_plugin(ref)
            if plugin is None or counts_as_csi(plugin, csi_node, self._minor):
                self.failed.setdefault(row, {})[ref] = str(error)
            return
        if volume is None or (volume.plugin is not None and not counts_as_csi(volume.plugin, csi_node, self._minor)):
            return
        self._held[row, ref] = volume
        rows = self.where.setdefault(volume.name, {})
        rows[row] = rows.get(row, 0) + 1
        if rows[row] == 1:
            self._column(volume.driver)[row] += 1

    def _detach(self, row: int, ref: VolumeRef) -> None:
        failed = self.failed.get(row)
        if failed is not None and failed.pop(ref, None) is not None and not failed:
            del self.failed[row]
        volume = self._held.pop((row, ref), None)
        if volume is None:
            return
        rows = self.where[volume.name]
        rows[row] -= 1
        if not rows[row]:
            del rows[row]
            if not rows:
                del self.where[volume.name]
            self._column(volume.driver)[row] -= 1

    def _column(self, driver: str) -> Ints:
        column = grown(self._counts.get(driver, np.zeros(0, dtype=np.int64)), self.cluster.nodes.capacity)
        self._counts[driver] = column
        return column

    def _inline(self, ref: VolumeRef) -> CsiVolume | None:
        plugin = inline_plugin(ref)
        if plugin is None:
            return None
        try:
            return CsiVolume(f"{plugin.driver}/{inline_handle(ref)}", plugin.driver, plugin)
        except TranslationError as error:
            raise AttachmentError(f"converting volume({ref.name}) from inline to csi: {error}") from error

    def _claimed(self, claim: PersistentVolumeClaim) -> CsiVolume | None:
        volume = self.cluster.objects.persistent_volumes.get(claim.spec.volume_name or "")
        if volume is None:
            return self._to_be_provisioned(claim)
        csi = volume.spec.csi
        if csi is not None:
            if not csi.driver or not csi.volume_handle:
                return None
            return CsiVolume(f"{csi.driver}/{csi.volume_handle}", csi.driver)
        plugin = in_tree_plugin(volume.spec)
        if plugin is None:
            return None
        try:
            found = handle(volume)
        except TranslationError:
            return None
        return CsiVolume(f"{plugin.driver}/{found}", plugin.driver, plugin) if found else None

    def _to_be_provisioned(self, claim: PersistentVolumeClaim) -> CsiVolume | None:
        """Return a placeholder for the volume that an unbound claim will get (``getCSIDriverInfoFromSC``)."""
        storage_class = self.cluster.objects.storage_classes.get(storage_class_of(claim))
        if storage_class is None or not storage_class.provisioner or storage_class.provisioner in NEVER_MIGRATED:
            return None
        plugin = MIGRATED.get(storage_class.provisioner)
        driver = plugin.driver if plugin is not None else storage_class.provisioner
        return CsiVolume(f"{driver}/ {claim.namespace}/{claim.name}", driver, plugin)


def limit_key(driver: str) -> str:
    """Return the node resource that limits a driver's volumes. Long names are cut (``GetCSIAttachLimitKey``)."""
    key = f"{_LIMIT_PREFIX}csi-{driver}"
    if len(key) < _LONGEST_KEY:
        return key
    return f"{_LIMIT_PREFIX}csi-{driver[:23]}{sha1(driver.encode(), usedforsecurity=False).hexdigest()[:16]}"


def _allocatable(node: Node | None) -> dict[str, int]:
    """Return the volume limits in a node's allocatable: resource → number of volumes."""
    amounts = (node.status.allocatable or {}) if node is not None else {}
    limits = {name: amount for name, amount in amounts.items() if name.startswith(_LIMIT_PREFIX)}
    return {name: parse_quantity(amount).value() for name, amount in limits.items() if amount is not None}
