"""The API server's validation of kinds other than pods and workloads, limited to the fields that scheduling reads.

These are metadata, Nodes, StorageClasses, PodDisruptionBudgets, PriorityClasses, HorizontalPodAutoscalers, amounts of
LimitRanges and ResourceQuotas, and selectors of Services. Sources:
pkg/apis/{core,policy,scheduling,autoscaling}/validation/validation.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from topospread.api.quantity import ZERO

from . import names
from .field import (
    FieldError,
    Named,
    all_invalid,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    one_of,
    positive,
    report,
    required,
)
from .metadata import check_metadata
from .names import check_label_key, check_labels
from .resources import check_amount
from .rules import check_fields
from .selectors import check_label_selector, selector_as_printed
from .workloads import check_at_most_all, check_share

# The API server's validation of Nodes: only fields that scheduling reads.
# Source: ValidateNode in pkg/apis/core/validation/validation.go (Kubernetes 1.37), whose paths of taints start at
# ``metadata``.

_LONGEST_FEATURE: Final = 253
_is_feature = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*").fullmatch


def check_node(made: Json) -> Iterator[FieldError]:
    """Check taints, resources and declared features of a new Node; its metadata is checked elsewhere."""
    yield from _check_taints("metadata.taints", made.get("spec", {}).get("taints", ()))
    status = made.get("status", {})
    capacity = status.get("capacity", {})
    # A missing allocatable is set to capacity (SetDefaults_NodeStatus).
    for field, amounts in (("capacity", capacity), ("allocatable", status.get("allocatable", capacity))):
        path = f"status.{field}"
        for name, quantity in amounts.items():
            yield from check_amount(f"{path}.{name}", name, quantity.rounded_to_milli())
    yield from _check_features("status.declaredFeatures", status.get("declaredFeatures", ()))


def _check_taints(path: str, taints: Sequence[Json]) -> Iterator[FieldError]:
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        inner = f"{path}[{index}]"
        key, value, effect = (taint.get(field, "") for field in ("key", "value", "effect"))
        yield from all_invalid(f"{inner}.key", key, names.label_key(key))
        reasons = names.label_value(value)
        if reasons:
            yield invalid(f"{inner}.value", value, ";".join(reasons))
        yield from check_fields(inner, "Taint", taint)
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            yield duplicate(inner, shown, "taints must be unique by key and effect pair")
        seen.add((key, effect))


def _check_features(path: str, features: Sequence[str]) -> Iterator[FieldError]:
    for index, feature in enumerate(features):
        inner = f"{path}[{index}]"
        if len(feature.encode()) > _LONGEST_FEATURE:
            detail = f'invalid feature name "{feature}": must be no more than {_LONGEST_FEATURE} characters'
            yield invalid(inner, feature, detail)
        elif not _is_feature(feature):
            detail = (
                f'invalid feature name "{feature}": must start with an UpperCamelCase segment, with subsequent '
                "segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric "
                "characters and slashes"
            )
            yield invalid(inner, feature, detail)
        if index and features[index - 1] == feature:
            yield duplicate(inner, feature)
        elif index and features[index - 1].encode() > feature.encode():
            yield invalid(inner, feature, "list must be sorted alphabetically")


# The API server's validation of StorageClasses. Source:
# ValidateStorageClass in pkg/apis/storage/validation/validation.go, ValidateTopologySelectorTerm in
# pkg/apis/core/validation/validation.go (Kubernetes 1.37).

Json = dict[str, Any]


def _check_topologies(path: str, terms: Sequence[Json]) -> Iterator[FieldError]:
    before: list[dict[str, frozenset[str]]] = [{} for _ in terms]  # like Go, begin with an empty map for each term
    for index, term in enumerate(terms):
        inner = f"{path}[{index}].matchLabelExpressions"
        found: dict[str, frozenset[str]] = {}
        for position, requirement in enumerate(term.get("matchLabelExpressions", ())):
            key = requirement.get("key", "")
            yield from _check_requirement(f"{inner}[{position}]", requirement)
            if key in found:
                yield duplicate(f"{inner}[{position}].key", key)
            found[key] = frozenset(requirement.get("values", ()))
        # So a term without requirements equals such an empty map, as for Go's Semantic.DeepEqual.
        if found in before:
            yield duplicate(inner, "")
        before.append(found)


def _check_requirement(path: str, requirement: Json) -> Iterator[FieldError]:
    values = requirement.get("values", ())
    if not values:
        yield required(f"{path}.values")
    for index, value in enumerate(values):
        if value in values[:index]:
            yield duplicate(f"{path}.values[{index}]", value)
    yield from check_label_key(f"{path}.key", requirement.get("key", ""))


_HIGHEST_PRIORITY: Final = 1_000_000_000
_SYSTEM_PREFIX: Final = "system-"
_SYSTEM_CLASSES: Final = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
_PREEMPTION: Final = ("PreemptLowerPriority", "Never")
VERSION_OF: Final = {
    "Node": "v1",
    "Service": "v1",
    "PodDisruptionBudget": "policy/v1",
    "PriorityClass": "scheduling.k8s.io/v1",
    "StorageClass": "storage.k8s.io/v1",
}
"""Kind → its API version, for the kinds that `validate_object` checks besides pods and workloads."""
_NAMES: Final[dict[str, Callable[[str], names.Reasons]]] = {
    "Namespace": names.dns_label,
    "Service": names.dns_label,
    "PodDisruptionBudget": names.path_segment,
}
"""Kind → check of its names; other kinds use `names.subdomain`."""


def check_other(kind: str, made: Json) -> list[FieldError]:
    """Return the errors of a new object of another kind, sorted by message.

    Args:
        kind: its key in `KINDS`; not a Pod or a workload.
        made: the decoded object, always with a namespace.
    """
    return report(_check(kind, made))


def _check(kind: str, made: Json) -> Iterator[FieldError]:
    metadata = check_metadata(made["metadata"], _NAMES.get(kind, names.subdomain))
    if kind == "PodDisruptionBudget":
        # The API server checks metadata only if the spec has no errors (rest.ValidateCreate).
        refused = list(_check_budget("spec", made.get("spec", {})))
        yield from refused or metadata
        return
    yield from metadata
    if kind == "HorizontalPodAutoscaler":
        yield from _check_autoscaler("spec", made.get("spec", {}))
    elif kind == "PriorityClass":
        yield from _check_priority(made)
    elif kind == "Node":
        yield from check_node(made)
    elif kind == "StorageClass":
        # With defaults: a missing volumeBindingMode is Immediate.
        provisioner = made.get("provisioner", "")
        if not provisioner:
            yield required("provisioner")
        else:
            yield from all_invalid("provisioner", provisioner.lower(), names.label_key(provisioner.lower()))
        yield from check_fields("", "StorageClass", made)
        yield from _check_topologies("allowedTopologies", made.get("allowedTopologies", ()))
    elif kind == "LimitRange":
        for index, item in enumerate(made.get("spec", {}).get("limits", ())):
            yield from _check_limits(f"spec.limits[{index}]", item)
    elif kind == "ResourceQuota":
        for name, quantity in made.get("spec", {}).get("hard", {}).items():
            yield from check_amount(f"spec.hard[{name}]", name, quantity)
    elif kind == "Service":
        yield from check_labels("spec.selector", made.get("spec", {}).get("selector", {}))


def _check_priority(made: Json) -> Iterator[FieldError]:
    name, value = made["metadata"].get("name", ""), made.get("value", 0)
    if name.startswith(_SYSTEM_PREFIX):
        problem = _not_a_system_class(name, value, made.get("globalDefault", False))
        if problem:
            words = f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use only. error: "
            yield forbidden("metadata.name", words + problem)
    elif value > _HIGHEST_PRIORITY:
        yield forbidden("value", f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}")
    policy = made.get("preemptionPolicy", _PREEMPTION[0])
    if not policy:
        yield required("preemptionPolicy")
    elif policy not in _PREEMPTION:
        yield not_supported("preemptionPolicy", Named(policy), _PREEMPTION)


def _not_a_system_class(name: str, value: int, global_default: bool) -> str:
    if name not in _SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if value != _SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if global_default else ""


def _check_budget(path: str, spec: Json) -> Iterator[FieldError]:
    """Check a budget's spec (ValidatePodDisruptionBudgetSpec)."""
    shares = [name for name in ("minAvailable", "maxUnavailable") if name in spec]
    if len(shares) == 2:
        yield invalid(path, _as_printed(spec), "minAvailable and maxUnavailable cannot be both set")
    for name in shares:
        yield from check_share(f"{path}.{name}", spec[name])
        yield from check_at_most_all(f"{path}.{name}", spec[name])
    yield from check_label_selector(f"{path}.selector", spec.get("selector"))
    yield from check_fields(path, "PodDisruptionBudgetSpec", spec)


