"""VolumeRestrictions rejects nodes whose pods use a disk or claim exclusively (plugins/volumerestrictions)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from topospread.api.pod import Pod, Volume
from topospread.api.storage import PersistentVolumeClaim
from topospread.cluster import Cluster, PodClass
from topospread.cluster.arrays import Ints, Rows
from topospread.cluster.volume_use import AWS_DISK, CLAIM, GCE_DISK, ISCSI, RBD, VolumeRef
from topospread.config.version_rules import by_version, gated, since

from .cluster_event import ADD, ASSIGNED_POD_DELETE, ClusterEvent, Registration
from .group_columns import GroupColumn
from .interface import UNRESOLVABLE, UNSCHEDULABLE, Prepared, Scope, Status, StatusCode, length
from .pod_volumes import not_found, pod_claims

REASON_DISK = "node(s) had no available disk"
REASON_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
REASON_IN_USE_UNTIL_1_33 = (
    "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode"
)
READ_WRITE_ONCE_POD = "ReadWriteOncePod"
_DISKS = frozenset({GCE_DISK, AWS_DISK, ISCSI, RBD})
_DISK, _IN_USE = 1, 2


@dataclass(frozen=True, slots=True)
class VolumeRestrictionsRules:
    """The differences between Kubernetes versions.

    Attributes:
        once_per_pod: whether only one pod can use a ReadWriteOncePod claim, and a missing claim rejects the pod.
    """

    once_per_pod: bool = gated("ReadWriteOncePod")
    preemptible: bool = since("1.27", "Evicting the pod that uses a ReadWriteOncePod claim can help.")
    skips: bool = since(
        "1.28",
        "PreFilter skips a pod whose ReadWriteOncePod claims are free and whose disks need no check, so nominated pods "
        "do not reject it.",
    )
    reason_in_use: str = by_version(
        {"1.18": REASON_IN_USE_UNTIL_1_33, "1.34": REASON_IN_USE},
        {
            "1.34": "The reason for a ReadWriteOncePod claim in use is `node(s) unavailable due to "
            "PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod`."
        },
    )


class VolumeRestrictions:
    """Rejects nodes whose pods mount one of the pod's disks, and all nodes while its ReadWriteOncePod claim is in use.

    Pods may share GCE disks, iSCSI targets and RBD images if all mount them read-only, but never EBS disks.
    """

    name = "VolumeRestrictions"

    def __init__(self, rules: VolumeRestrictionsRules = VolumeRestrictionsRules()) -> None:
        self._rules = rules

    def prepare(self, pod_class: PodClass, cluster: Cluster) -> Prepared:
        """Prepare Filter for pods with such volumes. A missing claim rejects the pod on all nodes."""
        if not pod_class.volumes:
            return Prepared()
        claims: set[VolumeRef] = set()
        for each in pod_claims(pod_class.pod, cluster.objects) if self._rules.once_per_pod else ():
            if each.ephemeral:
                continue
            if each.claim is None:
                return Prepared(rejected=Status(UNRESOLVABLE, (not_found("persistentvolumeclaim", each.name),)))
            if READ_WRITE_ONCE_POD in (each.claim.spec.access_modes or ()):
                claims.add(VolumeRef(CLAIM, pod_class.namespace, each.name))
        disks = _MountedDisks(pod_class, cluster) if any(ref.source in _DISKS for ref in pod_class.volumes) else None
        if not claims:
            return Prepared(filter=disks)
        exclusive = _Exclusive(claims, disks, cluster, self._rules)
        return Prepared(filter=exclusive, watcher=exclusive)

    def events_to_register(self, cluster: Cluster) -> Sequence[Registration]:
        """Register for deleted pods that used the pod's disk or claim, for added nodes, and for the pod's claims."""
        return (
            Registration(ASSIGNED_POD_DELETE, _after_assigned_pod_deleted),
            Registration(ClusterEvent("Node", ADD)),
            Registration(ClusterEvent("PersistentVolumeClaim", ADD), _after_claim_added),
        )


def _after_assigned_pod_deleted(pod: Pod, old: Pod, new: object) -> bool:
    if old.namespace != pod.namespace:
        return False
    theirs = old.spec.volumes or ()
    if any(_conflict(mine, each) for mine in pod.spec.volumes or () for each in theirs):
        return True
    return not _claims(pod).isdisjoint(_claims(old))


def _after_claim_added(pod: Pod, old: object, new: PersistentVolumeClaim) -> bool:
    return new.namespace == pod.namespace and new.name in _claims(pod)


def _claims(pod: Pod) -> set[str]:
    """Return the names of the pod's claims, except claims of ephemeral volumes."""
    named = (each.persistent_volume_claim for each in pod.spec.volumes or ())
    return {each.claim_name for each in named if each is not None}


