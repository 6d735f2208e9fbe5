"""All objects of the input, by kind and in input order (data only)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Protocol

from topospread.errors import Place

from .admission_policy import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from .device_claims import ResourceClaim, ResourceClaimTemplate
from .devices import DeviceClass, DeviceTaintRule, ResourceSlice
from .meta import KubeObject
from .node import Namespace, Node
from .pod import Pod
from .pod_groups import PodGroup, Workload
from .policy import LimitRange, PodDisruptionBudget, PriorityClass, ResourceQuota, RuntimeClass
from .storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from .workload import (
    CronJob,
    DaemonSet,
    Deployment,
    HorizontalPodAutoscaler,
    Job,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)

ObjectKey = tuple[str, str, str]
"""Kind, namespace ("" when cluster-scoped) and name."""


class Keyed(Protocol):
    """An object, a workload, or a result about one."""

    @property
    def kind(self) -> str: ...  # noqa: D102

    @property
    def namespace(self) -> str: ...  # noqa: D102

    @property
    def name(self) -> str: ...  # noqa: D102


def key_of(keyed: Keyed) -> ObjectKey:
    """Return the key of an object, a workload, or a result about one."""
    return keyed.kind, keyed.namespace, keyed.name


ABSENT = "the input has none"
"""The reason for an unknown kind if the given files have no object of it."""


@dataclass(slots=True)
class Inventory:
    """The objects a simulation starts from.

    Attributes:
        skipped: kind → number of ignored objects of kinds that have no effect.
        unmodelled: key of an ignored object → hash of its content. Its kind is in `NOT_MODELLED`, or creates an unknown
            number of pods.
        warnings: warnings for the user (missing or ignored input).
        notes: notes for the user (replaced, assumed or added objects).
        places: place of each object in the input.
        declared: place of each workload's promise annotation.
        configurations: KubeSchedulerConfiguration objects as plain data.
        unread: kind → why its objects are unknown, for example ``Forbidden``. `ABSENT`: the input has no objects of the
            kind.
        parameters: objects that may be parameters of admission policies, as plain data.
        read_from: arguments of `load`, for callers that read the input again (`sources.load.ReadFrom`).
    """

    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    namespaces: list[Namespace] = field(default_factory=list)
    services: list[Service] = field(default_factory=list)
    replication_controllers: list[ReplicationController] = field(default_factory=list)
    replica_sets: list[ReplicaSet] = field(default_factory=list)
    deployments: list[Deployment] = field(default_factory=list)
    stateful_sets: list[StatefulSet] = field(default_factory=list)
    daemon_sets: list[DaemonSet] = field(default_factory=list)
    jobs: list[Job] = field(default_factory=list)
    cron_jobs: list[CronJob] = field(default_factory=list)
    horizontal_pod_autoscalers: list[HorizontalPodAutoscaler] = field(default_factory=list)
    pod_disruption_budgets: list[PodDisruptionBudget] = field(default_factory=list)
    priority_classes: list[PriorityClass] = field(default_factory=list)
    persistent_volumes: list[PersistentVolume] = field(default_factory=list)
    persistent_volume_claims: list[PersistentVolumeClaim] = field(default_factory=list)
    storage_classes: list[StorageClass] = field(default_factory=list)
    csi_nodes: list[CSINode] = field(default_factory=list)
    csi_drivers: list[CSIDriver] = field(default_factory=list)
    csi_storage_capacities: list[CSIStorageCapacity] = field(default_factory=list)
    volume_attachments: list[VolumeAttachment] = field(default_factory=list)
    device_classes: list[DeviceClass] = field(default_factory=list)
    resource_slices: list[ResourceSlice] = field(default_factory=list)
    resource_claims: list[ResourceClaim] = field(default_factory=list)
    resource_claim_templates: list[ResourceClaimTemplate] = field(default_factory=list)
    device_taint_rules: list[DeviceTaintRule] = field(default_factory=list)
    scheduling_workloads: list[Workload] = field(default_factory=list)
    pod_groups: list[PodGroup] = field(default_factory=list)
    limit_ranges: list[LimitRange] = field(default_factory=list)
    resource_quotas: list[ResourceQuota] = field(default_factory=list)
    validating_policies: list[ValidatingAdmissionPolicy] = field(default_factory=list)
    validating_bindings: list[ValidatingAdmissionPolicyBinding] = field(default_factory=list)
    mutating_policies: list[MutatingAdmissionPolicy] = field(default_factory=list)
    mutating_bindings: list[MutatingAdmissionPolicyBinding] = field(default_factory=list)
    runtime_classes: list[RuntimeClass] = field(default_factory=list)
    configurations: list[dict[str, object]] = field(default_factory=list)
    parameters: list[dict[str, object]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    unmodelled: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    places: dict[ObjectKey, Place] = field(default_factory=dict)
    declared: dict[ObjectKey, Place] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    read_from: object = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"<Inventory {len(self.nodes)} nodes, {len(self.pods)} pods>"

    @property
    def read_namespaces(self) -> set[str]:
        """Names of the Namespace objects in the input, without namespaces that are only referenced."""
        return {name for kind, _, name in self.places if kind == "Namespace"}

    def objects(self) -> Iterator[KubeObject]:
        """Yield all typed objects, kind after kind, each in input order."""
        for each in fields(self):
            for item in getattr(self, each.name) if each.type.startswith("list[") else ():
                if isinstance(item, KubeObject):
                    yield item
