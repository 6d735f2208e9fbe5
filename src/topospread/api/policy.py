"""Fields of kinds with rules for pods: priority classes, budgets, limit ranges, quotas, runtime classes."""

from __future__ import annotations

import msgspec

from .labels import LabelSelector
from .meta import Int32, KubeObject, KubeStruct, ResourceList
from .node_selection import Toleration


class PriorityClass(KubeObject):
    """``scheduling.k8s.io/v1`` PriorityClass."""

    value: Int32 = 0
    global_default: bool | None = None
    preemption_policy: str | None = None


class PodDisruptionBudgetSpec(KubeStruct):
    """``spec`` of a PodDisruptionBudget."""

    selector: LabelSelector | None = None
    min_available: Int32 | str | None = None
    max_unavailable: Int32 | str | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(KubeStruct):
    """``status`` of a PodDisruptionBudget."""

    disruptions_allowed: Int32 | None = None
    current_healthy: Int32 | None = None
    desired_healthy: Int32 | None = None
    expected_pods: Int32 | None = None
    disrupted_pods: dict[str, str | None] | None = None


class PodDisruptionBudget(KubeObject):
    """``policy/v1`` PodDisruptionBudget."""

    spec: PodDisruptionBudgetSpec = msgspec.field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus | None = None


class LimitRangeItem(KubeStruct):
    """Defaults and bounds for one type: Container, Pod or PersistentVolumeClaim."""

    type: str = ""
    default: ResourceList | None = None
    default_request: ResourceList | None = None
    max: ResourceList | None = None
    min: ResourceList | None = None
    max_limit_request_ratio: ResourceList | None = None


class LimitRangeSpec(KubeStruct):
    """``spec`` of a LimitRange."""

    limits: list[LimitRangeItem] | None = None


class LimitRange(KubeObject):
    """``v1`` LimitRange."""

    spec: LimitRangeSpec = msgspec.field(default_factory=LimitRangeSpec)


class ScopedResourceSelectorRequirement(KubeStruct):
    """One expression of a quota's ``scopeSelector``."""

    scope_name: str = ""
    operator: str = ""
    values: list[str] | None = None


class ScopeSelector(KubeStruct):
    """Additional conditions on the pods that a quota counts."""

    match_expressions: list[ScopedResourceSelectorRequirement] | None = None


class ResourceQuotaSpec(KubeStruct):
    """``spec`` of a ResourceQuota."""

    hard: ResourceList | None = None
    scopes: list[str] | None = None
    scope_selector: ScopeSelector | None = None


class ResourceQuota(KubeObject):
    """``v1`` ResourceQuota."""

    spec: ResourceQuotaSpec = msgspec.field(default_factory=ResourceQuotaSpec)


class Overhead(KubeStruct):
    """Resources that a runtime adds to each pod."""

    pod_fixed: ResourceList | None = None


class RuntimeClassScheduling(KubeStruct):
    """The nodes on which pods of a runtime class can run."""

    node_selector: dict[str, str] | None = None
    tolerations: list[Toleration] | None = None


class RuntimeClass(KubeObject):
    """``node.k8s.io/v1`` RuntimeClass."""

    handler: str | None = None
    overhead: Overhead | None = None
    scheduling: RuntimeClassScheduling | None = None
