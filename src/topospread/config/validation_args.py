"""kube-scheduler's validation of plugin arguments, with its field paths and messages.

Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go of 1.37.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from topospread.api.labels import parse_int64
from topospread.api.validation import names
from topospread.api.validation.field import FieldError, Named, duplicate, forbidden, invalid, not_supported, required
from topospread.config.durations import format_duration, parse_duration
from topospread.config.gates import Gates
from topospread.config.old_versions import removed_plugins
from topospread.config.resource_weights import shape_errors, weight_errors
from topospread.config.versions import KubeVersion

# kube-scheduler's validation of ``addedAffinity``, the node affinity in its configuration.
# Source: component-helpers' scheduling/corev1/nodeaffinity/nodeaffinity.go and apimachinery's labels.NewRequirement.

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")


def added_affinity_errors(path: str, affinity: Args) -> Errors:
    """Yield errors for node selector terms that do not parse. Preferred terms of weight 0 are skipped."""
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", {})
    where = f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    for index, term in enumerate(required.get("nodeSelectorTerms", ())):
        yield from _term(f"{where}[{index}]", term)
    where = f"{path}.preferredDuringSchedulingIgnoredDuringExecution"
    for index, preferred in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution", ())):
        if preferred.get("weight", 0) != 0:
            yield from _term(f"{where}[{index}]", preferred.get("preference", {}))


def _term(path: str, term: Args) -> Errors:
    for index, requirement in enumerate(term.get("matchExpressions", ())):
        yield from _label_requirement(f"{path}.matchExpressions[{index}]", requirement)
    for index, requirement in enumerate(term.get("matchFields", ())):
        yield from _field_requirement(f"{path}.matchFields[{index}]", requirement)


def _label_requirement(path: str, requirement: Args) -> Errors:
    key, operator = requirement.get("key", ""), requirement.get("operator", "")
    values: Sequence[str] = requirement.get("values", ())
    if operator not in _OPERATORS:
        yield not_supported(f"{path}.operator", Named(operator), _OPERATORS)
        return
    if reasons := names.label_key(key):
        yield invalid(f"{path}.key", key, "; ".join(reasons))
    yield from _value_count(f"{path}.values", operator, requirement.get("values"))
    for index, value in enumerate(values):
        where = f"{path}.values[{index}]"
        if operator in ("Gt", "Lt") and parse_int64(value) is None:
            yield invalid(where, value, "for 'Gt', 'Lt' operators, the value must be an integer")
        if reasons := names.label_value(value):
            yield invalid(f"{where}[{key}]", value, "; ".join(reasons))


def _value_count(path: str, operator: str, values: Sequence[str] | None) -> Errors:
    count = len(values or ())
    if operator in ("In", "NotIn") and count == 0:
        yield invalid(path, values, "for 'in', 'notin' operators, values set can't be empty")
    elif operator in ("Exists", "DoesNotExist") and count:
        yield invalid(path, values, "values set must be empty for exists and does not exist")
    elif operator in ("Gt", "Lt") and count != 1:
        yield invalid(path, values, "for 'Gt', 'Lt' operators, exactly one value is required")


def _field_requirement(path: str, requirement: Args) -> Errors:
    operator, values = requirement.get("operator", ""), requirement.get("values")
    if operator not in _FIELD_OPERATORS:
        yield not_supported(f"{path}.operator", Named(operator), _FIELD_OPERATORS)
    elif len(values or ()) != 1:
        yield invalid(f"{path}.values", values, "must have one element")


Args = Mapping[str, Any]
Errors = Iterator[FieldError]

_ACTIONS = ("DoNotSchedule", "ScheduleAnyway")
_STRATEGIES = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


def args_errors(plugin: str, path: str, args: Args, gates: Gates) -> Errors:
    """Yield the errors of a plugin's arguments; none for plugins whose arguments kube-scheduler does not validate."""
    check, removed = _CHECKS.get(plugin), removed_plugins.ERRORS.get(plugin)
    if check is not None:
        yield from check(path, args, gates)
    elif removed is not None:
        yield from removed(path, args)


