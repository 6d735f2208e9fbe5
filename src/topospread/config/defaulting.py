"""What a KubeSchedulerConfiguration leaves open, filled in as its version fills it in; nothing is judged here.

What a field has that is empty is in ``defaults.json``, which `conformance/oracle/cmd/configdefaults` prints from
pkg/scheduler/apis/config/VERSION/defaults.go of every minor version; what takes more than that to tell stands here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.shipped_table import shipped_table
from topospread.config.api_versions import API_VERSIONS, KIND, ApiVersion
from topospread.config.default_plugins import default_plugins
from topospread.config.document import Args, Document, PluginConfig, ProfileDocument
from topospread.config.durations import parse_duration
from topospread.config.gates import Gates
from topospread.config.kinds import plugin_args
from topospread.config.plugin_sets import PluginSet, merge, names
from topospread.config.resource_weights import weighted
from topospread.config.until import removed_plugins
from topospread.config.until.forgotten_points import forgotten_points, without_forgotten
from topospread.config.versions import KubeVersion

DEFAULT_SCHEDULER_NAME = "default-scheduler"

_WITHOUT_DEFAULT_ARGS = "podGroupPostFilter"
"""The extension point whose plugins get no default arguments (``pluginsNames``)."""


class Defaults(msgspec.Struct, frozen=True):
    """What decides about defaults: the version of the configuration, of Kubernetes, and the gates."""

    api: ApiVersion
    version: KubeVersion
    gates: Gates


def set_defaults(document: Document, gates: Gates) -> Document:
    """The document with every default of its version."""
    defaults = Defaults(document.api, document.version, gates)
    profiles = document.profiles or (ProfileDocument(None, None, (), None),)
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (with_fields(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    return with_fields(
        document,
        fields=_process_fields(document.fields, defaults),
        profiles=tuple(_profile(profile, defaults) for profile in profiles),
    )


def _profile(profile: ProfileDocument, defaults: Defaults) -> ProfileDocument:
    plugins = _plugins(profile.plugins, defaults)
    kinds = plugin_args(defaults.api, defaults.version)
    config = [
        with_fields(one, args=default_args(one.name, one.args or {}, defaults)) if one.in_tree else one
        for one in profile.plugin_config
    ]
    given = {one.name for one in config}
    config += [
        PluginConfig(name, default_args(name, {}, defaults), True)
        for name in names(found for point, found in plugins.items() if point != _WITHOUT_DEFAULT_ARGS)
        if name in kinds and name not in given
    ]
    return with_fields(profile, plugins=plugins, plugin_config=tuple(config))


def _plugins(custom: Mapping[str, PluginSet] | None, defaults: Defaults) -> dict[str, PluginSet]:
    standard = default_plugins(defaults.api, defaults.version, defaults.gates)
    if custom is None:
        return standard
    forgotten = forgotten_points(defaults.api)
    merged = {point: plugins for point, plugins in custom.items() if point not in forgotten}
    sets = merge(standard, merged, in_place=defaults.api.rank >= API_VERSIONS["v1beta2"].rank)
    return dict(without_forgotten(sets, defaults.api, defaults.version))


@cache
def _printed() -> dict[str, dict[int, dict[str, dict[str, Any]]]]:
    """Version of the configuration → minor version of Kubernetes from which on → struct → field → its default."""
    return shipped_table(__package__, "defaults.json", dict[str, dict[int, dict[str, dict[str, Any]]]])


def _defaults_of(struct: str, defaults: Defaults) -> Mapping[str, Any]:
    """What empty fields of a struct have; in a version before any that has defaults of it the plugin took the same."""
    printed = _printed()
    served = printed[defaults.api.name]
    own = served[max(minor for minor in served if minor <= defaults.version.minor)]
    every = (structs for minors in printed.values() for structs in minors.values())
    return next((structs[struct] for structs in (own, *every) if struct in structs), {})


def _process_fields(fields: Mapping[str, Any], defaults: Defaults) -> dict[str, Any]:
    """Fields of the running process; they are defaulted because validation looks at them."""
    full = {**_defaults_of(KIND, defaults), **fields}
    for name, inner in _defaults_of(KIND, defaults).items():
        if isinstance(inner, dict):
            full[name] = _filled(fields.get(name, {}), inner)
    return full


def _filled(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A zero counts as not given, except for booleans, which are pointers in Go."""
    return {**given, **defaults, **{key: value for key, value in given.items() if not _is_zero(key, value)}}


_DURATIONS = ("leaseDuration", "renewDeadline", "retryPeriod")


def _is_zero(key: str, value: Any) -> bool:
    if key in _DURATIONS:
        return parse_duration(value) == 0
    return not isinstance(value, bool) and value in ("", 0)


def default_args(plugin: str, args: Args, defaults: Defaults) -> Args:
    """A plugin's arguments with the defaults of the version."""
    fill, removed = _FILL.get(plugin), removed_plugins.DEFAULTS.get(plugin)
    if removed is not None:
        return removed(args)
    return fill(dict(args), defaults) if fill else {**_defaults_of(f"{plugin}Args", defaults), **args}


def _volume_binding(args: Args, defaults: Defaults) -> Args:
    full = {**_defaults_of("VolumeBindingArgs", defaults), **args}
    if full.get("shape"):
        return full
    if defaults.gates.enabled("StorageCapacityScoring"):
        full["shape"] = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    elif defaults.version.minor >= 22 and defaults.gates.enabled("VolumeCapacityPriority"):
        full["shape"] = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    return full


def _balanced_allocation(args: Args, defaults: Defaults) -> Args:
    return {**args, "resources": weighted(args.get("resources"))}


def _fit(args: Args, defaults: Defaults) -> Args:
    if defaults.version.minor < 22:
        return args
    strategy = args.get("scoringStrategy")
    strategy = {"type": "LeastAllocated"} if strategy is None else strategy
    return {**args, "scoringStrategy": {**strategy, "resources": weighted(strategy.get("resources"))}}


def _pod_topology_spread(args: Args, defaults: Defaults) -> Args:
    if args.get("defaultingType"):
        return args
    return {**args, "defaultingType": _defaulting_type(args, defaults)}


def _defaulting_type(args: Args, defaults: Defaults) -> str:
    """Until 1.23 the built-in constraints had a gate; v1beta1 took a list for what it is, v1beta2 wants it named.

    1.19 had no defaultingType: behind the gate, constraints left out (not an empty list) were the built-in ones.
    """
    if defaults.version.minor < 19 or not defaults.gates.enabled("DefaultPodTopologySpread"):
        return str(_defaults_of("PodTopologySpreadArgs", defaults)["defaultingType"])
    if defaults.version.minor == 19:
        return "System" if args.get("defaultConstraints") is None else "List"
    if defaults.api.name == "v1beta1" and args.get("defaultConstraints"):
        return "List"
    return "System"


def _dynamic_resources(args: Args, defaults: Defaults) -> Args:
    full = dict(args)
    if defaults.gates.enabled("DRASchedulerFilterTimeout"):
        full.setdefault("filterTimeout", "10s")
    conditions = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
    if defaults.version.minor >= 35 and all(defaults.gates.enabled(name) for name in conditions):
        full.setdefault("bindingTimeout", "10m0s")
    return full


_FILL: Mapping[str, Callable[[Args, Defaults], Args]] = {
    "VolumeBinding": _volume_binding,
    "NodeResourcesBalancedAllocation": _balanced_allocation,
    "NodeResourcesFit": _fit,
    "PodTopologySpread": _pod_topology_spread,
    "DynamicResources": _dynamic_resources,
}
