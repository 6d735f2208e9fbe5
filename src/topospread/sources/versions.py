"""Convert objects of old API versions to the current version, and reject unknown kinds and versions.

Objects are plain data; only fields that topospread reads are converted. Sources: k8s.io/kubernetes
pkg/apis/{apps,extensions}/v1beta1/defaults.go, pkg/apis/policy/v1beta1/conversion.go,
pkg/apis/node/v1alpha1/conversion.go, k8s.io/dynamic-resource-allocation/api/v1beta1/conversion.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from topospread.api.kinds import KINDS
from topospread.api.served import versions_of

_INDEX: Final = re.compile(r"\[\d+\]")
_EXTENSIONS: Final = "extensions/v1beta1"
_FLAT_REQUESTS: Final = frozenset({"resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3"})

VERSIONS: Final[Mapping[str, tuple[str, ...]]] = {kind: versions_of(kind) for kind in KINDS}
"""Kind → all API versions it ever had, current version first."""

_AVERAGE: Final = ("targetAverageUtilization", "targetAverageValue")
_METRICS_OF_V2BETA1: Final[Mapping[str, tuple[str, ...]]] = {
    "resource": _AVERAGE,
    "containerResource": _AVERAGE,
    "pods": ("metricName", "selector", "targetAverageValue"),
    "external": ("metricName", "metricSelector", "targetValue", "targetAverageValue"),
    "object": (
        *("metricName", "targetValue", "averageValue", "selector"),
        *("target.apiVersion", "target.kind", "target.name"),
    ),
}

_OLD_METRICS: Final = frozenset({"autoscaling/v1", "autoscaling/v2beta1"})
_EXACT: Final = ("deviceClassName", "selectors", "allocationMode", "count", "adminAccess", "tolerations", "capacity")
"""Fields of a request that had no parent ``exactly`` in resource.k8s.io/v1beta1."""
_OLD_CLAIM: Final = frozenset(f"spec.devices.requests[].{name}" for name in _EXACT)

OLD_FIELDS: Final[Mapping[str, frozenset[str]]] = {
    "Deployment": frozenset({"spec.rollbackTo", "spec.rollbackTo.revision"}),
    "DaemonSet": frozenset({"spec.templateGeneration"}),
    "RuntimeClass": frozenset({"spec"}),
    "ResourceSlice": frozenset({"spec.devices[].basic"}),
    "ResourceClaim": _OLD_CLAIM,
    "ResourceClaimTemplate": frozenset(f"spec.{path}" for path in _OLD_CLAIM),
    "Workload": frozenset({"spec.podGroups"}),
    "PodGroup": frozenset({"spec.podGroupTemplateRef"}),
    "HorizontalPodAutoscaler": frozenset(
        {"spec.targetCPUUtilizationPercentage", "status.currentCPUUtilizationPercentage"}
        | {f"spec.metrics[].{source}.{name}" for source, names in _METRICS_OF_V2BETA1.items() for name in names}
    ),
}
"""Fields that only old versions had; [] matches any item."""

_DEFAULT_SELECTOR: Final = frozenset({_EXTENSIONS, "apps/v1beta1"})
_ALL_PODS: Final[tuple[dict[str, object], ...]] = (
    {},
    {"matchLabels": {}},
    {"matchExpressions": []},
    {"matchLabels": {}, "matchExpressions": []},
)


def was_known(kind: str, api_version: object, path: str) -> bool:
    """Return whether a field that the current version lacks existed in the object's old version."""
    return api_version != VERSIONS[kind][0] and _INDEX.sub("[]", path) in OLD_FIELDS.get(kind, frozenset())


class NoMatchError(ValueError):
    """Raised for a kind that the API server does not have in this version. The message is kubectl's."""


def resolve_kind(api_version: str, kind: str) -> str | None:
    """Return the kind's key in `KINDS`; None for ignored kinds.

    A custom resource may have the name of a built-in kind; the group distinguishes them.

    Raises:
        NoMatchError: if the group is Kubernetes' own and has no such kind in this version.
    """
    group, _, version = api_version.rpartition("/")
    if "/" in group or not version:
        raise NoMatchError(f"unexpected GroupVersion string: {api_version}")
    # Kubernetes' own groups have no dot, or are below k8s.io except x-k8s.io.
    if "." in group and not group.endswith(".k8s.io"):
        return None
    if kind not in KINDS:
        for known in KINDS:
            if known.lower() == kind.lower():
                raise NoMatchError(_no_match(api_version, kind) + f"; it is spelt {known}")
        return None
    if api_version not in VERSIONS[kind]:
        raise NoMatchError(_no_match(api_version, kind) + f"; use {VERSIONS[kind][0]}")
    return kind


