"""Services and the workload controllers, across their API versions: typed structs (data only)."""

from __future__ import annotations

from typing import Final

import msgspec

from .labels import LabelSelector
from .meta import Int32, KubeObject, KubeStruct
from .pod import PodCondition, PodTemplateSpec
from .storage import PersistentVolumeClaim

KEEP_SPREAD: Final = "keep-spread"
"""The value of the annotation topospread.dev/scale-in."""


class ServiceSpec(KubeStruct):
    """``spec`` of a Service; without a selector it selects no pods."""

    selector: dict[str, str] | None = None
    type: str | None = None
    cluster_ip: str | None = msgspec.field(default=None, name="clusterIP")
    publish_not_ready_addresses: bool | None = None
    internal_traffic_policy: str | None = None
    traffic_distribution: str | None = None


class Service(KubeObject):
    """``v1`` Service."""

    spec: ServiceSpec = msgspec.field(default_factory=ServiceSpec)


class ReplicationControllerSpec(KubeStruct):
    """``spec`` of a ReplicationController: its selector is a plain map."""

    replicas: Int32 | None = None
    selector: dict[str, str] | None = None
    template: PodTemplateSpec | None = None


class ReplicationController(KubeObject):
    """``v1`` ReplicationController."""

    spec: ReplicationControllerSpec = msgspec.field(default_factory=ReplicationControllerSpec)


class ReplicaSetSpec(KubeStruct):
    """``spec`` of a ReplicaSet."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)


class ReplicaSet(KubeObject):
    """``apps/v1`` ReplicaSet."""

    spec: ReplicaSetSpec = msgspec.field(default_factory=ReplicaSetSpec)


class RollingUpdateDeployment(KubeStruct):
    """``spec.strategy.rollingUpdate`` of a Deployment: numbers of pods, or percentages of the replicas."""

    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


class DeploymentStrategy(KubeStruct):
    """``spec.strategy`` of a Deployment; RollingUpdate by default."""

    type: str | None = None
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(KubeStruct):
    """``spec`` of a Deployment."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)
    strategy: DeploymentStrategy | None = None
    paused: bool | None = None


class Deployment(KubeObject):
    """``apps/v1`` Deployment."""

    spec: DeploymentSpec = msgspec.field(default_factory=DeploymentSpec)


class StatefulSetOrdinals(KubeStruct):
    """``spec.ordinals`` of a StatefulSet: its first ordinal."""

    start: Int32 | None = None


class RollingUpdateStatefulSet(KubeStruct):
    """``spec.updateStrategy.rollingUpdate`` of a StatefulSet: lowest updated ordinal, and maximum unavailable pods."""

    partition: Int32 | None = None
    max_unavailable: int | str | None = None


class StatefulSetUpdateStrategy(KubeStruct):
    """``spec.updateStrategy`` of a StatefulSet; RollingUpdate by default."""

    type: str | None = None
    rolling_update: RollingUpdateStatefulSet | None = None


class StatefulSetSpec(KubeStruct):
    """``spec`` of a StatefulSet."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)
    service_name: str | None = None
    pod_management_policy: str | None = None
    ordinals: StatefulSetOrdinals | None = None
    volume_claim_templates: list[PersistentVolumeClaim] | None = None
    update_strategy: StatefulSetUpdateStrategy | None = None


class StatefulSetStatus(KubeStruct):
    """``status`` of a StatefulSet: the revisions that its pods' ``controller-revision-hash`` names."""

    current_revision: str | None = None
    update_revision: str | None = None


class StatefulSet(KubeObject):
    """``apps/v1`` StatefulSet."""

    spec: StatefulSetSpec = msgspec.field(default_factory=StatefulSetSpec)
    status: StatefulSetStatus | None = None


class RollingUpdateDaemonSet(KubeStruct):
    """``spec.updateStrategy.rollingUpdate`` of a DaemonSet: numbers of pods, or percentages of its nodes."""

    max_unavailable: int | str | None = None
    max_surge: int | str | None = None


class DaemonSetUpdateStrategy(KubeStruct):
    """``spec.updateStrategy`` of a DaemonSet; RollingUpdate by default."""

    type: str | None = None
    rolling_update: RollingUpdateDaemonSet | None = None


class DaemonSetSpec(KubeStruct):
    """``spec`` of a DaemonSet."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)
    update_strategy: DaemonSetUpdateStrategy | None = None


class DaemonSet(KubeObject):
    """``apps/v1`` DaemonSet."""

    spec: DaemonSetSpec = msgspec.field(default_factory=DaemonSetSpec)


class JobSpec(KubeStruct):
    """``spec`` of a Job."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    manual_selector: bool | None = None
    pod_replacement_policy: str | None = None
    managed_by: str | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)


class JobStatus(KubeStruct):
    """``status`` of a Job: its progress."""

    succeeded: Int32 | None = None
    failed: Int32 | None = None
    active: Int32 | None = None
    completed_indexes: str | None = None
    failed_indexes: str | None = None
    completion_time: str | None = None
    conditions: list[PodCondition] | None = None


class Job(KubeObject):
    """``batch/v1`` Job."""

    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: JobStatus | None = None


class JobTemplateSpec(KubeStruct):
    """A CronJob's template of its Jobs."""

    spec: JobSpec = msgspec.field(default_factory=JobSpec)


class CronJobSpec(KubeStruct):
    """``spec`` of a CronJob."""

    schedule: str | None = None
    suspend: bool | None = None
    job_template: JobTemplateSpec = msgspec.field(default_factory=JobTemplateSpec)


class CronJob(KubeObject):
    """``batch/v1`` CronJob."""

    spec: CronJobSpec = msgspec.field(default_factory=CronJobSpec)


# HorizontalPodAutoscalers: the scaled object and the bounds on its replicas (data only).


class CrossVersionObjectReference(KubeStruct):
    """The object that is scaled, in the autoscaler's namespace."""

    api_version: str = ""
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(KubeStruct):
    """``spec`` of a HorizontalPodAutoscaler; metrics are not read."""

    scale_target_ref: CrossVersionObjectReference = msgspec.field(default_factory=CrossVersionObjectReference)
    min_replicas: Int32 | None = None
    max_replicas: Int32 = 0

    @property
    def least(self) -> int:
        """``minReplicas``, 1 by default."""
        return 1 if self.min_replicas is None else self.min_replicas


class HorizontalPodAutoscaler(KubeObject):
    """``autoscaling/v2`` HorizontalPodAutoscaler."""

    spec: HorizontalPodAutoscalerSpec = msgspec.field(default_factory=HorizontalPodAutoscalerSpec)