class _MountedDisks:
    """The pod's disks that are mounted by pods on a node."""

    scope = Scope.PODS

    def __init__(self, pod_class: PodClass, cluster: Cluster) -> None:
        self._volumes = pod_class.pod.spec.volumes or ()
        self._refs = [ref for ref in pod_class.volumes if ref.source in _DISKS]
        self._cluster = cluster

    def filter(self, rows: Rows) -> Ints:
        if not isinstance(rows, slice):
            return np.array([_DISK * self.conflicts(int(row)) for row in rows], dtype=np.int64)
        codes = np.zeros(length(rows), dtype=np.int64)
        users = self._cluster.volume_use.users
        for row in {row for ref in self._refs for row in users.get(ref, ())}:
            codes[row] = _DISK * self.conflicts(row)
        return codes

    def conflicts(self, row: int) -> bool:
        """Return whether a pod on the node prevents this pod from mounting its disks."""
        users = self._cluster.volume_use.users
        if not any(row in users.get(ref, ()) for ref in self._refs):
            return False
        there = {id(each): each for each in self._cluster.on_node[row].values() if each.volumes}
        return any(
            _conflict(mine, theirs)
            for mine in self._volumes
            for each in there.values()
            for theirs in each.pod.spec.volumes or ()
        )

    def status(self, code: int) -> Status:
        return Status(UNSCHEDULABLE, (REASON_DISK,))


class _Exclusive:
    """The Filter extension point for disks and ReadWriteOncePod claims, and its watcher.

    PreFilter counts the pod's ReadWriteOncePod claims in use. AddPod and RemovePod compare only claims' names, in any
    namespace (``conflictingPVCRefCountForPod``).
    """

    layout = 0

    scope = Scope.CLUSTER

    def __init__(
        self, claims: set[VolumeRef], disks: _MountedDisks | None, cluster: Cluster, rules: VolumeRestrictionsRules
    ) -> None:
        self._claims = claims
        self._names = {ref.name for ref in claims}
        self._disks = disks
        self._cluster = cluster
        self._use = cluster.volume_use
        self._rules = rules
        self._assumed = 0
        self._moved: dict[VolumeRef, int] = {}
        self.skipped = False

    def filter(self, rows: Rows) -> Ints:
        codes = np.full(length(rows), _IN_USE * self._in_use(), dtype=np.int64)
        if self._disks is not None:
            codes[self._disks.filter(rows) != 0] = _DISK
        return codes

    def _in_use(self) -> bool:
        counted = sum(self._use.total(ref) > self._moved.get(ref, 0) for ref in self._claims)
        return not self.skipped and counted + self._assumed > 0

    def begin_dry_run(self) -> None:
        """Record whether PreFilter skips the pod because none of its claims is in use."""
        unused = self._disks is None and not any(self._use.total(ref) for ref in self._claims)
        self.skipped = unused and self._rules.skips

    def end_dry_run(self) -> None:
        self.skipped = False

    def status(self, code: int) -> Status:
        if code == _DISK:
            return Status(UNSCHEDULABLE, (REASON_DISK,))
        status_code: StatusCode = UNSCHEDULABLE if self._rules.preemptible else UNRESOLVABLE
        return Status(status_code, (self._rules.reason_in_use,))

    def assume(self, row: int, pod_class: PodClass, delta: int) -> bool:
        """Count the claims of a pod that a dry run adds or removes. Return whether a count changed."""
        named = [ref for ref in pod_class.volumes if ref.source == CLAIM and ref.name in self._names]
        for ref in named:
            self._assumed += delta
            if ref in self._claims:
                self._moved[ref] = self._moved.get(ref, 0) + delta
        return bool(named)

    def counts_pods_of(self, pod_class: PodClass) -> bool:
        return bool(pod_class.volumes)

    def on_nodes(self, rows: Collection[int]) -> None:
        """Do nothing: no count depends on the node."""

    def columns(self) -> list[GroupColumn]:
        """Return a column that distinguishes nodes whose pods mount a disk of the pod, if the pod has disks."""
        return [] if self._disks is None else [_DiskColumn(self._disks)]


class _DiskColumn:
    """A column: the filter's code if a pod on the node mounts a disk of the incoming pod, else 0."""

    is_fixed = False

    def __init__(self, disks: _MountedDisks) -> None:
        self._disks = disks
        self.key = ("disks", disks)

    def values(self, rows: Rows) -> Ints:
        return self._disks.filter(rows)

    def value(self, row: int) -> int:
        return _DISK * self._disks.conflicts(row)


def _conflict(mine: Volume, theirs: Volume) -> bool:
    """Return whether two volumes are the same disk and pods may not share it (``isVolumeConflict``)."""
    return (
        _same_gce_disk(mine, theirs)
        or _same_ebs_disk(mine, theirs)
        or _same_iscsi_target(mine, theirs)
        or _same_rbd_image(mine, theirs)
    )


def _same_gce_disk(mine: Volume, theirs: Volume) -> bool:
    one, other = mine.gce_persistent_disk, theirs.gce_persistent_disk
    if one is None or other is None or one.pd_name != other.pd_name:
        return False
    return not (one.read_only and other.read_only)


def _same_ebs_disk(mine: Volume, theirs: Volume) -> bool:
    one, other = mine.aws_elastic_block_store, theirs.aws_elastic_block_store
    return one is not None and other is not None and one.volume_id == other.volume_id


def _same_iscsi_target(mine: Volume, theirs: Volume) -> bool:
    one, other = mine.iscsi, theirs.iscsi
    if one is None or other is None or one.iqn != other.iqn:
        return False
    return not (one.read_only and other.read_only)


def _same_rbd_image(mine: Volume, theirs: Volume) -> bool:
    one, other = mine.rbd, theirs.rbd
    if one is None or other is None or (one.pool or "", one.image) != (other.pool or "", other.image):
        return False
    return bool({*(one.monitors or ())} & {*(other.monitors or ())}) and not (one.read_only and other.read_only)
