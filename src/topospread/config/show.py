"""The effective configuration as plain data, with the origin of each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta

from topospread.base import API_VERSION, Base
from topospread.config.args import PLUGINS, DefaultConstraint
from topospread.config.expansion import WEIGHED
from topospread.config.profile import EXTENSION_POINTS, Configuration, EnabledPlugin, Profile
from topospread.config.typed_args import plain

Shown = dict[str, Any]

DEFAULT = "default"
"""Origin of values that are not in the file."""


def describe(configuration: Configuration, standard: Configuration | None = None) -> Shown:
    """Return the profiles in force as JSON data, in a stable format.

    ``from`` is the path of the field in the file that set a value, or "default".

    Args:
        configuration: the configuration in force.
        standard: the default configuration. Its plugins that a profile disables are listed under ``off``; ``None``
            leaves ``off`` empty.
    """
    usual = standard.profiles[0].plugins if standard is not None else {}
    return {
        "apiVersion": API_VERSION,
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
    """Return the constraints for pods without their own; none if the plugin is disabled."""
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
    shown = plain(constraint)
    return {key: value for key, value in shown.items() if value not in (None, [])}


_SHOWN = [name for name in PLUGINS if name not in ("PodTopologySpread", "DynamicResources")]
"""Plugins whose arguments are shown; default constraints are shown separately, and timeouts affect no placement."""


def _args(profile: Profile) -> Shown:
    """Return the arguments of enabled plugins, each with the fields that the file sets."""
    on = {name for point in profile.plugins for name in profile.enabled(point)}
    return {
        plugin: {
            "values": plain(getattr(profile.args, PLUGINS[plugin].name)),
            "from": {
                name.partition(".")[2]: path for name, path in profile.origins.items() if name.startswith(f"{plugin}.")
            },
        }
        for plugin in _SHOWN
        if plugin in on
    }


# The settings that differ between two configurations.

_POINTS = ("filter", "post_filter", "score")
"""Extension points where an enabled plugin affects decisions; other points prepare these or act on the cluster."""


class SettingSides(Base, frozen=True):
    """A setting of kube-scheduler's configuration that differs."""

    profile: Annotated[str, Meta(description="Profile of the setting.")]
    setting: Annotated[str, Meta(description="Name of the setting.")]
    values: Annotated[tuple[str, str], Meta(description="Value before and after; empty if it is not set.")]


def differences(before: Configuration, after: Configuration) -> list[SettingSides]:
    """Return the effective settings that differ, by profile. For a profile that only one side has, return all."""
    ours, theirs = _settings(before), _settings(after)
    return [
        SettingSides(profile, setting, (was, now))
        for profile in {**ours, **theirs}
        for setting in {**ours.get(profile, {}), **theirs.get(profile, {})}
        if (was := ours.get(profile, {}).get(setting, "")) != (now := theirs.get(profile, {}).get(setting, ""))
    ]


def _settings(configuration: Configuration) -> dict[str, dict[str, str]]:
    return {each["schedulerName"]: dict(_of_profile(each)) for each in describe(configuration)["profiles"]}


def _of_profile(profile: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for point in _POINTS:
        name = EXTENSION_POINTS[point]
        for plugin in profile["plugins"].get(name, ()):
            yield f"{name} {plugin['name']}", f"weight {plugin['weight']}" if "weight" in plugin else "on"
    yield "default constraints", _constraints(profile["defaultConstraints"])
    for plugin, args in profile["args"].items():
        yield from _flat(plugin, args["values"])
    percentage = profile["percentageOfNodesToScore"]["value"]
    yield "percentageOfNodesToScore", "" if percentage is None else str(percentage)


def _constraints(shown: Mapping[str, Any]) -> str:
    listed = "; ".join(
        f"{each['topologyKey']} maxSkew {each['maxSkew']} {each['whenUnsatisfiable']}" for each in shown["constraints"]
    )
    return f"{shown['defaultingType']}: {listed or 'none'}" if shown["inForce"] else "not in force"


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (path, text) for each value in a tree; a list is one value."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}", inner)
    elif isinstance(value, list):
        if value:
            yield path, ", ".join(map(_item, value))
    elif value not in (None, ""):
        yield path, str(value)


def _item(value: Any) -> str:
    """Return a list item as text: ``name cpu weight 1``."""
    return " ".join(f"{key} {each}" for key, each in value.items()) if isinstance(value, Mapping) else str(value)
