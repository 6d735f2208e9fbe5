"""Groups of pods that are scheduled together: Workloads and PodGroups (data only).

Source: k8s.io/api/scheduling/v1beta1/types.go.
"""

from __future__ import annotations

import msgspec

from .meta import Int32, KubeObject, KubeStruct


class GangSchedulingPolicy(KubeStruct):
    """Gang scheduling: at least this number of pods is scheduled together, or none."""

    min_count: Int32 = 0


class EmptyStruct(KubeStruct):
    """A policy or mode without settings."""


class PodGroupSchedulingPolicy(KubeStruct):
    """The scheduling policy of a group: single pods or a gang."""

    basic: EmptyStruct | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(KubeStruct):
    """A node label whose value all pods of a group must share."""

    key: str = ""


class PodGroupSchedulingConstraints(KubeStruct):
    """Constraints on the nodes of a group."""

    topology: list[TopologyConstraint] | None = None


class PodGroupResourceClaim(KubeStruct):
    """A claim on devices that the pods of a group share."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class DisruptionMode(KubeStruct):
    """The way in which preemption evicts the group: single pods, or all of them."""

    single: EmptyStruct | None = None
    all: EmptyStruct | None = None


class PodGroupTemplate(KubeStruct):
    """The template of PodGroups that a Workload's controller creates."""

    name: str = ""
    scheduling_policy: PodGroupSchedulingPolicy = msgspec.field(default_factory=PodGroupSchedulingPolicy)
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: Int32 | None = None
    preemption_policy: str | None = None


class ControllerReference(KubeStruct):
    """The object whose pods a workload describes."""

    api_group: str = ""
    kind: str = ""
    name: str = ""


class WorkloadSpec(KubeStruct):
    """``spec`` of a Workload."""

    controller_ref: ControllerReference | None = None
    pod_group_templates: list[PodGroupTemplate] | None = None


class Workload(KubeObject):
    """``scheduling.k8s.io`` Workload (beta in 1.37, off by default)."""

    spec: WorkloadSpec = msgspec.field(default_factory=WorkloadSpec)


class TemplateReference(KubeStruct):
    """The Workload and its template from which a PodGroup was created."""

    workload_name: str = ""
    template_name: str = ""


class PodGroupSpec(KubeStruct):
    """``spec`` of a PodGroup."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: TemplateReference | None = None
    scheduling_policy: PodGroupSchedulingPolicy = msgspec.field(default_factory=PodGroupSchedulingPolicy)
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: list[PodGroupResourceClaim] | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: Int32 | None = None
    preemption_policy: str | None = None


class PodGroupClaimStatus(KubeStruct):
    """The name of the ResourceClaim that was created for an entry of a group."""

    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(KubeStruct):
    """``status`` of a PodGroup."""

    resource_claim_statuses: list[PodGroupClaimStatus] | None = None


class PodGroup(KubeObject):
    """``scheduling.k8s.io`` PodGroup (beta in 1.37, off by default)."""

    spec: PodGroupSpec = msgspec.field(default_factory=PodGroupSpec)
    status: PodGroupStatus = msgspec.field(default_factory=PodGroupStatus)