def _check_autoscaler(path: str, spec: Json) -> Iterator[FieldError]:
    """Check an autoscaler's spec with HPAScaleToZero on, as in 1.37 (validateHorizontalPodAutoscalerSpec)."""
    least, most = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if least is not None and least < 0:
        yield invalid(f"{path}.minReplicas", least, "must be greater than or equal to 0")
    if most == 0:
        yield required(f"{path}.maxReplicas", "must be set and greater than 0")
    elif most < 0:
        yield invalid(f"{path}.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield invalid(f"{path}.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    yield from check_fields(f"{path}.scaleTargetRef", "CrossVersionObjectReference", spec.get("scaleTargetRef", {}))
    metrics = spec.get("metrics", ())
    if least == 0 and not any(each.get("type") in ("Object", "External") for each in metrics):
        words = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield forbidden(f"{path}.metrics", words)
    for index, metric in enumerate(metrics):
        yield from _check_metric(f"{path}.metrics[{index}]", metric)
    for name, rules in spec.get("behavior", {}).items():
        yield from _check_scaling(f"{path}.behavior.{name}", rules)


_SOURCES: Final = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}
"""Type of a metric → its field, in the order in which the API server checks the fields."""
_Rule = tuple[tuple[str, ...], str, tuple[str, str] | None]
_UTILIZATION: Final[_Rule] = (
    ("averageUtilization", "averageValue"),
    "must set either a target raw value or a target utilization",
    ("averageValue", "may not set both a target raw value and a target utilization"),
)
_TARGETS: Final[dict[str, _Rule]] = {
    "object": (("averageValue", "value"), "must set either a target value or averageValue", None),
    "external": (
        ("averageValue", "value"),
        "must set either a target value for metric or a per-pod target",
        ("value", "may not set both a target value for metric and a per-pod target"),
    ),
    "pods": (("averageValue",), "must specify a positive target averageValue", None),
    "resource": _UTILIZATION,
    "containerResource": _UTILIZATION,
}
"""Field of a metric → (fields of its target; error if none is set; (field, error) if all are set, or None)."""


