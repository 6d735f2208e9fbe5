"""A KubeSchedulerConfiguration as decoded data, from which ``load.py`` makes profiles.

Source: pkg/scheduler/apis/config/types.go (the internal types).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from topospread.config.api_versions import KIND, ApiVersion, api_version
from topospread.config.kinds import configuration, plugin_args
from topospread.config.plugin_sets import PluginEntry, PluginSet
from topospread.config.schema import Problems, describe
from topospread.config.versions import KubeVersion
from topospread.errors import ConfigError, DecodeError, Place

_MOST_PROFILES = 1000
"""Maximum number of profiles, to limit the time to load them. kube-scheduler has no limit."""

Args = dict[str, Any]


class PluginConfig(msgspec.Struct, frozen=True):
    """Arguments for a plugin.

    Attributes:
        args: plain data with Kubernetes' field names; ``None`` if unset.
        in_tree: whether the version has a type for the plugin's arguments, by which ``args`` was decoded.
        origin: path of the ``args`` field, or "" for arguments that were defaulted as a whole.
    """

    name: str
    args: Args | None
    in_tree: bool
    origin: str = ""


class ProfileDocument(msgspec.Struct, frozen=True):
    """One entry of ``profiles``; ``plugins`` is ``None`` if the file has none."""

    scheduler_name: str | None
    plugins: Mapping[str, PluginSet] | None
    plugin_config: tuple[PluginConfig, ...]
    percentage_of_nodes_to_score: int | None
    origin: str = ""


class Document(msgspec.Struct, frozen=True):
    """A configuration. ``fields`` holds everything but the profiles, as plain data."""

    api: ApiVersion
    version: KubeVersion
    fields: Mapping[str, Any]
    profiles: tuple[ProfileDocument, ...]
    given: frozenset[str] = msgspec.field(default_factory=frozenset)


def decode(data: Any, kube_version: KubeVersion, place: Place | None = None) -> Document:
    """Decode plain data to a document; every field is checked against the version.

    Raises:
        ConfigError: not a KubeSchedulerConfiguration, or of an unknown version.
        DecodeError: unknown fields or values of another type; the message names each with its path.
    """
    place = place or Place()
    if not isinstance(data, dict):
        raise ConfigError(f"a {KIND} is an object, not {describe(data)}", place)
    if data.get("kind") != KIND:
        raise ConfigError(f'kind is "{data.get("kind", "")}", not {KIND}', place.at("kind"))
    api = api_version(data.get("apiVersion"), place)
    version = api.source_version(kube_version)
    problems: Problems = []
    fields = configuration(api, version).decode(data, "", problems)
    given = fields.pop("profiles", ())
    if len(given) > _MOST_PROFILES:
        raise ConfigError(f"{len(given)} profiles; at most {_MOST_PROFILES} are allowed", place.at("profiles"))
    profiles = tuple(
        _profile(entry, f"profiles[{index}]", (api, version), problems) for index, entry in enumerate(given)
    )
    if problems:
        raise DecodeError.joined(problems, place)
    return Document(api, version, fields, profiles, frozenset(fields))


def _profile(
    entry: Mapping[str, Any], path: str, versions: tuple[ApiVersion, KubeVersion], problems: Problems
) -> ProfileDocument:
    plugins = entry.get("plugins")
    return ProfileDocument(
        entry.get("schedulerName"),
        None if plugins is None else _plugin_sets(plugins, f"{path}.plugins"),
        tuple(
            _plugin_config(one, f"{path}.pluginConfig[{index}].args", versions, problems)
            for index, one in enumerate(entry.get("pluginConfig", ()))
        ),
        entry.get("percentageOfNodesToScore"),
        path,
    )


def _plugin_sets(plugins: Mapping[str, Any], path: str) -> dict[str, PluginSet]:
    return {
        point: PluginSet(
            tuple(
                PluginEntry(one.get("name", ""), one.get("weight", 0), f"{path}.{point}.enabled[{index}]")
                for index, one in enumerate(listed.get("enabled", ()))
            ),
            tuple(one.get("name", "") for one in listed.get("disabled", ())),
        )
        for point, listed in plugins.items()
    }


def _plugin_config(
    entry: Mapping[str, Any], path: str, versions: tuple[ApiVersion, KubeVersion], problems: Problems
) -> PluginConfig:
    api, version = versions
    name, args = entry.get("name", ""), entry.get("args")
    kind = plugin_args(api, version).get(name)
    if kind is None:
        return PluginConfig(name, args, False, path)
    if args is None:
        return PluginConfig(name, {}, True, path)
    decoded = kind.decode(args, path, problems)
    for key, expected in (("kind", f"{name}Args"), ("apiVersion", api.group_version)):
        given = decoded.pop(key, "")
        if given and given != expected:
            problems.append((f"{path}.{key}", f'must be "{expected}" (or left out), not "{given}"'))
    return PluginConfig(name, decoded, True, path)