def _no_match(api_version: str, kind: str) -> str:
    return f'no matches for kind "{kind}" in version "{api_version}"'


def to_current(value: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return an object converted to its current version; unchanged if it is current."""
    version = value.get("apiVersion")
    current = VERSIONS[kind][0]
    if version == current or "AdmissionPolicy" in kind:
        return value  # old versions have the same fields, and the version shows whether it is served
    converted = {**value, "apiVersion": current}
    if version in _DEFAULT_SELECTOR and kind != "Job":
        _default_from_template(converted)
    elif kind == "PodDisruptionBudget":
        _select_nothing_when_empty(converted)
    elif version == "node.k8s.io/v1alpha1" and isinstance(spec := converted.pop("spec", None), dict):
        converted["handler"] = spec.get("runtimeHandler")
        converted |= {name: spec[name] for name in ("overhead", "scheduling") if name in spec}
    elif version in _FLAT_REQUESTS and isinstance(spec := value.get("spec"), dict):
        converted["spec"] = _of_flat_requests(kind, spec)
    elif version in _OLD_METRICS and isinstance(spec := value.get("spec"), dict):
        converted["spec"] = {name: field for name, field in spec.items() if name != "behavior"}
        converted["spec"]["metrics"] = _of_old_metrics(spec, is_v1=version == "autoscaling/v1")
    return converted


def _of_old_metrics(spec: dict[str, Any], *, is_v1: bool) -> Any:
    """Return the metrics of an autoscaler of autoscaling/v1 or v2beta1 in their present form."""
    percent = spec.get("targetCPUUtilizationPercentage")
    if is_v1 and percent is not None:
        target = {"type": "Utilization", "averageUtilization": percent}
        return [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    metrics = None if is_v1 else spec.get("metrics")
    return [_of_old_metric(each) for each in metrics] if isinstance(metrics, list) else metrics


def _of_old_metric(metric: Any) -> Any:
    if not isinstance(metric, dict):
        return metric
    made: dict[str, Any] = {"type": metric.get("type")}
    for name in _METRICS_OF_V2BETA1.keys() & metric.keys():
        source = made[name] = metric[name]
        if isinstance(source, dict):
            target = {"type": "Value", "value": source.get("targetValue")}
            target["averageValue"] = source.get("targetAverageValue", source.get("averageValue"))
            target["averageUtilization"] = source.get("targetAverageUtilization")
            made[name] = {name: source[name] for name in ("name", "container") if name in source}
            made[name] |= {"metric": {"name": source.get("metricName")}, "target": target}
            made[name]["describedObject"] = source.get("target")
    return made


def _of_flat_requests(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return a device spec with the fields of ``basic`` moved up, and request fields moved into ``exactly``."""
    if kind == "ResourceSlice" and isinstance(devices := spec.get("devices"), list):
        return {**spec, "devices": [_without_basic(each) for each in devices]}
    if kind == "ResourceClaimTemplate" and isinstance(inner := spec.get("spec"), dict):
        return {**spec, "spec": _of_flat_requests("ResourceClaim", inner)}
    claim = spec.get("devices")
    if kind == "ResourceClaim" and isinstance(claim, dict) and isinstance(requests := claim.get("requests"), list):
        return {**spec, "devices": {**claim, "requests": [_with_exactly(each) for each in requests]}}
    return spec


def _without_basic(device: Any) -> Any:
    if not isinstance(device, dict) or not isinstance(basic := device.get("basic"), dict):
        return device
    return {name: field for name, field in device.items() if name != "basic"} | basic


def _with_exactly(request: Any) -> Any:
    if not isinstance(request, dict) or not any(name in request for name in _EXACT):
        return request
    exactly = {name: request[name] for name in _EXACT if name in request}
    return {name: field for name, field in request.items() if name not in _EXACT} | {"exactly": exactly}


def _default_from_template(workload: dict[str, Any]) -> None:
    """Use the template's labels as selector and labels if the object has none, like these old versions."""
    spec = workload.get("spec")
    if not isinstance(spec, dict):
        return
    template = spec.get("template")
    metadata = template.get("metadata") if isinstance(template, dict) else None
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    if not labels:
        return
    if spec.get("selector") is None:
        workload["spec"] = {**spec, "selector": {"matchLabels": labels}}
    own = workload.get("metadata")
    if isinstance(own, dict) and not own.get("labels"):
        workload["metadata"] = {**own, "labels": labels}


def _select_nothing_when_empty(budget: dict[str, Any]) -> None:
    """Make an empty selector select nothing, like old versions. Today it selects every pod."""
    spec = budget.get("spec")
    if isinstance(spec, dict) and spec.get("selector") in _ALL_PODS:
        budget["spec"] = {**spec, "selector": None}
