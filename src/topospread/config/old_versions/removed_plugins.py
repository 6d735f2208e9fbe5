"""Arguments of plugins that kube-scheduler removed by 1.23: their defaults and validation.

Source: pkg/scheduler/apis/config/v1beta1/defaults.go and validation/validation_pluginargs.go of 1.22.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from topospread.api.validation.field import FieldError, invalid
from topospread.config.plugin_sets import PluginSet
from topospread.config.resource_weights import shape_errors, weight_errors

Args = Mapping[str, Any]

SCORING_PLUGINS = {
    "LeastAllocated": "NodeResourcesLeastAllocated",
    "MostAllocated": "NodeResourcesMostAllocated",
    "RequestedToCapacityRatio": "RequestedToCapacityRatio",
}
"""Type of a scoring strategy of NodeResourcesFit → the plugin that it replaced."""


def as_plugins_took(plugin: str, given: Args, full: Args, has_defaulting_type: bool) -> dict[str, Any]:
    """Return ``full``, the arguments with the version's defaults, after the plugin applied its own defaults.

    Until 1.21, RequestedToCapacityRatio used a weight of 0 as 1. Until 1.19, PodTopologySpread had no
    ``defaultingType``; the result has System if the constraints are defaults.
    """
    if plugin == "RequestedToCapacityRatio":
        return {**full, "resources": [{**one, "weight": one.get("weight") or 1} for one in full["resources"]]}
    if plugin == "PodTopologySpread" and not has_defaulting_type:
        built_in = "defaultConstraints" in full and "defaultConstraints" not in given
        return {**given, "defaultingType": "System" if built_in else "List"}
    return dict(full)


def _ratio_errors(path: str, args: Args) -> Iterator[FieldError]:
    yield from shape_errors(f"{path}.shape", args.get("shape", ()))
    for index, resource in enumerate(args["resources"]):
        weight = resource.get("weight", 0)
        if weight < 1:
            detail = f"resource weight of {resource.get('name', '')} not in valid range [1, inf)"
            yield invalid(f"{path}.resources[{index}].weight", weight, detail)


def _node_label_errors(path: str, args: Args) -> Iterator[FieldError]:
    for suffix in ("", "Preference"):
        present = {label: index for index, label in enumerate(args.get(f"presentLabels{suffix}", ()))}
        for index, label in enumerate(args.get(f"absentLabels{suffix}", ())):
            if label in present:
                where = f"{path}.presentLabels{suffix}[{present[label]}]"
                yield invalid(where, label, f"conflict with {path}.absentLabels{suffix}[{index}]")


ERRORS: Mapping[str, Callable[[str, Args], Iterator[FieldError]]] = {
    "NodeLabel": _node_label_errors,
    "NodeResourcesLeastAllocated": lambda path, args: weight_errors(path, args["resources"]),
    "NodeResourcesMostAllocated": lambda path, args: weight_errors(path, args["resources"]),
    "RequestedToCapacityRatio": _ratio_errors,
}
"""Plugin → validation of its arguments."""


def conflicting_scores(path: str, score: PluginSet, group_version: str) -> Iterator[FieldError]:
    """Yield 1.22's errors for a v1beta1 profile with both NodeResourcesFit's scoring and one of `SCORING_PLUGINS`."""
    there = " ".join(f'"{entry.name}"' for entry in score.enabled if entry.name in SCORING_PLUGINS.values())
    for index, entry in enumerate(score.enabled):
        if entry.name == "NodeResourcesFit" and there:
            yield invalid(
                f"{path}.enabled[{index}]",
                entry.name,
                f'was conflict with [{there}] in version "{group_version}" '
                f'(KubeSchedulerConfiguration is version "{group_version}")',
            )