def _check_metric(path: str, metric: Json) -> Iterator[FieldError]:
    """Check a metric of an autoscaler (validateMetricSpec)."""
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    yield from one_of(f"{path}.type", kind, sorted(_SOURCES))
    given, expected = [each for each in _SOURCES.values() if each in metric], _SOURCES.get(kind, "")
    for name in given[:1]:
        yield from _check_source(f"{path}.{name}", name, metric[name])
    if expected and expected not in given:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    for name in given if len(given) > 1 else ():
        if name != expected:
            yield forbidden(f"{path}.{name}", "must populate the given metric source only")


def _check_source(path: str, name: str, source: Json) -> Iterator[FieldError]:
    if name == "object":
        reference = source.get("describedObject", {})
        yield from check_fields(f"{path}.describedObject", "CrossVersionObjectReference", reference)
    of_resource = _TARGETS[name] is _UTILIZATION
    identifier, at = (source, path) if of_resource else (source.get("metric", {}), f"{path}.metric")
    if not identifier.get("name"):
        yield required(f"{at}.name", f"must specify a {'resource' if of_resource else 'metric'} name")
    elif not of_resource:
        yield from all_invalid(f"{at}.name", identifier["name"], names.path_segment(identifier["name"]))
    if name == "containerResource":
        container = source.get("container", "")
        if not container:
            yield required(f"{path}.container", "must specify a container")
        else:
            yield from all_invalid(f"{path}.container", container, names.dns_label(container))
    yield from _check_target(f"{path}.target", source.get("target", {}), *_TARGETS[name])


