"""Plugins' arguments as Go prints its internal types, for the one message of kube-scheduler that shows them.

Source: pkg/scheduler/apis/config/types_pluginargs.go, whose fields have no JSON names; core/v1's have, and leave out
what is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from topospread.config.durations import format_duration, parse_duration

_FIELDS: Mapping[str, tuple[tuple[str, Any], ...]] = {
    "DefaultPreemption": (("minCandidateNodesPercentage", 0), ("minCandidateNodesAbsolute", 0)),
    "InterPodAffinity": (("hardPodAffinityWeight", 0), ("ignorePreferredTermsOfExistingPods", False)),
    "NodeResourcesFit": (("ignoredResources", None), ("ignoredResourceGroups", None), ("scoringStrategy", None)),
    "PodTopologySpread": (("defaultConstraints", None), ("defaultingType", "")),
    "NodeResourcesBalancedAllocation": (("resources", None),),
    "VolumeBinding": (("bindTimeoutSeconds", 0), ("shape", None)),
    "NodeAffinity": (("addedAffinity", None),),
    "DynamicResources": (("filterTimeout", None), ("bindingTimeout", None)),
    "scoringStrategy": (("type", ""), ("resources", None), ("requestedToCapacityRatio", None)),
    "requestedToCapacityRatio": (("shape", None),),
    "resources": (("name", ""), ("weight", 0)),
    "shape": (("utilization", 0), ("score", 0)),
}

# Fields of core/v1 that are printed even when they are empty, in order; the others follow in the order of the type.
_CORE_ALWAYS: Mapping[str, tuple[tuple[str, Any], ...]] = {
    "defaultConstraints": (("maxSkew", 0), ("topologyKey", ""), ("whenUnsatisfiable", "")),
    "matchExpressions": (("key", ""), ("operator", "")),
    "matchFields": (("key", ""), ("operator", "")),
    "requiredDuringSchedulingIgnoredDuringExecution": (("nodeSelectorTerms", None),),
    "preferredDuringSchedulingIgnoredDuringExecution": (("weight", 0), ("preference", {})),
}
_CORE_ORDER = (
    "labelSelector",
    "minDomains",
    "nodeAffinityPolicy",
    "nodeTaintsPolicy",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "preferredDuringSchedulingIgnoredDuringExecution",
    "matchLabels",
    "matchExpressions",
    "matchFields",
    "matchLabelKeys",
    "values",
)


def go_form(plugin: str, args: Mapping[str, Any] | None) -> Any:
    """Arguments of an in-tree plugin as data in the form, and the order, in which Go prints them."""
    return _internal(plugin, args) if plugin in _FIELDS else args


def same_args(plugin: str, one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether two arguments are the same to Kubernetes: for in-tree ones, nothing and an empty list are one."""
    if plugin not in _FIELDS:
        return one == other
    return bool(_without_empty(go_form(plugin, one)) == _without_empty(go_form(plugin, other)))


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: kept for key, one in value.items() if (kept := _without_empty(one)) is not None}
    if isinstance(value, list):
        return [_without_empty(one) for one in value] or None
    return value


def _internal(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_internal(name, one) for one in value]
    if name in ("defaultConstraints", "addedAffinity"):
        return None if value is None else _core(name, value)
    if name in ("filterTimeout", "bindingTimeout") and value is not None:
        return format_duration(parse_duration(value) or 0)
    if name not in _FIELDS or value is None:
        return value
    return {_capital(key): _internal(key, value.get(key, default)) for key, default in _FIELDS[name]}


def _capital(key: str) -> str:
    return key[0].upper() + key[1:]


def _core(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [_core(name, one) for one in value]
    if not isinstance(value, dict):
        return value
    if name == "matchLabels":
        return dict(sorted(value.items()))
    always = {key: _core(key, value.get(key, default)) for key, default in _CORE_ALWAYS.get(name, ())}
    return always | {key: _core(key, value[key]) for key in _CORE_ORDER if value.get(key) not in (None, [], "")}
