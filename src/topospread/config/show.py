"""The effective configuration as plain data, with where each part comes from; how it looks is the report's matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from topospread.config.args import DefaultConstraint
from topospread.config.expansion import WEIGHED
from topospread.config.profile import EXTENSION_POINTS, Configuration, EnabledPlugin, Profile

Shown = dict[str, Any]

DEFAULT = "default"
"""What stands for an origin that is not in the file."""


def describe(configuration: Configuration, standard: Configuration | None = None) -> Shown:
    """The profiles in force, as JSON would have them; the form is stable.

    ``from`` is the path of the field in the file that set something, or "default". ``standard``: the configuration
    that sets nothing, to tell what is off; without it nothing is.
    """
    usual = standard.profiles[0].plugins if standard is not None else {}
    return {
        "apiVersion": "topospread.dev/v1",
        "kind": "EffectiveSchedulerConfiguration",
        "configurationVersion": configuration.api_version,
        "profiles": [_profile(profile, usual) for profile in configuration.profiles],
        "warnings": list(configuration.warnings),
    }


def _profile(profile: Profile, usual: Mapping[str, Sequence[EnabledPlugin]]) -> Shown:
    return {
        "schedulerName": profile.scheduler_name,
        "percentageOfNodesToScore": {
            "value": profile.percentage_of_nodes_to_score,
            "from": profile.origins.get("percentageOfNodesToScore", DEFAULT),
        },
        "plugins": {
            EXTENSION_POINTS[point]: [_plugin(point, plugin) for plugin in plugins]
            for point, plugins in profile.plugins.items()
        },
        "off": {
            EXTENSION_POINTS[point]: names
            for point, plugins in usual.items()
            if (names := [each.name for each in plugins if each.name not in profile.enabled(point)])
        },
        "defaultConstraints": _default_constraints(profile),
        "args": _args(profile),
    }


def _plugin(point: str, plugin: EnabledPlugin) -> Shown:
    shown: Shown = {"name": plugin.name, "from": plugin.origin or DEFAULT}
    if point in WEIGHED:
        shown |= {"weight": plugin.weight, "weightFrom": plugin.weight_origin or DEFAULT}
    return shown


def _default_constraints(profile: Profile) -> Shown:
    """The constraints that pods without their own get. A plugin that is off gives none, whatever its arguments say."""
    args = profile.args.pod_topology_spread
    on = any("PodTopologySpread" in profile.enabled(point) for point in ("filter", "score"))
    listed = profile.origins.get("PodTopologySpread.defaultConstraints", "")
    kind = profile.origins.get("PodTopologySpread.defaultingType", DEFAULT)
    built_in = args.defaulting_type == "System"
    return {
        "defaultingType": args.defaulting_type,
        "defaultingTypeFrom": kind,
        "from": "built in" if built_in else listed or kind,
        "inForce": on,
        "constraints": [
            _constraint(one) | {"from": "built in" if built_in else f"{listed}[{index}]"}
            for index, one in enumerate(args.constraints_in_force)
        ],
    }


def _constraint(constraint: DefaultConstraint) -> Shown:
    shown = _plain(constraint)
    return {key: value for key, value in shown.items() if value not in (None, [])}


# Arguments by plugin; default constraints are shown on their own.
_SHOWN: Mapping[str, str] = {
    "NodeAffinity": "node_affinity",
    "NodeResourcesFit": "node_resources_fit",
    "NodeResourcesBalancedAllocation": "node_resources_balanced_allocation",
    "InterPodAffinity": "inter_pod_affinity",
    "DefaultPreemption": "default_preemption",
    "VolumeBinding": "volume_binding",
    "NodeResourcesLeastAllocated": "node_resources_least_allocated",
    "NodeResourcesMostAllocated": "node_resources_most_allocated",
    "RequestedToCapacityRatio": "requested_to_capacity_ratio",
    "NodeLabel": "node_label",
    "ServiceAffinity": "service_affinity",
}


def _args(profile: Profile) -> Shown:
    """Arguments of the plugins that are on somewhere, each with the fields that the file sets."""
    on = {name for point in profile.plugins for name in profile.enabled(point)}
    return {
        plugin: {
            "values": _plain(getattr(profile.args, attribute)),
            "from": {
                name.partition(".")[2]: path for name, path in profile.origins.items() if name.startswith(f"{plugin}.")
            },
        }
        for plugin, attribute in _SHOWN.items()
        if plugin in on
    }


def _plain(value: Any) -> Any:
    """Structs as dicts with Kubernetes' names."""
    if isinstance(value, msgspec.Struct):
        return {_camel(name): _plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