def _check_target(
    path: str, target: Json, fields: tuple[str, ...], missing: str, both: tuple[str, str] | None
) -> Iterator[FieldError]:
    kind = target.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in ("Utilization", "Value", "AverageValue"):
        yield invalid(f"{path}.type", Named(kind), "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        if field in target and target[field].sign <= 0:
            yield invalid(f"{path}.{field}", target[field], "must be positive")
    if target.get("averageUtilization", 1) < 1:
        yield invalid(f"{path}.averageUtilization", target["averageUtilization"], "must be greater than 0")
    if not any(each in target for each in fields):
        yield required(f"{path}.{fields[0]}", missing)
    if both is not None and all(each in target for each in fields):
        yield forbidden(f"{path}.{both[0]}", both[1])


def _check_scaling(path: str, rules: Json) -> Iterator[FieldError]:
    """Check one direction of an autoscaler's behavior (validateScalingRules)."""
    yield from _check_seconds(f"{path}.stabilizationWindowSeconds", rules.get("stabilizationWindowSeconds", 0), 0, 3600)
    yield from one_of(f"{path}.selectPolicy", rules.get("selectPolicy", "Max"), ("Disabled", "Max", "Min"))
    if not rules.get("policies", True):
        yield required(f"{path}.policies", "must specify at least one Policy")
    for index, policy in enumerate(rules.get("policies", ())):
        at = f"{path}.policies[{index}]"
        yield from one_of(f"{at}.type", policy.get("type", ""), ("Percent", "Pods"))
        yield from positive(f"{at}.value", policy.get("value", 0))
        yield from _check_seconds(f"{at}.periodSeconds", policy.get("periodSeconds", 0), 1, 1800)
    yield from check_amount(f"{path}.tolerance", "", rules.get("tolerance", ZERO))


def _check_seconds(path: str, seconds: int, least: int, most: int) -> Iterator[FieldError]:
    if seconds < least:
        yield invalid(path, seconds, "must be greater than zero" if least else "must be greater than or equal to zero")
    if seconds > most:
        yield invalid(path, seconds, f"must be less than or equal to {most}")


_ORDER: Final = (
    ("min", "max", "min", "min value {} is greater than max value {}"),
    ("min", "defaultRequest", "defaultRequest", "min value {} is greater than default request value {}"),
    ("defaultRequest", "max", "defaultRequest", "default request value {} is greater than max value {}"),
    ("defaultRequest", "default", "defaultRequest", "default request value {} is greater than default limit value {}"),
    ("min", "default", "default", "min value {} is greater than default value {}"),
    ("default", "max", "default", "default value {} is greater than max value {}"),
)
"""(smaller bound, larger bound, field that the error names, message)."""


def _check_limits(path: str, item: Json) -> Iterator[FieldError]:
    """Check that the bounds and defaults of a LimitRange's item agree (ValidateLimitRange)."""
    for field in ("default", "defaultRequest") if item.get("type") == "Pod" else ():
        if item.get(field):
            yield forbidden(f"{path}.{field}", "may not be specified when `type` is 'Pod'")
    for small, large, field, words in _ORDER:
        for name, low in item.get(small, {}).items():
            high = item.get(large, {}).get(name, low)
            if low.compare(high) > 0:
                value = (
                    low if (field == small) != (field == "default") else high
                )  # the value that the API server prints
                yield invalid(f"{path}.{field}[{name}]", value, words.format(low, high))


def _as_printed(spec: Json) -> Json:
    """Return a budget's spec as Go prints the internal struct, whose fields have no JSON names."""
    selector = spec.get("selector")
    return {
        "MinAvailable": spec.get("minAvailable"),
        "Selector": None if selector is None else selector_as_printed(selector),
        "MaxUnavailable": spec.get("maxUnavailable"),
        "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
    }