def _default_preemption(path: str, args: Args, gates: Gates) -> Errors:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    percentage_path, absolute_path = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    if not 0 <= percentage <= 100:
        yield invalid(percentage_path, percentage, "not in valid range [0, 100]")
    if absolute < 0:
        yield invalid(absolute_path, absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        yield invalid(percentage_path, 0, "cannot be zero at the same time as minCandidateNodesAbsolute")
        yield invalid(absolute_path, 0, "cannot be zero at the same time as minCandidateNodesPercentage")


def _inter_pod_affinity(path: str, args: Args, gates: Gates) -> Errors:
    weight = args["hardPodAffinityWeight"]
    if not 0 <= weight <= 100:
        yield invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")


def _pod_topology_spread(path: str, args: Args, gates: Gates) -> Errors:
    constraints = args.get("defaultConstraints", [])
    kind = args["defaultingType"]
    if kind not in ("System", "List"):
        yield not_supported(f"{path}.defaultingType", Named(kind), ("System", "List"))
    elif kind == "System" and constraints:
        yield invalid(f"{path}.defaultingType", Named(kind), "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for index, constraint in enumerate(constraints):
        where = f"{path}.defaultConstraints[{index}]"
        yield from _constraint(where, constraint)
        pair = constraint.get("topologyKey", ""), constraint.get("whenUnsatisfiable", "")
        if pair in seen:
            yield duplicate(where, f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)


def _constraint(path: str, constraint: Args) -> Errors:
    skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
    action = constraint.get("whenUnsatisfiable", "")
    if skew <= 0:
        yield invalid(f"{path}.maxSkew", skew, "not in valid range (0, inf)")
    if not key:
        yield required(f"{path}.topologyKey", "can not be empty")
    else:
        yield from _label_name(f"{path}.topologyKey", key)
    if not action:
        yield required(f"{path}.whenUnsatisfiable", "can not be empty")
    elif action not in _ACTIONS:
        yield not_supported(f"{path}.whenUnsatisfiable", Named(action), _ACTIONS)
    if "labelSelector" in constraint:
        yield forbidden(f"{path}.labelSelector", "constraint must not define a selector, as they deduced for each pod")


def _label_name(path: str, name: str) -> Errors:
    for reason in names.label_key(name):
        yield invalid(path, name, reason)


def _balanced_allocation(path: str, args: Args, gates: Gates) -> Errors:
    seen: set[str] = set()
    for index, resource in enumerate(args["resources"]):
        name, weight = resource.get("name", ""), resource.get("weight", 0)
        if name in seen:
            yield duplicate(f"{path}.resources[{index}].name", name)
        seen.add(name)
        if weight != 1:
            yield invalid(f"{path}.resources[{index}].weight", weight, "must be 1")


def _node_affinity(path: str, args: Args, gates: Gates) -> Errors:
    yield from added_affinity_errors(f"{path}.addedAffinity", args.get("addedAffinity", {}))


def _volume_binding(path: str, args: Args, gates: Gates) -> Errors:
    timeout, shape = args["bindTimeoutSeconds"], args.get("shape")
    if timeout < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}.bindTimeoutSeconds", timeout, detail)
    gate = "StorageCapacityScoring" if gates.kube_version >= KubeVersion(1, 33) else "VolumeCapacityPriority"
    if gates.enabled(gate):
        yield from shape_errors(f"{path}.shape", shape or ())
    elif shape is not None:
        points = [{"Utilization": one.get("utilization", 0), "Score": one.get("score", 0)} for one in shape]
        detail = f"unexpected field `shape`, remove it or turn on the feature gate {gate}"
        yield invalid(f"{path}.shape", points, detail)


def _dynamic_resources(path: str, args: Args, gates: Gates) -> Errors:
    filtering, binding = args.get("filterTimeout"), args.get("bindingTimeout")
    if filtering is not None:
        if not gates.enabled("DRASchedulerFilterTimeout"):
            yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
        elif (parse_duration(filtering) or 0) < 0:
            yield invalid(f"{path}.filterTimeout", _duration(filtering), "must be zero or positive")
    if binding is not None:
        conditions = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
        if not all(map(gates.enabled, conditions)):
            yield forbidden(f"{path}.bindingTimeout", f"{' or '.join(conditions)} feature gate is disabled")
        elif (parse_duration(binding) or 0) < 10**9:
            yield invalid(f"{path}.bindingTimeout", _duration(binding), "must be at least 1 second")


def _duration(text: str) -> Named:
    return Named(format_duration(parse_duration(text) or 0))


def fit_errors(path: str, args: Args, version: KubeVersion) -> Errors:
    """Yield the errors that NodeResourcesFit reports about its arguments when kube-scheduler starts it.

    kube-scheduler's validation does not report them, because it looks up the plugin by a wrong name (`MISNAMED`).
    """
    for index, resource in enumerate(args.get("ignoredResources", ())):
        yield from _label_name(f"{path}.ignoredResources[{index}]", resource)
    for index, group in enumerate(args.get("ignoredResourceGroups", ())):
        where = f"{path}.ignoredResourceGroups[{index}]"
        if "/" in group:
            yield invalid(where, group, "resource group name can't contain '/'")
        yield from _label_name(where, group)
    if version.minor >= 22:
        yield from _scoring_strategy(f"{path}.scoringStrategy", args["scoringStrategy"])


def _scoring_strategy(path: str, strategy: Args) -> Errors:
    kind, ratio = strategy.get("type", ""), strategy.get("requestedToCapacityRatio")
    if kind not in _STRATEGIES:
        yield not_supported(f"{path}.type", Named(kind), _STRATEGIES)
    yield from weight_errors(path, strategy["resources"])
    where = f"{path}.requestedToCapacityRatio"
    if kind == "RequestedToCapacityRatio":
        if ratio is None:
            yield required(where, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from shape_errors(f"{where}.shape", ratio.get("shape", ()))
    elif ratio is not None:
        yield forbidden(where, "must be nil when type is not RequestedToCapacityRatio")


_CHECKS: Mapping[str, Callable[[str, Args, Gates], Errors]] = {
    "DefaultPreemption": _default_preemption,
    "InterPodAffinity": _inter_pod_affinity,
    "NodeAffinity": _node_affinity,
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "PodTopologySpread": _pod_topology_spread,
    "VolumeBinding": _volume_binding,
    "DynamicResources": _dynamic_resources,
}

MISNAMED = "NodeResourcesFitArgs"
"""Name by which kube-scheduler's validation wrongly looks up NodeResourcesFit's arguments since 1.22."""
