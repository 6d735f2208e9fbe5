"""NodeVolumeLimits rejects nodes that exceed a CSI driver's volume limit in CSINode (plugins/nodevolumelimits)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from topospread.api.pod import Pod
from topospread.api.storage import CSINode, VolumeAttachment
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Bools, Ints, Rows
from topospread.cluster.objects import ClusterObjects
from topospread.cluster.volume_use import CLAIM, EPHEMERAL, volume_refs

from .attached_volumes import AttachedVolumes, AttachmentError, CsiVolume, NodeVolumeLimitsRules
from .cluster_event import ADD, ASSIGNED_POD_DELETE, DELETE, UPDATE, ClusterEvent, Registration, always, takes_room
from .csi_migration import inline_plugin
from .interface import UNRESOLVABLE, UNSCHEDULABLE, PluginError, Prepared, Scope, Status, length, numbers
from .pod_volumes import not_found
from .volume_requeueing import names_claim

REASON = "node(s) exceed max volume count"
_EXCEEDED, _MISSING, _ERROR, _NOT_INSTALLED = 1, 2, 3, 4


class NodeVolumeLimits:
    """Rejects nodes where the pod's new volumes exceed a driver's limit.

    A volume is not new if a pod on the node already uses it.
    """

    name = "NodeVolumeLimits"

    def __init__(self, rules: NodeVolumeLimitsRules | None = None) -> None:
        self._rules = rules or NodeVolumeLimitsRules()
        self._attached: AttachedVolumes | None = None

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter for pods with claims, or with disks that a CSI driver may handle."""
        if not any(self._rules.counts(ref) for ref in pod_class.volumes):
            return Prepared()
        attached = self._attached
        if attached is None or attached.cluster is not cluster:
            attached = self._attached = AttachedVolumes(cluster, self._rules)
        attached.refresh()
        limits = _Limits(pod_class, attached, self._rules)
        return Prepared(filter=limits if limits.has_say else None)

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for CSINodes, deleted pods with volumes, the pod's claims, and deleted VolumeAttachments."""
        hints, counts_nominated = self._rules.hints_on_changes, self._rules.nominated_pods_take_room
        detached = _after_volume_attachment_deleted if hints else always
        return (
            Registration(ClusterEvent("CSINode", ADD)),
            *((Registration(ClusterEvent("CSINode", UPDATE), _after_csi_node_updated),) if hints else ()),
            Registration(
                ASSIGNED_POD_DELETE,
                lambda pod, old, new: takes_room(old, counts_nominated=counts_nominated) and _has_counted(old),
            ),
            Registration(ClusterEvent("PersistentVolumeClaim", ADD), lambda pod, old, new: names_claim(pod, new)),
            Registration(ClusterEvent("VolumeAttachment", DELETE), detached),
        )


def _after_csi_node_updated(pod: Pod, old: CSINode, new: CSINode) -> bool:
    before, after = _counts(old), _counts(new)
    return any(count > before.get(driver, 0) for driver, count in after.items())


def _counts(node: CSINode) -> dict[str, int]:
    drivers = node.spec.drivers or ()
    return {each.name: (each.allocatable.count or 0) if each.allocatable is not None else 0 for each in drivers}


def _has_counted(pod: Pod) -> bool:
    return any(ref.source in (CLAIM, EPHEMERAL) or inline_plugin(ref) is not None for ref in volume_refs(pod))


def _after_volume_attachment_deleted(pod: Pod, old: VolumeAttachment, new: object) -> bool:
    for ref in volume_refs(pod):
        if ref.source == CLAIM:
            return True
        plugin = inline_plugin(ref)
        if plugin is not None and plugin.driver == old.spec.attacher:
            return True
    return False


