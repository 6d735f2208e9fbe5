"""Defaulting of a KubeSchedulerConfiguration, by the rules of its version.

`args` has the defaults, with the gates and fields that they depend on. Source:
pkg/scheduler/apis/config/VERSION/defaults.go.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace as with_fields

from topospread.api.shipped_table import in_force
from topospread.config.api_versions import API_VERSIONS, KIND, ApiVersion, latest_api_version
from topospread.config.args import IF, printed_defaults
from topospread.config.document import Args, Document, PluginConfig, ProfileDocument
from topospread.config.durations import parse_duration
from topospread.config.gates import Gates
from topospread.config.kinds import plugin_args
from topospread.config.old_versions.forgotten_points import forgotten_points, without_forgotten
from topospread.config.old_versions.removed_plugins import as_plugins_took
from topospread.config.plugin_sets import PluginSet, default_plugins, merge, names
from topospread.config.versions import KubeVersion

DEFAULT_SCHEDULER_NAME = "default-scheduler"

_WITHOUT_DEFAULT_ARGS = "podGroupPostFilter"
"""The extension point whose plugins get no default arguments (``pluginsNames``)."""


class Defaults(msgspec.Struct, frozen=True):
    """The input of defaulting: the version of the configuration, of Kubernetes, and the gates."""

    api: ApiVersion
    version: KubeVersion
    gates: Gates


def set_defaults(document: Document, gates: Gates) -> Document:
    """Return the document with every default of its version."""
    defaults = Defaults(document.api, document.version, gates)
    profiles = document.profiles or (ProfileDocument(None, None, (), None),)
    if len(profiles) == 1 and profiles[0].scheduler_name is None:
        profiles = (with_fields(profiles[0], scheduler_name=DEFAULT_SCHEDULER_NAME),)
    return with_fields(
        document,
        fields=process_fields(document.fields, defaults),
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
    forgotten = forgotten_points(defaults.api, defaults.version)
    merged = {point: plugins for point, plugins in custom.items() if point not in forgotten}
    sets = merge(standard, merged, in_place=defaults.api.rank >= API_VERSIONS["v1beta2"].rank)
    return dict(without_forgotten(sets, defaults.api, defaults.version))


def _defaults_of(struct: str, defaults: Defaults) -> dict[str, Any]:
    """Return the defaults for a struct's empty fields.

    A Kubernetes version older than all recorded defaults gets the oldest, which the plugin then applied itself.
    """
    printed = printed_defaults()
    own = printed[defaults.api.name].get(struct, {})
    if any(minor <= defaults.version.minor for minor in own):
        return in_force(own, defaults.version.minor) | _of_newer_gates(struct, defaults)
    first = next((fields for structs in printed.values() for fields in structs.get(struct, {}).values()), {})
    return {field: value for field, value in first.items() if IF not in field}


def _of_newer_gates(struct: str, defaults: Defaults) -> dict[str, Any]:
    """Return the defaults with conditions of a Kubernetes version that no longer serves the configuration version."""
    minor = defaults.gates.kube_version.minor
    newest = printed_defaults()[latest_api_version(defaults.gates.kube_version).name].get(struct, {})
    if minor <= defaults.version.minor or not newest:
        return {}
    return {field: value for field, value in in_force(newest, minor).items() if IF in field}


def process_fields(fields: Mapping[str, Any], defaults: Defaults) -> dict[str, Any]:
    """Return the fields outside of ``profiles`` with their defaults, for validation."""
    full = dict(fields)
    for key, value in sorted(_defaults_of(KIND, defaults).items(), key=lambda each: IF in each[0]):
        name, _, terms = key.partition(IF)
        if isinstance(value, dict):
            full[name] = _filled(fields.get(name, {}), value)
        elif _hold(terms, full, defaults.gates):
            full.setdefault(name, value)
    return full


def _filled(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with defaults. A zero or "" counts as unset; false does not, because Go has a pointer."""
    return {**given, **defaults, **{key: value for key, value in given.items() if not _is_zero(key, value)}}


_DURATIONS = ("leaseDuration", "renewDeadline", "retryPeriod")


def _is_zero(key: str, value: Any) -> bool:
    if key in _DURATIONS:
        return parse_duration(value) == 0
    return not isinstance(value, bool) and value in ("", 0)


def default_args(plugin: str, args: Args, defaults: Defaults) -> Args:
    """Return a plugin's arguments with the defaults of the version."""
    full = dict(args)
    known = plugin_args(defaults.api, defaults.version)[plugin].fields
    for key, value in _defaults_of(f"{plugin}Args", defaults).items():
        path, _, terms = key.partition(IF)
        if re.split(r"\W", path)[0] in known and _hold(terms, full, defaults.gates):
            full = _with_default(full, path, value)
    return as_plugins_took(plugin, args, full, "defaultingType" in known)


def _hold(terms: str, args: Args, gates: Gates) -> bool:
    """Return whether all conditions hold: ``SomeGate`` is on, ``someField`` is set; "!" negates a condition."""
    asked = {term.removeprefix("!"): not term.startswith("!") for term in terms.split()}
    return all(
        (gates.enabled(name) if name[0].isupper() else bool(args.get(name))) == wanted for name, wanted in asked.items()
    )


def _with_default(given: Args, path: str, value: Any) -> Args:
    field, _, inner = path.partition(".")
    if field.endswith("[]"):
        items = given.get(field[:-2], ())
        return {**given, field[:-2]: [{**one, inner: one.get(inner) or value} for one in items]}
    if inner:
        return {**given, field: _with_default(given[field], inner, value)}
    return given if given.get(field) not in (None, "", []) else {**given, field: value}