class _Limits:
    scope = Scope.PODS

    def __init__(self, pod_class: PodClass, attached: AttachedVolumes, rules: NodeVolumeLimitsRules) -> None:
        self._attached = attached
        self._cluster = attached.cluster
        self._volumes: set[CsiVolume] = set()
        self._problem = ""
        self._missing = False
        self._needed: list[str] = []
        objects = self._cluster.objects
        for ref in pod_class.volumes:
            named = ref.source in (CLAIM, EPHEMERAL) and ref.name and rules.ephemeral
            if named and (ref.namespace, ref.name) not in objects.persistent_volume_claims:
                words = not_found("persistentvolumeclaim", ref.name)
                self._problem = f"looking up PVC {ref.namespace}/{ref.name}: {words}"
                self._missing = rules.missing_rejects
                return
            try:
                volume = attached.volume(ref)
            except AttachmentError as error:
                self._problem = str(error)
                return
            if volume is not None:
                self._volumes.add(volume)
        if rules.drivers:
            drivers = {volume.driver for volume in self._volumes}
            self._needed = [name for name in sorted(drivers) if _has_to_be_there(name, objects, rules)]

    @property
    def has_say(self) -> bool:
        """True if the filter may reject any node; if not, the plugin is skipped."""
        return bool(self._volumes or self._problem)

    @property
    def may_fail(self) -> bool:
        self._attached.refresh()
        return bool(self._problem and not self._missing) or bool(self._attached.failed)

    def filter(self, rows: Rows) -> Ints:
        self._attached.refresh()
        if self._problem:
            return np.full(length(rows), _MISSING if self._missing else _ERROR, dtype=np.int64)
        attached = self._attached
        exceeded = np.zeros(length(rows), dtype=np.bool_)
        counted = np.zeros(length(rows), dtype=np.bool_)
        for driver in {volume.driver for volume in self._volumes}:
            new = np.zeros(length(rows), dtype=np.int64)
            for volume in self._volumes:
                if volume.driver == driver:
                    here = self._counts_on(volume, rows)
                    counted |= here
                    new += here & ~attached.is_attached(volume.name, rows)
            exceeded |= (new > 0) & (attached.counts(driver, rows) + new > attached.limits(driver, rows))
        codes = np.where(exceeded, _EXCEEDED, 0).astype(np.int64)
        if attached.failed:
            fails = [bool(attached.failure(row)) for row in numbers(rows).tolist()]
            codes[counted & np.array(fails, dtype=np.bool_)] = _ERROR
        self._find_missing_drivers(codes, rows)
        return codes

    def _find_missing_drivers(self, codes: Ints, rows: Rows) -> None:
        """Reject nodes that lack a driver which the volumes require (``checkCSIDriverOnNode``).

        kube-scheduler's message names any missing driver; here it is the first by name.
        """
        names, csi_nodes = self._cluster.nodes.names, self._cluster.objects.csi_nodes
        for position, driver in reversed(list(enumerate(self._needed))):
            counted = np.zeros(length(rows), dtype=np.bool_)
            for volume in self._volumes:
                if volume.driver == driver:
                    counted |= self._counts_on(volume, rows)
            missing = [not _lists(csi_nodes.get(names[row]), driver) for row in numbers(rows).tolist()]
            codes[counted & np.array(missing, dtype=np.bool_)] = _NOT_INSTALLED + position

    def _counts_on(self, volume: CsiVolume, rows: Rows) -> Bools:
        if volume.plugin is None:
            return np.ones(length(rows), dtype=np.bool_)
        return self._attached.counts_as_csi(volume.plugin, rows)

    def status(self, code: int) -> Status:
        if code == _EXCEEDED:
            return Status(UNSCHEDULABLE, (REASON,))
        if code >= _NOT_INSTALLED:
            driver = self._needed[code - _NOT_INSTALLED]
            return Status(UNSCHEDULABLE, (f"{driver} CSI driver is not installed on the node",))
        if code == _MISSING:
            return Status(UNRESOLVABLE, (self._problem,))
        failures = (self._attached.failure(row) for row in self._attached.failed)
        words = self._problem or next(words for words in failures if words)
        raise PluginError(f'running "NodeVolumeLimits" filter plugin: {words}')


def _has_to_be_there(driver: str, objects: ClusterObjects, rules: NodeVolumeLimitsRules) -> bool:
    """Return whether volumes of a driver require it on the node."""
    found = objects.csi_drivers.get(driver)
    return found is not None and (bool(found.spec.prevent_pod_scheduling_if_missing) or not rules.drivers_opt_in)


def _lists(csi_node: CSINode | None, driver: str) -> bool:
    return csi_node is not None and any(each.name == driver for each in csi_node.spec.drivers or ())
